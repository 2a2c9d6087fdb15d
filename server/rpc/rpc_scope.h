// SPDX-License-Identifier: Apache-2.0
// RpcScope: what every handler owes, on every way out: metrics, one log line, the status.

#ifndef HALFTONE_SERVER_RPC_RPC_SCOPE_H_
#define HALFTONE_SERVER_RPC_RPC_SCOPE_H_

#include <google/protobuf/message_lite.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/rpc/metrics.h"

namespace halftone::server {

// Lives as long as the handler runs. Used by one thread.
class RpcScope {
 public:
  // `method` must live for ever (a literal).
  RpcScope(std::string_view method, const grpc::ServerContext& context, Metrics& metrics);
  RpcScope(const RpcScope&) = delete;
  RpcScope& operator=(const RpcScope&) = delete;
  ~RpcScope();  // without Finish: counted as UNKNOWN

  void Received(const google::protobuf::MessageLite& message) {
    bytes_in_ += static_cast<int64_t>(message.ByteSizeLong());
  }
  void Sent(const google::protobuf::MessageLite& message) {
    bytes_out_ += static_cast<int64_t>(message.ByteSizeLong());
  }

  // The status to return from the handler.
  grpc::Status Finish(const absl::Status& status);
  // The same, and counts `response` as sent when the status is OK.
  grpc::Status Finish(const absl::Status& status, const google::protobuf::MessageLite& response);

  // Why a stream broke: CANCELLED or DEADLINE_EXCEEDED.
  absl::Status ClientGone() const;

 private:
  const std::string_view method_;
  const grpc::ServerContext& context_;
  Metrics& metrics_;
  const absl::Time start_;
  int64_t bytes_in_ = 0;
  int64_t bytes_out_ = 0;
  bool finished_ = false;
};

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_RPC_RPC_SCOPE_H_

// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/rpc_scope.h"

#include <chrono>

#include "absl/time/clock.h"
#include "base/logging.h"
#include "server/rpc/status.h"

namespace halftone::server {

RpcScope::RpcScope(std::string_view method, const grpc::ServerContext& context, Metrics& metrics)
    : method_(method), context_(context), metrics_(metrics), start_(absl::Now()) {}

RpcScope::~RpcScope() {
  if (!finished_) Finish(absl::UnknownError("the handler gave no status"));
}

grpc::Status RpcScope::Finish(const absl::Status& status) {
  finished_ = true;
  grpc::Status result = ToGrpc(status);
  const absl::Duration took = absl::Now() - start_;
  metrics_.OnCall({.method = method_,
                   .code = CodeName(result.error_code()),
                   .seconds = absl::ToDoubleSeconds(took),
                   .bytes_in = bytes_in_,
                   .bytes_out = bytes_out_});
  LogLine line = LogInfo("rpc");
  line.With("method", method_)
      .With("code", CodeName(result.error_code()))
      .With("duration_ms", absl::ToDoubleMilliseconds(took));
  if (!status.ok()) line.With("error", status.message());
  return result;
}

grpc::Status RpcScope::Finish(const absl::Status& status, const google::protobuf::MessageLite& response) {
  if (status.ok()) Sent(response);
  return Finish(status);
}

absl::Status RpcScope::ClientGone() const {
  if (context_.deadline() <= std::chrono::system_clock::now())
    return absl::DeadlineExceededError("the call's deadline has passed");
  return absl::CancelledError("the client has gone");
}

}  // namespace halftone::server

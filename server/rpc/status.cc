// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/status.h"

#include "absl/strings/cord.h"
#include "base/strings.h"
#include "google/rpc/status.pb.h"
#include "server/core/errors.h"

namespace halftone::server {
namespace {

constexpr size_t kMaxMessageBytes = 700;  // status and details share the 8 KiB of metadata that a client takes

absl::Status ForClients(const absl::Status& status) {
  if (!ReasonOf(status).empty()) return status;
  switch (status.code()) {
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kDeadlineExceeded:
      return WithReason(status);
    case absl::StatusCode::kResourceExhausted:
      return MakeError(status.code(), "DISK_FULL", "the server's disk is full");
    case absl::StatusCode::kDataLoss:
      return MakeError(status.code(), "STORE_DAMAGED", "the server's store is damaged; see its log");
    default:
      return MakeError(absl::StatusCode::kInternal, "INTERNAL", "an internal error; see the server's log");
  }
}

std::string Bounded(std::string_view message) {
  if (message.size() <= kMaxMessageBytes) return std::string(message);
  size_t size = kMaxMessageBytes;
  while (size > 0 && (static_cast<unsigned char>(message[size]) & 0xc0) == 0x80) --size;  // not within a character
  return Concat(message.substr(0, size), "...");
}

}  // namespace

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const absl::Status shown = ForClients(status);
  google::rpc::Status details;
  details.set_code(static_cast<int>(shown.code()));
  details.set_message(Bounded(StdView(shown.message())));
  shown.ForEachPayload([&details](absl::string_view url, const absl::Cord& payload) {
    google::protobuf::Any& any = *details.add_details();
    any.set_type_url(std::string(url));
    any.set_value(std::string(payload));
  });
  return grpc::Status(static_cast<grpc::StatusCode>(shown.code()), details.message(), details.SerializeAsString());
}

std::string CodeName(grpc::StatusCode code) {
  return absl::StatusCodeToString(static_cast<absl::StatusCode>(static_cast<int>(code)));
}

}  // namespace halftone::server

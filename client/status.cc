// SPDX-License-Identifier: Apache-2.0
#include "client/status.h"

#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace halftone::client {
namespace {

constexpr char kReasonPayload[] = "halftone.v1/reason";
constexpr char kJobPayload[] = "halftone.v1/job";

absl::StatusCode ToAbslCode(int code) {
  if (code < 0 || code > static_cast<int>(absl::StatusCode::kUnauthenticated)) return absl::StatusCode::kUnknown;
  return static_cast<absl::StatusCode>(code);
}

// What the details add to the message, and the reason.
struct Details {
  std::vector<std::string> lines;
  std::string reason;
};

Details ReadDetails(const std::string& bytes) {
  Details details;
  google::rpc::Status status;
  if (bytes.empty() || !status.ParseFromString(bytes)) return details;
  for (const google::protobuf::Any& any : status.details()) {
    google::rpc::ErrorInfo info;
    google::rpc::BadRequest bad;
    google::rpc::PreconditionFailure missing;
    if (any.UnpackTo(&info)) {
      details.reason = info.reason();
    } else if (any.UnpackTo(&bad)) {
      for (const auto& v : bad.field_violations()) {
        details.lines.push_back(absl::StrCat(v.field(), ": ", v.description()));
      }
    } else if (any.UnpackTo(&missing)) {
      for (const auto& v : missing.violations()) {
        details.lines.push_back(absl::StrCat(v.type(), " ", v.subject(), ": ", v.description()));
      }
    }
  }
  return details;
}

}  // namespace

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const Details details = ReadDetails(status.error_details());
  std::string message = status.error_message();
  std::vector<std::string> news;  // a server may have said it in the message already
  for (const std::string& line : details.lines) {
    if (message.find(line) == std::string::npos) news.push_back(line);
  }
  if (!news.empty()) absl::StrAppend(&message, message.empty() ? "" : "; ", absl::StrJoin(news, "; "));
  return WithReason(absl::Status(ToAbslCode(status.error_code()), message), details.reason);
}

absl::Status FromJobError(const v1::JobError& error) {
  absl::StatusCode code = ToAbslCode(error.code());
  if (code == absl::StatusCode::kOk) code = absl::StatusCode::kUnknown;
  absl::Status status(code, error.message());
  status.SetPayload(kJobPayload, absl::Cord());
  return WithReason(std::move(status), error.reason());
}

bool IsJobError(const absl::Status& status) { return status.GetPayload(kJobPayload).has_value(); }

std::string Reason(const absl::Status& status) {
  const auto payload = status.GetPayload(kReasonPayload);
  return payload.has_value() ? std::string(*payload) : "";
}

absl::Status WithReason(absl::Status status, absl::string_view reason) {
  if (!reason.empty()) status.SetPayload(kReasonPayload, absl::Cord(reason));
  return status;
}

bool IsTransient(const absl::Status& status) { return absl::IsUnavailable(status) || absl::IsCancelled(status); }

}  // namespace halftone::client

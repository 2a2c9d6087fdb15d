// SPDX-License-Identifier: Apache-2.0
#include "server/core/errors.h"

#include <optional>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/rpc/error_details.pb.h"

namespace halftone::server {
namespace {

// Details travel as metadata, of which a client takes 8 KiB in all, base64 included.
constexpr size_t kMaxDetailBytes = 3000;
constexpr size_t kMaxTextBytes = 300;
constexpr size_t kNamedInMessage = 5;
constexpr int kRetrySeconds = 2;

template <typename Detail>
void AddDetail(absl::Status& status, const Detail& detail) {
  status.SetPayload(Concat(kTypeUrlPrefix, Detail::descriptor()->full_name()), absl::Cord(detail.SerializeAsString()));
}

std::string InfoUrl() { return Concat(kTypeUrlPrefix, google::rpc::ErrorInfo::descriptor()->full_name()); }

}  // namespace

absl::Status MakeError(absl::StatusCode code, std::string_view reason, TextArg message,
                       const std::map<std::string, std::string>& metadata) {
  absl::Status status(code, message.absl());
  google::rpc::ErrorInfo info;
  info.set_reason(std::string(reason));
  info.set_domain(std::string(kErrorDomain));
  info.mutable_metadata()->insert(metadata.begin(), metadata.end());
  AddDetail(status, info);
  return status;
}

absl::Status InvalidFields(const std::vector<FieldViolation>& violations) {
  google::rpc::BadRequest bad;
  std::vector<std::string> named;
  for (const FieldViolation& violation : violations) {
    google::rpc::BadRequest::FieldViolation added;
    added.set_field(violation.field.substr(0, kMaxTextBytes));
    added.set_description(violation.description.substr(0, kMaxTextBytes));
    if (bad.ByteSizeLong() + added.ByteSizeLong() > kMaxDetailBytes) break;
    if (named.size() < kNamedInMessage) named.push_back(absl::StrCat(added.field(), ": ", added.description()));
    *bad.add_field_violations() = std::move(added);
  }
  std::string message = absl::StrJoin(named, "; ");
  if (violations.size() > named.size()) absl::StrAppend(&message, "; and ", violations.size() - named.size(), " more");
  absl::Status status = MakeError(
      absl::StatusCode::kInvalidArgument, "INVALID_FIELD", message,
      {{"field", violations.front().field.substr(0, kMaxTextBytes)}, {"count", absl::StrCat(violations.size())}});
  AddDetail(status, bad);
  return status;
}

absl::Status InvalidField(TextArg field, TextArg description) {
  return InvalidFields({{std::string(field.std()), std::string(description.std())}});
}

absl::Status BlobsMissing(const std::vector<v1::Digest>& digests) {
  google::rpc::PreconditionFailure failure;
  for (const v1::Digest& digest : digests) {
    if (failure.ByteSizeLong() + 2 * kMaxTextBytes > kMaxDetailBytes) break;
    google::rpc::PreconditionFailure::Violation& violation = *failure.add_violations();
    violation.set_type("MISSING");
    violation.set_subject(BlobName(digest));
    violation.set_description("this blob is not stored: upload it with Blobs.Write");
  }
  absl::Status status = MakeError(absl::StatusCode::kFailedPrecondition, "BLOB_MISSING",
                                  absl::StrCat(digests.size(), " blob(s) are not stored, the first is ",
                                               BlobName(digests.front()), ": upload them and try again"),
                                  {{"blob", BlobName(digests.front())}, {"count", absl::StrCat(digests.size())}});
  AddDetail(status, failure);
  return status;
}

absl::Status ShuttingDown() {
  absl::Status status =
      MakeError(absl::StatusCode::kUnavailable, "SHUTTING_DOWN", "the server is shutting down: try again");
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(kRetrySeconds);
  AddDetail(status, retry);
  return status;
}

std::string ReasonOf(const absl::Status& status) {
  const auto payload = status.GetPayload(InfoUrl());
  google::rpc::ErrorInfo info;
  if (!payload.has_value() || !info.ParseFromString(std::string(*payload))) return "";
  return info.reason();
}

absl::Status WithReason(absl::Status status) {
  if (status.ok() || status.GetPayload(InfoUrl()).has_value()) return status;
  const absl::Status general = MakeError(status.code(), absl::StatusCodeToString(status.code()), status.message());
  status.SetPayload(InfoUrl(), *general.GetPayload(InfoUrl()));
  return status;
}

std::string BlobName(const v1::Digest& digest) {
  return absl::StrCat("blobs/", digest.sha256(), "/", digest.size_bytes());
}

}  // namespace halftone::server

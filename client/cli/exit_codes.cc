// SPDX-License-Identifier: Apache-2.0
#include "client/cli/exit_codes.h"

#include "client/status.h"

namespace halftone::cli {
namespace {

using client::IsJobError;
using client::Reason;
using client::WithReason;

struct ReasonRow {
  const char* reason;
  ExitCode code;
};

constexpr ReasonRow kByReason[] = {
    // Of this program.
    {kReasonUsage, kUsage},
    {kReasonPolicy, kUsage},
    {kReasonModelFile, kModel},
    {kReasonOutputFile, kUsage},
    {kReasonGateFailed, kGate},
    {kReasonBenchmarkInvalid, kNoisy},
    {kReasonServerStart, kUnreachable},
    {kReasonInterrupted, kInterrupted},
    {kReasonJobCancelled, kInterrupted},
    // Of a server's jobs and calls, where the code would map to another exit code.
    {"OPTIONS_INVALID", kUsage},
    {"TIMEOUT", kTimeout},
    {"CHILD_CRASHED", kModel},  // the model did it: others run on
    {"POISON", kModel},         // the same, many times
    {"INTERNAL", kBug},
};

struct CodeRow {
  absl::StatusCode code;
  ExitCode of_call;  // the server refused
  ExitCode of_job;   // the job failed
};

constexpr CodeRow kByCode[] = {
    {absl::StatusCode::kOk, kDone, kDone},
    {absl::StatusCode::kCancelled, kInterrupted, kInterrupted},
    {absl::StatusCode::kUnknown, kBug, kBug},
    {absl::StatusCode::kInvalidArgument, kUsage, kModel},
    {absl::StatusCode::kDeadlineExceeded, kTimeout, kTimeout},
    {absl::StatusCode::kNotFound, kUsage, kModel},
    {absl::StatusCode::kAlreadyExists, kBug, kModel},
    {absl::StatusCode::kPermissionDenied, kUsage, kModel},
    {absl::StatusCode::kResourceExhausted, kModel, kModel},  // the model or its samples are too large
    {absl::StatusCode::kFailedPrecondition, kBug, kModel},
    {absl::StatusCode::kAborted, kBug, kModel},
    {absl::StatusCode::kOutOfRange, kBug, kModel},
    {absl::StatusCode::kUnimplemented, kBug, kModel},  // call: an older server. Job: an op that is not supported
    {absl::StatusCode::kInternal, kBug, kBug},
    {absl::StatusCode::kUnavailable, kUnreachable, kUnreachable},
    {absl::StatusCode::kDataLoss, kBug, kBug},
    {absl::StatusCode::kUnauthenticated, kUsage, kModel},
};

}  // namespace

ExitCode ExitCodeFor(const absl::Status& status) {
  const std::string reason = Reason(status);
  for (const ReasonRow& row : kByReason) {
    if (!status.ok() && reason == row.reason) return row.code;
  }
  for (const CodeRow& row : kByCode) {
    if (row.code == status.code()) return IsJobError(status) ? row.of_job : row.of_call;
  }
  return kBug;
}

absl::Status UsageError(const std::string& message) {
  return WithReason(absl::InvalidArgumentError(message), kReasonUsage);
}

absl::Status ModelFileError(const std::string& message) {
  return WithReason(absl::InvalidArgumentError(message), kReasonModelFile);
}

}  // namespace halftone::cli

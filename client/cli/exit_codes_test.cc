// SPDX-License-Identifier: Apache-2.0
// The whole table of errors and exit codes.

#include "client/cli/exit_codes.h"

#include "client/status.h"
#include "gtest/gtest.h"

namespace halftone::cli {
namespace {

absl::Status Call(absl::StatusCode code, const char* reason = "") {
  return client::WithReason(absl::Status(code, "x"), reason);
}

absl::Status Job(absl::StatusCode code, const char* reason = "") {
  v1::JobError error;
  error.set_code(static_cast<int>(code));
  error.set_reason(reason);
  return client::FromJobError(error);
}

using Code = absl::StatusCode;

TEST(ExitCodeFor, Done) { EXPECT_EQ(ExitCodeFor(absl::OkStatus()), 0); }

TEST(ExitCodeFor, OurOwnErrors) {
  EXPECT_EQ(ExitCodeFor(UsageError("x")), 2);
  EXPECT_EQ(ExitCodeFor(ModelFileError("x")), 3);
  EXPECT_EQ(ExitCodeFor(Call(Code::kInvalidArgument, kReasonPolicy)), 2);
  EXPECT_EQ(ExitCodeFor(Call(Code::kInternal, kReasonOutputFile)), 2);
  EXPECT_EQ(ExitCodeFor(Call(Code::kFailedPrecondition, kReasonGateFailed)), 4);
  EXPECT_EQ(ExitCodeFor(Call(Code::kFailedPrecondition, kReasonBenchmarkInvalid)), 9);
  EXPECT_EQ(ExitCodeFor(Call(Code::kUnavailable, kReasonServerStart)), 6);
  EXPECT_EQ(ExitCodeFor(Call(Code::kCancelled, kReasonInterrupted)), 130);
  EXPECT_EQ(ExitCodeFor(Call(Code::kCancelled, kReasonJobCancelled)), 130);
}

struct Row {
  Code code;
  int of_call;
  int of_job;
};

TEST(ExitCodeFor, EveryCode) {
  const Row rows[] = {
      {Code::kCancelled, 130, 130},    {Code::kUnknown, 1, 1},           {Code::kInvalidArgument, 2, 3},
      {Code::kDeadlineExceeded, 5, 5}, {Code::kNotFound, 2, 3},          {Code::kAlreadyExists, 1, 3},
      {Code::kPermissionDenied, 2, 3}, {Code::kResourceExhausted, 3, 3}, {Code::kFailedPrecondition, 1, 3},
      {Code::kAborted, 1, 3},          {Code::kOutOfRange, 1, 3},        {Code::kUnimplemented, 1, 3},
      {Code::kInternal, 1, 1},         {Code::kUnavailable, 6, 6},       {Code::kDataLoss, 1, 1},
      {Code::kUnauthenticated, 2, 3},
  };
  ASSERT_EQ(std::size(rows), 16u);  // all but OK
  for (const Row& row : rows) {
    EXPECT_EQ(ExitCodeFor(Call(row.code)), row.of_call) << absl::StatusCodeToString(row.code);
    EXPECT_EQ(ExitCodeFor(Job(row.code)), row.of_job) << absl::StatusCodeToString(row.code);
    EXPECT_EQ(ExitCodeFor(Job(row.code, "SOMETHING_NEW")), row.of_job) << absl::StatusCodeToString(row.code);
  }
}

TEST(ExitCodeFor, ReasonsOfJobs) {
  EXPECT_EQ(ExitCodeFor(Job(Code::kInvalidArgument, "MODEL_INVALID")), 3);
  EXPECT_EQ(ExitCodeFor(Job(Code::kUnimplemented, "OP_UNSUPPORTED")), 3);
  EXPECT_EQ(ExitCodeFor(Job(Code::kInvalidArgument, "OPTIONS_INVALID")), 2);
  EXPECT_EQ(ExitCodeFor(Job(Code::kInvalidArgument, "SAMPLES_INVALID")), 3);
  EXPECT_EQ(ExitCodeFor(Job(Code::kDeadlineExceeded, "TIMEOUT")), 5);
  EXPECT_EQ(ExitCodeFor(Job(Code::kInternal, "CHILD_CRASHED")), 3);
  EXPECT_EQ(ExitCodeFor(Job(Code::kInternal, "POISON")), 3);
  EXPECT_EQ(ExitCodeFor(Job(Code::kUnknown, "INTERNAL")), 1);
}

}  // namespace
}  // namespace halftone::cli

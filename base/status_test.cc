// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <cerrno>
#include <memory>
#include <string>

#include "absl/strings/cord.h"
#include "gtest/gtest.h"

namespace halftone {
namespace {

absl::StatusOr<std::unique_ptr<int>> Make(bool ok) {
  if (!ok) return absl::NotFoundError("no such number");
  return std::make_unique<int>(7);
}

absl::StatusOr<int> Twice(bool ok) {
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<int> number, Make(ok));
  return *number * 2;
}

absl::Status Check(bool ok) {
  HALFTONE_RETURN_IF_ERROR(Make(ok).status());
  return absl::OkStatus();
}

TEST(StatusMacros, PropagateValuesAndErrors) {
  EXPECT_EQ(Twice(true).value(), 14);
  EXPECT_EQ(Twice(false).status(), absl::NotFoundError("no such number"));
  EXPECT_TRUE(Check(true).ok());
  EXPECT_EQ(Check(false), absl::NotFoundError("no such number"));
}

TEST(Annotate, KeepsCodeAndPayloads) {
  absl::Status status = absl::DataLossError("bad bytes");
  status.SetPayload("url", absl::Cord("x"));
  const absl::Status annotated = Annotate(status, "file 'a'");
  EXPECT_EQ(annotated.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(annotated.message(), "file 'a': bad bytes");
  EXPECT_EQ(annotated.GetPayload("url").value(), "x");
  EXPECT_TRUE(Annotate(absl::OkStatus(), "file 'a'").ok());
}

TEST(ErrnoToStatus, MapsErrorsThatAClientCanActOn) {
  EXPECT_EQ(ErrnoToStatus(ENOSPC, "x").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrnoToStatus(ENOENT, "x").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ErrnoToStatus(EPIPE, "x").code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ErrnoToStatus(EIO, "cannot read f").message(), "cannot read f: Input/output error");
}

}  // namespace
}  // namespace halftone

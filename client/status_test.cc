// SPDX-License-Identifier: Apache-2.0
#include "client/status.h"

#include "gmock/gmock.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "gtest/gtest.h"

namespace halftone::client {
namespace {

template <typename... Details>
grpc::Status Make(grpc::StatusCode code, const std::string& message, const Details&... details) {
  google::rpc::Status status;
  status.set_code(code);
  (status.add_details()->PackFrom(details), ...);
  return grpc::Status(code, message, status.SerializeAsString());
}

TEST(FromGrpc, KeepsCodeAndMessage) {
  EXPECT_TRUE(FromGrpc(grpc::Status::OK).ok());
  const absl::Status status = FromGrpc(grpc::Status(grpc::StatusCode::NOT_FOUND, "no job"));
  EXPECT_EQ(status, absl::NotFoundError("no job"));
  EXPECT_EQ(Reason(status), "");
}

TEST(FromGrpc, EveryViolationIsInTheMessage) {
  google::rpc::BadRequest bad;
  bad.add_field_violations()->set_field("spec.optimize.model");
  bad.mutable_field_violations(0)->set_description("is missing");
  bad.add_field_violations()->set_field("spec.timeout");
  bad.mutable_field_violations(1)->set_description("is negative");
  google::rpc::ErrorInfo info;
  info.set_reason("SPEC_INVALID");
  const absl::Status status = FromGrpc(Make(grpc::StatusCode::INVALID_ARGUMENT, "2 fields are wrong", bad, info));
  EXPECT_EQ(status.message(), "2 fields are wrong; spec.optimize.model: is missing; spec.timeout: is negative");
  EXPECT_EQ(Reason(status), "SPEC_INVALID");
}

TEST(FromGrpc, WhatTheMessageSaysAlreadyIsNotRepeated) {
  google::rpc::BadRequest bad;
  bad.add_field_violations()->set_field("name");
  bad.mutable_field_violations(0)->set_description("is wrong");
  EXPECT_EQ(FromGrpc(Make(grpc::StatusCode::INVALID_ARGUMENT, "name: is wrong", bad)).message(), "name: is wrong");
}

TEST(FromGrpc, MissingBlobsAreNamed) {
  google::rpc::PreconditionFailure failure;
  auto* violation = failure.add_violations();
  violation->set_type("MISSING");
  violation->set_subject("blobs/ab/3");
  violation->set_description("upload it");
  EXPECT_EQ(FromGrpc(Make(grpc::StatusCode::FAILED_PRECONDITION, "", failure)).message(),
            "MISSING blobs/ab/3: upload it");
}

TEST(FromGrpc, DetailsThatAreNoMessageAreIgnored) {
  EXPECT_EQ(FromGrpc(grpc::Status(grpc::StatusCode::INTERNAL, "x", "\xff\xff")).message(), "x");
}

TEST(FromJobError, HasCodeReasonAndMessage) {
  v1::JobError error;
  error.set_code(12);
  error.set_reason("OP_UNSUPPORTED");
  error.set_message("ops: Foo");
  const absl::Status status = FromJobError(error);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(Reason(status), "OP_UNSUPPORTED");
  EXPECT_EQ(FromJobError(v1::JobError()).code(), absl::StatusCode::kUnknown);
}

}  // namespace
}  // namespace halftone::client

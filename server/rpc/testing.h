// SPDX-License-Identifier: Apache-2.0
// A whole server with the fake worker on a Unix socket, and what tests ask about statuses.

#ifndef HALFTONE_SERVER_RPC_TESTING_H_
#define HALFTONE_SERVER_RPC_TESTING_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "gtest/gtest.h"
#include "halftone/v1/blobs.grpc.pb.h"
#include "halftone/v1/model_optimizer.grpc.pb.h"
#include "server/core/testing.h"
#include "server/rpc/server.h"

namespace halftone::server {

// The detail of type `Detail` in a status; a default one when there is none.
template <typename Detail>
Detail DetailOf(const grpc::Status& status) {
  google::rpc::Status details;
  Detail detail;
  if (!details.ParseFromString(status.error_details())) return detail;
  for (const auto& any : details.details()) {
    if (any.Is<Detail>()) any.UnpackTo(&detail);
  }
  return detail;
}

// What holds of every error: the code again in google.rpc.Status, one ErrorInfo of our domain.
inline void ExpectError(const grpc::Status& status, grpc::StatusCode code, const std::string& reason) {
  EXPECT_EQ(status.error_code(), code) << status.error_message();
  const auto info = DetailOf<google::rpc::ErrorInfo>(status);
  EXPECT_EQ(info.reason(), reason) << status.error_message();
  EXPECT_EQ(info.domain(), "halftone.v1");
  google::rpc::Status details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  EXPECT_EQ(details.code(), static_cast<int>(code));
  EXPECT_EQ(details.message(), status.error_message());
}

class ServerTest : public testing::Test {
 protected:
  ServerTest() { Start(); }

  void Start(int64_t max_blob_bytes = 1 << 30) {
    server_.reset();
    Server::Options options;
    options.listen = "unix:" + dir_.path() + "/socket";
    options.metrics = metrics_address_;
    options.data = dir_.path() + "/data";
    options.worker = FakeWorkerPath();
    options.max_blob_bytes = max_blob_bytes;
    options.grace = absl::Milliseconds(300);
    server_ = Server::Start(options).value();
    channel_ = grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials());
    jobs_ = v1::ModelOptimizer::NewStub(channel_);
    blobs_ = v1::Blobs::NewStub(channel_);
  }

  // Sends the messages as they are and returns how it ended.
  grpc::Status Write(const std::vector<v1::WriteRequest>& messages, v1::WriteResponse* response = nullptr) {
    grpc::ClientContext context;
    v1::WriteResponse ignored;
    auto writer = blobs_->Write(&context, response == nullptr ? &ignored : response);
    for (const v1::WriteRequest& message : messages) {
      if (!writer->Write(message)) break;
    }
    writer->WritesDone();
    return writer->Finish();
  }

  static v1::WriteRequest Message(const v1::Digest& digest, int64_t offset, const std::string& data, bool finish) {
    v1::WriteRequest message;
    *message.mutable_digest() = digest;
    message.set_write_offset(offset);
    message.set_data(data);
    message.set_finish_write(finish);
    return message;
  }

  grpc::Status Upload(const std::string& bytes) { return Write({Message(DigestOf(bytes), 0, bytes, true)}); }

  grpc::Status Create(const v1::JobSpec& spec, v1::Job* job, const std::string& request_id = "") {
    v1::CreateJobRequest request;
    *request.mutable_spec() = spec;
    request.set_request_id(request_id);
    grpc::ClientContext context;
    return jobs_->CreateJob(&context, request, job);
  }

  // A job of the fake worker; see fake_worker.cc for the names.
  std::string Submit(const std::string& model) {
    EXPECT_TRUE(Upload("model").ok());
    v1::Job job;
    const grpc::Status status = Create(InspectJob(model), &job);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return job.name();
  }

  grpc::Status Watch(const std::string& name, int64_t after_seq, std::vector<v1::JobEvent>* events = nullptr) {
    grpc::ClientContext context;
    v1::WatchJobRequest request;
    request.set_name(name);
    request.set_after_seq(after_seq);
    auto reader = jobs_->WatchJob(&context, request);
    for (v1::JobEvent event; reader->Read(&event);) {
      if (events != nullptr) events->push_back(event);
    }
    return reader->Finish();
  }

  v1::Job Get(const std::string& name) {
    grpc::ClientContext context;
    v1::GetJobRequest request;
    request.set_name(name);
    v1::Job job;
    EXPECT_TRUE(jobs_->GetJob(&context, request, &job).ok());
    return job;
  }

  std::string metrics_address_;  // none: its HTTP server takes two seconds to stop
  TempDir dir_ = TempDir::Create().value();
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::ModelOptimizer::Stub> jobs_;
  std::unique_ptr<v1::Blobs::Stub> blobs_;
};

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_RPC_TESTING_H_

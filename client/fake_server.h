// SPDX-License-Identifier: Apache-2.0
// A server for the tests of the client: keeps blobs in memory, sends scripted events, cuts streams where it is told.
#ifndef HALFTONE_CLIENT_FAKE_SERVER_H_
#define HALFTONE_CLIENT_FAKE_SERVER_H_

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "base/files.h"
#include "base/sha256.h"
#include "client/client.h"
#include "grpcpp/server_builder.h"
#include "gtest/gtest.h"
#include "halftone/v1/blobs.grpc.pb.h"
#include "halftone/v1/model_optimizer.grpc.pb.h"

namespace halftone::client {

// Follows the contract of blobs.proto. Each entry of `cuts` breaks one stream after that many bytes.
class FakeBlobs final : public v1::Blobs::Service {
 public:
  std::map<std::string, std::string> stored;   // by sha256
  std::map<std::string, std::string> partial;  // uploads that were cut
  std::deque<int64_t> write_cuts;
  std::deque<int64_t> read_cuts;
  std::vector<int64_t> write_offsets;  // at which each Write stream began
  std::vector<int64_t> read_offsets;
  size_t largest_message = 0;
  bool flip_a_bit = false;  // of what Read sends

  grpc::Status FindMissingBlobs(grpc::ServerContext*, const v1::FindMissingBlobsRequest* request,
                                v1::FindMissingBlobsResponse* response) override {
    for (const auto& digest : request->digests()) {
      if (stored.count(digest.sha256()) == 0) *response->add_missing() = digest;
    }
    return grpc::Status::OK;
  }

  grpc::Status QueryWrite(grpc::ServerContext*, const v1::QueryWriteRequest* request,
                          v1::QueryWriteResponse* response) override {
    const std::string& sha = request->digest().sha256();
    response->set_complete(stored.count(sha) > 0);
    response->set_committed_size(static_cast<int64_t>(response->complete() ? stored[sha].size() : partial[sha].size()));
    return grpc::Status::OK;
  }

  grpc::Status Write(grpc::ServerContext*, grpc::ServerReader<v1::WriteRequest>* reader,
                     v1::WriteResponse* response) override {
    v1::WriteRequest request;
    std::string sha;
    int64_t taken = 0;
    while (reader->Read(&request)) {
      largest_message = std::max(largest_message, request.ByteSizeLong());
      if (request.has_digest()) {
        sha = request.digest().sha256();
        write_offsets.push_back(request.write_offset());
      }
      std::string& bytes = partial[sha];
      if (request.write_offset() != static_cast<int64_t>(bytes.size())) {
        return {grpc::StatusCode::INVALID_ARGUMENT, "write_offset is not the committed size"};
      }
      bytes += request.data();
      taken += static_cast<int64_t>(request.data().size());
      if (!write_cuts.empty() && taken >= write_cuts.front()) {
        bytes.resize(bytes.size() - static_cast<size_t>(taken - write_cuts.front()));  // not all of it was durable
        write_cuts.pop_front();
        return {grpc::StatusCode::UNAVAILABLE, "cut"};
      }
      if (!request.finish_write()) continue;
      if (Sha256Hex(bytes) != sha) {
        partial.erase(sha);
        return {grpc::StatusCode::INVALID_ARGUMENT, "the bytes do not have the digest"};
      }
      stored[sha] = std::move(bytes);
      partial.erase(sha);
      response->set_committed_size(static_cast<int64_t>(stored[sha].size()));
      return grpc::Status::OK;
    }
    return {grpc::StatusCode::UNAVAILABLE, "the client went away"};
  }

  grpc::Status Read(grpc::ServerContext*, const v1::ReadRequest* request,
                    grpc::ServerWriter<v1::ReadResponse>* writer) override {
    constexpr size_t kPiece = 100'000;
    const auto found = stored.find(request->digest().sha256());
    if (found == stored.end()) return {grpc::StatusCode::NOT_FOUND, "not stored"};
    read_offsets.push_back(request->read_offset());
    int64_t sent = 0;
    for (size_t at = static_cast<size_t>(request->read_offset()); at < found->second.size(); at += kPiece) {
      v1::ReadResponse piece;
      piece.set_data(found->second.substr(at, kPiece));
      if (flip_a_bit) (*piece.mutable_data())[0] ^= 1;
      writer->Write(piece);
      sent += static_cast<int64_t>(piece.data().size());
      if (!read_cuts.empty() && sent >= read_cuts.front()) {
        read_cuts.pop_front();
        return {grpc::StatusCode::UNAVAILABLE, "cut"};
      }
    }
    return grpc::Status::OK;
  }
};

// One job with a list of events.
class FakeJobs final : public v1::ModelOptimizer::Service {
 public:
  v1::Job job;
  std::vector<v1::JobEvent> events;
  std::deque<int64_t> cuts;  // each breaks one stream after the event with this seq
  std::vector<int64_t> attached_after;
  bool repeat_the_last = false;  // sends the event before the wanted ones again, which it should not
  int unavailable_calls = 0;     // so many calls fail first
  std::vector<std::string> request_ids;
  int cancelled = 0;

  grpc::Status CreateJob(grpc::ServerContext*, const v1::CreateJobRequest* request, v1::Job* response) override {
    request_ids.push_back(request->request_id());
    if (unavailable_calls-- > 0) return {grpc::StatusCode::UNAVAILABLE, "later"};
    *response = job;
    return grpc::Status::OK;
  }

  grpc::Status GetJob(grpc::ServerContext*, const v1::GetJobRequest* request, v1::Job* response) override {
    if (request->name() != job.name()) return {grpc::StatusCode::NOT_FOUND, "no such job"};
    *response = job;
    return grpc::Status::OK;
  }

  grpc::Status CancelJob(grpc::ServerContext*, const v1::CancelJobRequest*, v1::Job* response) override {
    ++cancelled;
    *response = job;
    return grpc::Status::OK;
  }

  grpc::Status ListJobs(grpc::ServerContext*, const v1::ListJobsRequest* request,
                        v1::ListJobsResponse* response) override {
    const int first = request->page_token().empty() ? 0 : std::stoi(request->page_token());
    constexpr int kJobs = 450;
    for (int i = first; i < std::min(kJobs, first + request->page_size()); ++i) {
      response->add_jobs()->set_name("jobs/" + std::to_string(i));
    }
    if (first + request->page_size() < kJobs) {
      response->set_next_page_token(std::to_string(first + request->page_size()));
    }
    return grpc::Status::OK;
  }

  grpc::Status WatchJob(grpc::ServerContext* context, const v1::WatchJobRequest* request,
                        grpc::ServerWriter<v1::JobEvent>* writer) override {
    if (request->name() != job.name()) return {grpc::StatusCode::NOT_FOUND, "no such job"};
    attached_after.push_back(request->after_seq());
    for (const v1::JobEvent& event : events) {
      const int64_t from = request->after_seq() - (repeat_the_last ? 1 : 0);
      if (event.seq() <= from) continue;
      writer->Write(event);
      if (!cuts.empty() && event.seq() == cuts.front()) {
        cuts.pop_front();
        return {grpc::StatusCode::UNAVAILABLE, "cut"};
      }
    }
    while (!IsFinal(job.state()) && !context->IsCancelled()) absl::SleepFor(absl::Milliseconds(5));
    return grpc::Status::OK;
  }
};

// Both services on a Unix socket, and a client that does not wait long.
class WithFakeServer : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<TempDir> made = TempDir::Create();
    ASSERT_TRUE(made.ok()) << made.status();
    dir_ = std::make_unique<TempDir>(*std::move(made));
    address_ = "unix:" + dir_->path() + "/socket";
    grpc::EnableDefaultHealthCheckService(true);
    Start();
    options_ = {.address = address_,
                .connect_timeout = absl::Seconds(5),
                .retry = {.first_pause = absl::Milliseconds(1),
                          .longest_pause = absl::Milliseconds(10),
                          .give_up_after = absl::Milliseconds(300)},
                .cancellation = &cancellation_};
    absl::StatusOr<std::unique_ptr<Client>> client = Client::Connect(options_);
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  void Start() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
    builder.RegisterService(&blobs_);
    builder.RegisterService(&jobs_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }

  std::unique_ptr<TempDir> dir_;
  std::string address_;
  FakeBlobs blobs_;
  FakeJobs jobs_;
  std::unique_ptr<grpc::Server> server_;
  Cancellation cancellation_;
  ClientOptions options_;
  std::unique_ptr<Client> client_;
};

}  // namespace halftone::client

#endif  // HALFTONE_CLIENT_FAKE_SERVER_H_

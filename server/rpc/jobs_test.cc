// SPDX-License-Identifier: Apache-2.0
// The ModelOptimizer service over a real connection: each guarantee and each error that its proto documents.

#include <string>
#include <thread>
#include <vector>

#include "server/core/spec.h"
#include "server/rpc/testing.h"

namespace halftone::server {
namespace {

class JobsTest : public ServerTest {
 protected:
  grpc::Status Cancel(const std::string& name, v1::Job* job) {
    grpc::ClientContext context;
    v1::CancelJobRequest request;
    request.set_name(name);
    return jobs_->CancelJob(&context, request, job);
  }

  grpc::Status GetStatus(const std::string& name) {
    grpc::ClientContext context;
    v1::GetJobRequest request;
    request.set_name(name);
    v1::Job job;
    return jobs_->GetJob(&context, request, &job);
  }

  grpc::Status List(int page_size, const std::string& token, v1::ListJobsResponse* response) {
    grpc::ClientContext context;
    v1::ListJobsRequest request;
    request.set_page_size(page_size);
    request.set_page_token(token);
    return jobs_->ListJobs(&context, request, response);
  }
};

TEST_F(JobsTest, CreateWatchGet) {
  const std::string name = Submit("ok.onnx");
  std::vector<v1::JobEvent> events;
  ASSERT_TRUE(Watch(name, 0, &events).ok());
  ASSERT_GE(events.size(), 3u);
  for (size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].seq(), static_cast<int64_t>(i) + 1);
  EXPECT_EQ(events.front().state(), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(events.back().state(), v1::JOB_STATE_SUCCEEDED);
  const v1::Job job = Get(name);
  EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(job.result().files(0).path(), "out.onnx");
  std::vector<v1::JobEvent> rest;
  ASSERT_TRUE(Watch(name, 2, &rest).ok());
  EXPECT_EQ(rest.size(), events.size() - 2);
  EXPECT_TRUE(Watch(name, events.back().seq()).ok()) << "nothing is left: ends at once";
}

TEST_F(JobsTest, EventsSurviveARestart) {
  const std::string name = Submit("ok.onnx");
  std::vector<v1::JobEvent> before;
  ASSERT_TRUE(Watch(name, 0, &before).ok());
  Start();
  std::vector<v1::JobEvent> after;
  ASSERT_TRUE(Watch(name, 0, &after).ok());
  ASSERT_EQ(after.size(), before.size());
  EXPECT_EQ(after.back().SerializeAsString(), before.back().SerializeAsString());
}

TEST_F(JobsTest, CreateIsIdempotentByRequestId) {
  ASSERT_TRUE(Upload("model").ok());
  v1::Job first;
  v1::Job second;
  ASSERT_TRUE(Create(InspectJob("ok.onnx"), &first, "id").ok());
  Start();
  ASSERT_TRUE(Create(InspectJob("ok.onnx"), &second, "id").ok());
  EXPECT_EQ(first.name(), second.name());
  ExpectError(Create(InspectJob("other.onnx"), &second, "id"), grpc::ALREADY_EXISTS, "REQUEST_ID_REUSED");
}

TEST_F(JobsTest, CreateErrorsNameEverything) {
  v1::Job job;
  ExpectError(Create(v1::JobSpec(), &job), grpc::INVALID_ARGUMENT, "INVALID_FIELD");
  v1::JobSpec spec = InspectJob("../m.onnx");
  spec.mutable_inspect()->add_outputs("");
  const grpc::Status invalid = Create(spec, &job, std::string(65, 'x'));
  ExpectError(invalid, grpc::INVALID_ARGUMENT, "INVALID_FIELD");
  const auto bad = DetailOf<google::rpc::BadRequest>(invalid);
  ASSERT_EQ(bad.field_violations_size(), 3);
  EXPECT_EQ(bad.field_violations(0).field(), "spec.inspect.model.files[0].path");
  EXPECT_EQ(bad.field_violations(1).field(), "spec.inspect.outputs[0]");
  EXPECT_EQ(bad.field_violations(2).field(), "request_id");

  spec = v1::JobSpec();
  *spec.mutable_run()->mutable_model() = InspectJob("m.onnx", "not here").inspect().model();
  v1::NamedFile& input = *spec.mutable_run()->add_inputs();
  input.set_name("x");
  input.mutable_file()->set_path("x.npy");
  *input.mutable_file()->mutable_digest() = DigestOf("nor this");
  const grpc::Status missing = Create(spec, &job);
  ExpectError(missing, grpc::FAILED_PRECONDITION, "BLOB_MISSING");
  const auto failure = DetailOf<google::rpc::PreconditionFailure>(missing);
  ASSERT_EQ(failure.violations_size(), 2);
  EXPECT_EQ(failure.violations(0).type(), "MISSING");
  EXPECT_EQ(failure.violations(0).subject(), "blobs/" + DigestOf("not here").sha256() + "/8");
}

TEST_F(JobsTest, ValidateOnlyStoresNothing) {
  ASSERT_TRUE(Upload("model").ok());
  v1::CreateJobRequest request;
  *request.mutable_spec() = InspectJob("ok.onnx");
  request.set_validate_only(true);
  v1::Job job;
  grpc::ClientContext context;
  ASSERT_TRUE(jobs_->CreateJob(&context, request, &job).ok());
  EXPECT_EQ(job.name(), "");
  EXPECT_EQ(job.spec().inspect().model().files(0).path(), "ok.onnx");
  v1::ListJobsResponse jobs;
  ASSERT_TRUE(List(0, "", &jobs).ok());
  EXPECT_EQ(jobs.jobs_size(), 0);
}

TEST_F(JobsTest, NamesThatAreMalformedOrUnknown) {
  v1::Job job;
  ExpectError(GetStatus("jobs/x"), grpc::INVALID_ARGUMENT, "INVALID_FIELD");
  ExpectError(Cancel("", &job), grpc::INVALID_ARGUMENT, "INVALID_FIELD");
  ExpectError(Watch("x", 0), grpc::INVALID_ARGUMENT, "INVALID_FIELD");
  const std::string unknown = NewJobName();
  ExpectError(GetStatus(unknown), grpc::NOT_FOUND, "JOB_NOT_FOUND");
  ExpectError(Cancel(unknown, &job), grpc::NOT_FOUND, "JOB_NOT_FOUND");
  ExpectError(Watch(unknown, 0), grpc::NOT_FOUND, "JOB_NOT_FOUND");
  ExpectError(Watch(unknown, -1), grpc::INVALID_ARGUMENT, "INVALID_FIELD");
}

TEST_F(JobsTest, ListInPages) {
  for (int i = 0; i < 3; ++i) Submit("ok.onnx");
  v1::ListJobsResponse first;
  ASSERT_TRUE(List(2, "", &first).ok());
  EXPECT_EQ(first.jobs_size(), 2);
  v1::ListJobsResponse second;
  ASSERT_TRUE(List(2, first.next_page_token(), &second).ok());
  EXPECT_EQ(second.jobs_size(), 1);
  EXPECT_EQ(second.next_page_token(), "");
  v1::ListJobsResponse all;
  ASSERT_TRUE(List(1'000'000, "", &all).ok()) << "too large is made smaller";
  ExpectError(List(-1, "", &all), grpc::INVALID_ARGUMENT, "INVALID_FIELD");
  ExpectError(List(2, "nonsense", &all), grpc::INVALID_ARGUMENT, "INVALID_FIELD");
}

TEST_F(JobsTest, CancelOfARunningJobEndsItsWatch) {
  const std::string name = Submit("hang.onnx");
  v1::Job job;
  std::vector<v1::JobEvent> events;
  std::thread watcher([&] { EXPECT_TRUE(Watch(name, 0, &events).ok()); });
  while (Get(name).state() == v1::JOB_STATE_QUEUED) absl::SleepFor(absl::Milliseconds(5));
  EXPECT_TRUE(Cancel(name, &job).ok());
  EXPECT_EQ(job.state(), v1::JOB_STATE_CANCELLED);
  watcher.join();
  EXPECT_EQ(events.back().state(), v1::JOB_STATE_CANCELLED);
  EXPECT_TRUE(Cancel(name, &job).ok()) << "again: no error";
}

TEST_F(JobsTest, WatchObservesCancelAndDeadlineOfTheClient) {
  const std::string name = Submit("hang.onnx");
  v1::WatchJobRequest request;
  request.set_name(name);
  v1::JobEvent event;
  grpc::ClientContext cancelled;
  auto reader = jobs_->WatchJob(&cancelled, request);
  ASSERT_TRUE(reader->Read(&event));
  cancelled.TryCancel();
  EXPECT_EQ(reader->Finish().error_code(), grpc::CANCELLED);
  grpc::ClientContext late;
  late.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
  reader = jobs_->WatchJob(&late, request);
  while (reader->Read(&event)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::DEADLINE_EXCEEDED);
}

TEST_F(JobsTest, ShutdownEndsStreamsAndPutsTheJobBack) {
  const std::string name = Submit("slow.onnx");
  while (Get(name).state() == v1::JOB_STATE_QUEUED) absl::SleepFor(absl::Milliseconds(5));
  std::vector<v1::JobEvent> events;
  grpc::Status status;
  std::thread watcher([&] { status = Watch(name, 0, &events); });
  absl::SleepFor(absl::Milliseconds(100));
  server_->Shutdown();
  watcher.join();
  ExpectError(status, grpc::UNAVAILABLE, "SHUTTING_DOWN");
  Start();
  const int64_t seen = events.empty() ? 0 : events.back().seq();
  std::vector<v1::JobEvent> rest;
  ASSERT_TRUE(Watch(name, seen, &rest).ok());
  EXPECT_EQ(rest.front().seq(), seen + 1);
  EXPECT_EQ(rest.back().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(Get(name).attempt(), 2);
}

TEST_F(JobsTest, FailedJobTellsWhy) {
  const std::string name = Submit("error.onnx");
  ASSERT_TRUE(Watch(name, 0).ok());
  EXPECT_EQ(Get(name).state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(Get(name).error().reason(), "MODEL_INVALID");
}

TEST_F(JobsTest, Capabilities) {
  grpc::ClientContext context;
  v1::Capabilities capabilities;
  ASSERT_TRUE(jobs_->GetCapabilities(&context, {}, &capabilities).ok());
  EXPECT_EQ(capabilities.ops(0), "conv");
  EXPECT_EQ(capabilities.environment().cpu(), "fake");
  EXPECT_EQ(capabilities.limits().max_message_bytes(), 1 << 20);
  EXPECT_NE(capabilities.version(), "");
}

}  // namespace
}  // namespace halftone::server

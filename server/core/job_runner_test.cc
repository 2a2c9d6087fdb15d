// SPDX-License-Identifier: Apache-2.0
// Jobs through the fake worker: every way a child can end.

#include "server/core/job_runner.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "base/files.h"
#include "google/rpc/code.pb.h"
#include "gtest/gtest.h"
#include "server/core/jobs.h"
#include "server/core/spec.h"
#include "server/core/testing.h"

namespace halftone::server {
namespace {

class CountingObserver final : public JobObserver {
 public:
  void OnJobFinished(std::string_view kind, v1::JobState outcome) override {
    const absl::MutexLock lock(&mutex_);
    log_ += std::string(kind) + ":" + StateName(outcome) + " ";
  }
  void OnStage(std::string_view kind, std::string_view stage, double seconds) override {
    const absl::MutexLock lock(&mutex_);
    log_ += std::string(kind) + "/" + std::string(stage) + "=" + std::to_string(seconds).substr(0, 4) + " ";
  }
  void OnRanges(bool from_cache) override {
    const absl::MutexLock lock(&mutex_);
    log_ += from_cache ? "ranges:cache " : "ranges:samples ";
  }
  std::string log() {
    const absl::MutexLock lock(&mutex_);
    return log_;
  }

 private:
  absl::Mutex mutex_;
  std::string log_ ABSL_GUARDED_BY(mutex_);
};

class JobRunnerTest : public testing::Test {
 protected:
  JobRunnerTest() { StartServer(); }

  void StartServer(const std::string& worker = FakeWorkerPath()) {
    StopServer();
    RemoveAll(Path("work")).IgnoreError();
    EXPECT_TRUE(MakeDirectories(Path("work")).ok());
    blobs_ = BlobStore::Open(dir_.path(), {}).value();
    store_ = JobStore::Open(Path("jobs.sqlite")).value();
    runner_ = std::make_unique<JobRunner>(*store_, *blobs_, observer_,
                                          JobRunner::Options{.worker = worker,
                                                             .work_dir = Path("work"),
                                                             .ranges = {.dir = Path("ranges")},
                                                             .grace = absl::Milliseconds(300)});
    jobs_ = std::make_unique<Jobs>(*store_, *blobs_, *runner_, observer_);
    EXPECT_TRUE(StoreBlob(*blobs_, "model").ok());
    runner_->Start();
  }

  void StopServer() {
    jobs_.reset();
    runner_.reset();
    store_.reset();
    blobs_.reset();
  }

  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }

  std::string Submit(const std::string& model, int timeout_ms = 0) {
    v1::CreateJobRequest request;
    *request.mutable_spec() = InspectJob(model);
    if (timeout_ms > 0) request.mutable_spec()->mutable_timeout()->set_nanos(timeout_ms * 1'000'000);
    return jobs_->Create(request)->name();
  }

  // Waits for the event that `is_it`; false: the job ended without.
  template <typename Predicate>
  bool Await(const std::string& name, Predicate is_it) {
    bool seen = false;
    jobs_
        ->Watch(
            name, 0, [&](const v1::JobEvent& event) { return !(seen = seen || is_it(event)); }, [] { return false; })
        .IgnoreError();
    return seen;
  }

  v1::Job Result(const std::string& name) {
    EXPECT_TRUE(jobs_->Watch(name, 0, [](const v1::JobEvent&) { return true; }, [] { return false; }).ok());
    return jobs_->Get(name).value();
  }

  v1::JobError ErrorOf(const std::string& model, int timeout_ms = 0) {
    const v1::Job job = Result(Submit(model, timeout_ms));
    EXPECT_EQ(job.state(), v1::JOB_STATE_FAILED);
    EXPECT_FALSE(job.has_result());
    EXPECT_FALSE(absl::StrContains(job.error().message(), dir_.path())) << job.error().message();
    return job.error();
  }

  TempDir dir_ = TempDir::Create().value();
  CountingObserver observer_;
  std::unique_ptr<BlobStore> blobs_;
  std::unique_ptr<JobStore> store_;
  std::unique_ptr<JobRunner> runner_;
  std::unique_ptr<Jobs> jobs_;
};

TEST_F(JobRunnerTest, SuccessStoresTheFilesAndTheReport) {
  const v1::Job job = Result(Submit("ok.onnx"));
  EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED);
  ASSERT_EQ(job.result().files_size(), 1);
  EXPECT_EQ(job.result().files(0).path(), "out.onnx");
  EXPECT_EQ(ReadBlob(*blobs_, job.result().files(0).digest()).value(), "model optimized");
  EXPECT_EQ(job.result().report().model(), "ok.onnx");
  std::string events;
  const JobStore::Events read = store_->ReadEvents(job.name(), 0, 100).value();
  for (const v1::JobEvent& event : read.events) {
    if (event.has_progress()) events += "progress ";
    if (event.event_case() == v1::JobEvent::kWarning) events += event.warning() + " ";
    if (event.event_case() == v1::JobEvent::kLog) events += event.log() + " ";
    if (event.event_case() == v1::JobEvent::kState) events += StateName(event.state()) + " ";
  }
  EXPECT_EQ(events, "queued running progress read ok.onnx done succeeded ") << "paths of the server are not shown";
  EXPECT_TRUE(std::filesystem::is_empty(Path("work"))) << "the work folder is gone";
  runner_->Shutdown();
  EXPECT_EQ(observer_.log(), "inspect/import=0.25 inspect:succeeded ");
}

TEST_F(JobRunnerTest, DescriptionIsFetchedAtTheStart) {
  const worker::Description description = runner_->Describe(absl::Seconds(10));
  EXPECT_EQ(description.environment().cpu(), "fake");
  EXPECT_EQ(description.ops(0), "conv");
}

TEST_F(JobRunnerTest, WhatAnErrorLeavesIsStored) {
  const v1::JobError error = ErrorOf("left.onnx");
  ASSERT_EQ(error.files_size(), 1);
  EXPECT_EQ(error.files(0).path(), "failure.graph");
  EXPECT_EQ(ReadBlob(*blobs_, error.files(0).digest()).value(), "graph () {}");
  const v1::JobError stray = ErrorOf("stray.onnx");
  EXPECT_EQ(stray.message(), "pass 'fuse-x' changed an output") << "the failure stays what it was";
  EXPECT_EQ(stray.files_size(), 0);
}

TEST_F(JobRunnerTest, ErrorOfTheWorker) {
  const v1::JobError error = ErrorOf("error.onnx");
  EXPECT_EQ(error.code(), google::rpc::INVALID_ARGUMENT);
  EXPECT_EQ(error.reason(), "MODEL_INVALID");
  EXPECT_EQ(error.message(), "error.onnx: node '/layer1/conv' has no weights");
}

TEST_F(JobRunnerTest, CrashTellsSignalAndLastWords) {
  const v1::JobError error = ErrorOf("crash.onnx");
  EXPECT_EQ(error.code(), google::rpc::INTERNAL);
  EXPECT_EQ(error.reason(), "CHILD_CRASHED");
  EXPECT_TRUE(absl::StrContains(error.message(), "signal 11")) << error.message();
  EXPECT_TRUE(absl::StrContains(error.message(), "reading crash.onnx\nlast words")) << error.message();
  EXPECT_EQ(Result(Submit("ok.onnx")).state(), v1::JOB_STATE_SUCCEEDED) << "the next job is not harmed";
}

TEST_F(JobRunnerTest, ExitWithoutResponse) {
  const v1::JobError error = ErrorOf("exit.onnx");
  EXPECT_EQ(error.reason(), "CHILD_CRASHED");
  EXPECT_TRUE(absl::StrContains(error.message(), "exit code 3")) << error.message();
}

TEST_F(JobRunnerTest, BrokenProtocolAndHostileOutputs) {
  for (const char* model : {"garbage.onnx", "trailing.onnx", "outside.onnx", "link.onnx", "twice.onnx"}) {
    const v1::JobError error = ErrorOf(model);
    EXPECT_EQ(error.code(), google::rpc::INTERNAL) << model;
    EXPECT_EQ(error.reason(), "WORKER_PROTOCOL") << model;
  }
}

TEST_F(JobRunnerTest, Timeout) {
  const v1::JobError error = ErrorOf("hang.onnx", /*timeout_ms=*/200);
  EXPECT_EQ(error.code(), google::rpc::DEADLINE_EXCEEDED);
  EXPECT_EQ(error.reason(), "TIMEOUT");
}

TEST_F(JobRunnerTest, CancelKillsEvenAStubbornGroup) {
  const std::string name = Submit("stubborn.onnx");
  ASSERT_TRUE(Await(name, [](const v1::JobEvent& event) { return event.log() == "hanging"; }));
  EXPECT_EQ(jobs_->Cancel(name)->state(), v1::JOB_STATE_CANCELLED);
  const absl::Time start = absl::Now();
  EXPECT_EQ(Result(Submit("ok.onnx")).state(), v1::JOB_STATE_SUCCEEDED) << "the slot is free again";
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
  EXPECT_EQ(jobs_->Get(name)->state(), v1::JOB_STATE_CANCELLED);
  EXPECT_FALSE(jobs_->Get(name)->has_result());
  EXPECT_EQ(jobs_->Cancel(name)->state(), v1::JOB_STATE_CANCELLED) << "a second time is no error";
}

TEST_F(JobRunnerTest, CancelOfAQueuedJob) {
  const std::string running = Submit("hang.onnx");
  const std::string queued = Submit("ok.onnx");
  EXPECT_EQ(jobs_->Cancel(queued)->state(), v1::JOB_STATE_CANCELLED);
  EXPECT_EQ(jobs_->Cancel(running)->state(), v1::JOB_STATE_CANCELLED);
  EXPECT_EQ(Result(Submit("ok.onnx")).state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(Result(queued).attempt(), 0);
}

TEST_F(JobRunnerTest, ShutdownPutsTheRunningJobBackAndTheNextServerRunsIt) {
  const std::string name = Submit("slow.onnx");
  ASSERT_TRUE(Await(name, [](const v1::JobEvent& event) { return event.has_progress(); }));
  StartServer();
  const v1::Job job = Result(name);
  EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(job.attempt(), 2);
  int64_t next = 1;
  const JobStore::Events read = store_->ReadEvents(name, 0, 1000).value();
  for (const v1::JobEvent& event : read.events) EXPECT_EQ(event.seq(), next++);
  EXPECT_GT(next, 5);
}

TEST_F(JobRunnerTest, NoNewJobsAtShutdown) {
  jobs_->Shutdown();
  v1::CreateJobRequest request;
  *request.mutable_spec() = InspectJob("ok.onnx");
  EXPECT_EQ(jobs_->Create(request).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(JobRunnerTest, ProgressIsCoalesced) {
  const std::string name = Submit("flood.onnx");
  const absl::Time start = absl::Now();
  ASSERT_EQ(Result(name).state(), v1::JOB_STATE_SUCCEEDED);
  const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
  EXPECT_LE(store_->ReadEvents(name, 0, 100'000)->events.size(), 10 * seconds + 10);
}

TEST_F(JobRunnerTest, RangesOfAnEarlierJobAreOffered) {
  ASSERT_TRUE(StoreBlob(*blobs_, "samples").ok());
  v1::CreateJobRequest request;
  v1::OptimizeSpec& optimize = *request.mutable_spec()->mutable_optimize();
  *optimize.mutable_model() = InspectJob("ranges.onnx").inspect().model();
  *optimize.mutable_calibration()->add_files() = InspectJob("s.npz", "samples").inspect().model().files(0);
  const auto run = [&] {
    const v1::Job job = Result(jobs_->Create(request)->name());
    EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.error().message();
    EXPECT_EQ(job.result().files_size(), 1) << "ranges are kept, but are no result of their own";
    return job.name();
  };
  run();
  run();
  StartServer();
  run();  // also a later server's
  std::filesystem::remove(blobs_->PathOf(DigestOf("ranges")));
  ASSERT_TRUE(WriteFileAtomically(blobs_->PathOf(DigestOf("ranges")), "RANGES").ok());
  const std::string name = run();
  EXPECT_TRUE(Await(name, [](const v1::JobEvent& event) { return absl::StrContains(event.warning(), "broken"); }));
  run();
  request.mutable_spec()->set_no_ranges_cache(true);
  run();
  runner_->Shutdown();
  const std::string log = observer_.log();
  std::string said;
  for (const absl::string_view word : absl::StrSplit(log, ' ')) {
    if (absl::StartsWith(word, "ranges:")) absl::StrAppend(&said, word, " ");
  }
  EXPECT_EQ(said, "ranges:samples ranges:cache ranges:cache ranges:samples ranges:cache ");
}

TEST_F(JobRunnerTest, MissingWorkerFailsTheJobOnly) {
  StartServer("/no/such/worker");
  EXPECT_EQ(ErrorOf("ok.onnx").reason(), "WORKER_MISSING");
  EXPECT_EQ(runner_->Describe(absl::Seconds(10)).ops_size(), 0);
}

TEST_F(JobRunnerTest, BlobThatIsGoneWhenTheJobRuns) {
  v1::CreateJobRequest request;
  *request.mutable_spec() = InspectJob("slow.onnx", "another model");
  ASSERT_TRUE(StoreBlob(*blobs_, "another model").ok());
  const std::string blocker = jobs_->Create(request)->name();
  const std::string name = Submit("ok.onnx");
  ASSERT_TRUE(Await(blocker, [](const v1::JobEvent& event) { return event.has_progress(); }));
  std::filesystem::remove(blobs_->PathOf(DigestOf("model")));
  EXPECT_EQ(Result(blocker).state(), v1::JOB_STATE_SUCCEEDED);
  const v1::Job job = Result(name);
  EXPECT_EQ(job.state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(job.error().code(), google::rpc::FAILED_PRECONDITION);
  EXPECT_EQ(job.error().reason(), "BLOB_MISSING");
}

}  // namespace
}  // namespace halftone::server

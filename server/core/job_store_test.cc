// SPDX-License-Identifier: Apache-2.0
#include "server/core/job_store.h"

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/files.h"
#include "gtest/gtest.h"
#include "server/core/errors.h"
#include "server/core/spec.h"
#include "server/core/testing.h"

namespace halftone::server {
namespace {

using ::absl::StatusCode;

class JobStoreTest : public testing::Test {
 protected:
  JobStoreTest() { Reopen(); }

  void Reopen() {
    store_.reset();
    store_ = JobStore::Open(dir_.path() + "/jobs.sqlite").value();
  }

  v1::Job Create(const std::string& request_id = "") {
    return store_->Create(InspectJob("m.onnx"), request_id).value();
  }

  // "1:queued 2:running ..."; progress as its done count.
  std::string EventsOf(const std::string& name, int64_t after = 0) {
    std::string text;
    const JobStore::Events read = store_->ReadEvents(name, after, 1000).value();
    for (const v1::JobEvent& event : read.events) {
      absl::StrAppend(&text, text.empty() ? "" : " ", event.seq(), ":",
                      event.has_progress() ? absl::StrCat(event.progress().done()) : StateName(event.state()));
    }
    return text;
  }

  static std::vector<v1::JobEvent> Progress(int done) {
    v1::JobEvent event;
    event.mutable_progress()->set_done(done);
    return {event};
  }

  TempDir dir_ = TempDir::Create().value();
  std::unique_ptr<JobStore> store_;
};

TEST_F(JobStoreTest, WholeLifeSurvivesReopening) {
  const std::string name = Create("id-1").name();
  EXPECT_TRUE(IsJobName(name));
  Reopen();
  const v1::Job running = store_->Claim().value().value();
  EXPECT_EQ(running.name(), name);
  EXPECT_EQ(running.attempt(), 1);
  EXPECT_TRUE(store_->Append(name, 1, Progress(5)).value());
  JobOutcome outcome;
  outcome.result = v1::JobResult();
  outcome.result->add_files()->set_path("out.onnx");
  EXPECT_TRUE(store_->Finish(name, 1, outcome).value());
  Reopen();
  const v1::Job job = store_->Get(name).value();
  EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(job.result().files(0).path(), "out.onnx");
  EXPECT_EQ(job.request_id(), "id-1");
  EXPECT_EQ(job.spec().inspect().model().files(0).path(), "m.onnx");
  EXPECT_TRUE(job.has_create_time() && job.has_start_time() && job.has_end_time());
  EXPECT_FALSE(job.has_error());
  EXPECT_EQ(EventsOf(name), "1:queued 2:running 3:5 4:succeeded");
  EXPECT_EQ(EventsOf(name, 2), "3:5 4:succeeded");
  EXPECT_TRUE(store_->ReadEvents(name, 2, 10)->complete);
  EXPECT_FALSE(store_->ReadEvents(name, 0, 2)->complete) << "there is more than the limit";
}

TEST_F(JobStoreTest, RequestIdIsIdempotentAlsoInParallelAndAfterReopening) {
  std::vector<std::thread> threads;
  std::vector<std::string> names(16);
  for (std::string& name : names) {
    threads.emplace_back([&] { name = store_->Create(InspectJob("m.onnx"), "same")->name(); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 1u);
  Reopen();
  bool created = true;
  EXPECT_EQ(store_->Create(InspectJob("m.onnx"), "same", &created)->name(), names[0]);
  EXPECT_FALSE(created);
  const absl::Status reused = store_->Create(InspectJob("other.onnx"), "same").status();
  EXPECT_EQ(reused.code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(ReasonOf(reused), "REQUEST_ID_REUSED");
  EXPECT_NE(Create().name(), Create().name()) << "no id: a new job each time";
}

TEST_F(JobStoreTest, ClaimsInOrder) {
  const std::string first = Create().name();
  const std::string second = Create().name();
  EXPECT_EQ(store_->Claim()->value().name(), first);
  EXPECT_EQ(store_->Claim()->value().name(), second);
  EXPECT_FALSE(store_->Claim()->has_value());
}

TEST_F(JobStoreTest, DeadServerPutsJobsBackAndGivesUpAfterThreeDeaths) {
  const std::string name = Create().name();
  for (int attempt = 1; attempt <= 2; ++attempt) {
    EXPECT_EQ(store_->Claim()->value().attempt(), attempt);
    Reopen();
    EXPECT_EQ(store_->Get(name)->state(), v1::JOB_STATE_QUEUED);
  }
  EXPECT_EQ(store_->Claim()->value().attempt(), 3);
  Reopen();
  const v1::Job job = store_->Get(name).value();
  EXPECT_EQ(job.state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(job.error().reason(), "POISON");
  EXPECT_EQ(EventsOf(name), "1:queued 2:running 3:queued 4:running 5:queued 6:running 7:failed");
}

TEST_F(JobStoreTest, PoliteShutdownsDoNotCountAsDeaths) {
  const std::string name = Create().name();
  for (int attempt = 1; attempt <= 5; ++attempt) {
    EXPECT_EQ(store_->Claim()->value().attempt(), attempt);
    EXPECT_TRUE(store_->Requeue(name, attempt).value());
    Reopen();
  }
  EXPECT_EQ(store_->Get(name)->state(), v1::JOB_STATE_QUEUED);
}

TEST_F(JobStoreTest, NothingOfAnOldAttemptOrACancelledJobIsAccepted) {
  const std::string name = Create().name();
  ASSERT_TRUE(store_->Claim()->has_value());
  ASSERT_TRUE(store_->Requeue(name, 1).value());
  ASSERT_TRUE(store_->Claim()->has_value());
  JobOutcome outcome;
  outcome.result = v1::JobResult();
  EXPECT_FALSE(store_->Append(name, 1, Progress(1)).value());
  EXPECT_FALSE(store_->Finish(name, 1, outcome).value());
  bool cancelled = false;
  EXPECT_EQ(store_->Cancel(name, &cancelled)->state(), v1::JOB_STATE_CANCELLED);
  EXPECT_TRUE(cancelled);
  EXPECT_FALSE(store_->Append(name, 2, Progress(1)).value());
  EXPECT_FALSE(store_->Finish(name, 2, outcome).value());
  EXPECT_FALSE(store_->Requeue(name, 2).value());
  EXPECT_FALSE(store_->Get(name)->has_result());
  EXPECT_EQ(EventsOf(name), "1:queued 2:running 3:queued 4:running 5:cancelled");
}

TEST_F(JobStoreTest, CancelOfQueuedAndFinishedJobs) {
  const std::string name = Create().name();
  EXPECT_EQ(store_->Cancel(name)->state(), v1::JOB_STATE_CANCELLED);
  EXPECT_FALSE(store_->Claim()->has_value());
  bool cancelled = true;
  EXPECT_EQ(store_->Cancel(name, &cancelled)->state(), v1::JOB_STATE_CANCELLED);
  EXPECT_FALSE(cancelled);
  EXPECT_EQ(EventsOf(name), "1:queued 2:cancelled");
}

TEST_F(JobStoreTest, PagesAreNewestFirstAndStable) {
  std::vector<std::string> names;
  for (int i = 0; i < 7; ++i) names.insert(names.begin(), Create().name());
  std::vector<std::string> seen;
  std::string token;
  do {
    const JobStore::Page page = store_->List(3, token, v1::JOB_STATE_UNSPECIFIED).value();
    EXPECT_LE(page.jobs.size(), 3u);
    for (const v1::Job& job : page.jobs) {
      seen.push_back(job.name());
      EXPECT_FALSE(job.has_spec());
    }
    token = page.next_token;
    Create();  // does not disturb
  } while (!token.empty());
  EXPECT_EQ(seen, names);
}

TEST_F(JobStoreTest, PagesOfOneState) {
  const std::string queued = Create().name();
  const std::string cancelled = Create().name();
  store_->Cancel(cancelled).IgnoreError();
  const JobStore::Page page = store_->List(10, "", v1::JOB_STATE_CANCELLED).value();
  ASSERT_EQ(page.jobs.size(), 1u);
  EXPECT_EQ(page.jobs[0].name(), cancelled);
  EXPECT_TRUE(page.next_token.empty());
  EXPECT_EQ(store_->List(10, "", v1::JOB_STATE_QUEUED)->jobs.at(0).name(), queued);
}

TEST_F(JobStoreTest, ForeignTokensAreRefused) {
  for (int i = 0; i < 3; ++i) Create();
  const std::string token = store_->List(2, "", v1::JOB_STATE_QUEUED)->next_token;
  ASSERT_FALSE(token.empty());
  for (const std::string& bad :
       {std::string("x"), token + "0 ", absl::StrCat(token, "-1"), std::string("1-1-"), std::string("2-1-5")}) {
    EXPECT_EQ(store_->List(2, bad, v1::JOB_STATE_QUEUED).status().code(), StatusCode::kInvalidArgument) << bad;
  }
  EXPECT_EQ(store_->List(2, token, v1::JOB_STATE_RUNNING).status().code(), StatusCode::kInvalidArgument)
      << "of another filter";
}

TEST_F(JobStoreTest, UnknownJobs) {
  const std::string name = NewJobName();
  EXPECT_EQ(store_->Get(name).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(store_->Cancel(name).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(store_->ReadEvents(name, 0, 1).status().code(), StatusCode::kNotFound);
}

TEST_F(JobStoreTest, CountsByState) {
  Create();
  store_->Cancel(Create().name()).IgnoreError();
  const auto counts = store_->CountByState().value();
  EXPECT_EQ(counts.at(v1::JOB_STATE_QUEUED), 1);
  EXPECT_EQ(counts.at(v1::JOB_STATE_CANCELLED), 1);
  EXPECT_EQ(counts.at(v1::JOB_STATE_RUNNING), 0);
}

TEST_F(JobStoreTest, DatabaseOfANewerServerIsRefused) {
  store_.reset();
  {
    Database database = Database::Open(dir_.path() + "/jobs.sqlite").value();
    ASSERT_TRUE(database.Execute("PRAGMA user_version=99").ok());
  }
  EXPECT_EQ(JobStore::Open(dir_.path() + "/jobs.sqlite").status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(JobStoreTest, SubscriptionSeesWhatHappenedBeforeTheWait) {
  const std::string name = Create().name();
  JobSignals::Subscription subscription = store_->signals().Subscribe(name);
  store_->Cancel(name).IgnoreError();
  const absl::Time start = absl::Now();
  subscription.Wait(absl::Seconds(30));
  EXPECT_LT(absl::Now() - start, absl::Seconds(10));
}

}  // namespace
}  // namespace halftone::server

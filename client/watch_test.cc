// SPDX-License-Identifier: Apache-2.0
// Jobs against a server that cuts streams, refuses and goes away; connecting and health.

#include <thread>

#include "client/fake_server.h"
#include "gmock/gmock.h"

namespace halftone::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WatchTest : public WithFakeServer {
 protected:
  void SetUp() override {
    WithFakeServer::SetUp();
    jobs_.job.set_name("jobs/1");
    jobs_.job.set_state(v1::JOB_STATE_SUCCEEDED);
    for (int seq = 1; seq <= 6; ++seq) {
      v1::JobEvent event;
      event.set_seq(seq);
      event.set_log("line " + std::to_string(seq));
      jobs_.events.push_back(event);
    }
  }

  absl::StatusOr<v1::Job> Watch(int64_t after = 0) {
    return client_->WatchJob("jobs/1", after, [&](const v1::JobEvent& event) { seen_.push_back(event.seq()); });
  }

  std::vector<int64_t> seen_;
};

TEST_F(WatchTest, EveryEventOnceAndTheFinishedJob) {
  const absl::StatusOr<v1::Job> job = Watch();
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(seen_, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(WatchTest, AttachesAgainAfterTheLastEventSeen) {
  jobs_.cuts = {2, 5, 6};
  ASSERT_TRUE(Watch().ok());
  EXPECT_THAT(seen_, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(jobs_.attached_after, ElementsAre(0, 2, 5, 6));
}

TEST_F(WatchTest, AnEventThatIsSentTwiceIsSeenOnce) {
  jobs_.cuts = {3};
  jobs_.repeat_the_last = true;
  ASSERT_TRUE(Watch().ok());
  EXPECT_THAT(seen_, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(WatchTest, StartsWhereItIsTold) {
  ASSERT_TRUE(Watch(4).ok());
  EXPECT_THAT(seen_, ElementsAre(5, 6));
}

TEST_F(WatchTest, UnknownJobIsNotTriedAgain) {
  EXPECT_EQ(client_->WatchJob("jobs/2", 0, {}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(jobs_.attached_after.empty());
}

TEST_F(WatchTest, CancellationEndsTheStream) {
  jobs_.job.set_state(v1::JOB_STATE_RUNNING);
  std::thread stopper([&] {
    absl::SleepFor(absl::Milliseconds(50));
    cancellation_.Cancel();
  });
  EXPECT_EQ(Watch().status().code(), absl::StatusCode::kCancelled);
  stopper.join();
}

TEST_F(WatchTest, ASteppedDownServerIsWaitedForAndFoundAgain) {
  jobs_.cuts = {3};
  std::thread restarter;
  bool restarted = false;
  const absl::StatusOr<v1::Job> job = client_->WatchJob("jobs/1", 0, [&](const v1::JobEvent& event) {
    seen_.push_back(event.seq());
    if (event.seq() != 3 || restarted) return;
    restarted = true;
    restarter = std::thread([&] {
      server_->Shutdown(std::chrono::system_clock::now());
      server_->Wait();
      Start();
    });
  });
  restarter.join();
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_THAT(seen_, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(WatchTest, AServerThatStaysAwayIsUnavailable) {
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
  EXPECT_EQ(Watch().status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(WatchTest, CreateJobIsRepeatedWithTheSameId) {
  jobs_.unavailable_calls = 2;
  const absl::StatusOr<v1::Job> job = client_->CreateJob(v1::JobSpec(), "id");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->name(), "jobs/1");
  EXPECT_THAT(jobs_.request_ids, ElementsAre("id", "id", "id"));
}

TEST_F(WatchTest, ListJobsTurnsPages) {
  EXPECT_EQ(client_->ListJobs(v1::JOB_STATE_UNSPECIFIED, 1000)->size(), 450u);
  EXPECT_EQ(client_->ListJobs(v1::JOB_STATE_UNSPECIFIED, 201)->size(), 201u);
}

TEST_F(WatchTest, Health) {
  EXPECT_TRUE(client_->CheckHealth(absl::Seconds(5)).ok());
  server_->GetHealthCheckService()->SetServingStatus(false);
  const absl::Status status = client_->CheckHealth(absl::Seconds(5));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("not serving"));
}

TEST_F(WatchTest, RequestIdsDiffer) {
  EXPECT_EQ(NewRequestId().size(), 32u);
  EXPECT_NE(NewRequestId(), NewRequestId());
}

TEST(Connect, SaysWhatIsWrongWithAnAddress) {
  for (const char* address : {"", "localhost", ":7077", "host:", "host:99999", "host:x", "unix:"}) {
    EXPECT_EQ(Client::Connect({.address = address}).status().code(), absl::StatusCode::kInvalidArgument) << address;
  }
}

TEST(Connect, WithoutServerIsUnavailableSoon) {
  const absl::Time start = absl::Now();
  const absl::Status status = Client::Connect({.address = "unix:/nonexistent/socket"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("server unreachable at unix:/nonexistent/socket"));
  EXPECT_LT(absl::Now() - start, absl::Seconds(8));
}

}  // namespace
}  // namespace halftone::client

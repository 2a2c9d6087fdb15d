// SPDX-License-Identifier: Apache-2.0
// A whole job against the fake server: upload, events, results on disk, failures, Ctrl-C.

#include "client/cli/job.h"

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "base/sha256.h"
#include "client/cli/exit_codes.h"
#include "client/cli/results.h"
#include "client/fake_server.h"
#include "gmock/gmock.h"
#include "report/json.h"

namespace halftone::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

// Blocks the signals before gRPC makes threads: a base class, so that it is made first.
struct WithInterrupts {
  Interrupts interrupts_;
};

class JobTest : public WithInterrupts, public client::WithFakeServer {
 protected:
  void SetUp() override {
    WithFakeServer::SetUp();
    jobs_.job.set_name("jobs/1");
    jobs_.job.set_state(v1::JOB_STATE_SUCCEEDED);
    v1::JobEvent event;
    event.set_seq(1);
    event.set_warning("hot CPU");
    jobs_.events.push_back(event);
    absl::StatusOr<std::unique_ptr<Session>> session = Session::Open({.server = address_}, interrupts_);
    ASSERT_TRUE(session.ok()) << session.status();
    session_ = *std::move(session);
  }

  void AddResult(const std::string& name, const std::string& bytes) {
    v1::File& file = *jobs_.job.mutable_result()->add_files();
    file.set_path(name);
    file.mutable_digest()->set_sha256(Sha256Hex(bytes));
    file.mutable_digest()->set_size_bytes(static_cast<int64_t>(bytes.size()));
    blobs_.stored[Sha256Hex(bytes)] = bytes;
  }

  void AddResultsOfOptimize() {
    v1::Report report;
    report.set_model("net.onnx");
    const std::pair<v1::Precision, const char*> artifacts[] = {{v1::PRECISION_ORIGINAL, "net.onnx"},
                                                               {v1::PRECISION_FP32, "net.fp32.onnx"},
                                                               {v1::PRECISION_BF16, "net.bf16.onnx"}};
    for (const auto& [precision, path] : artifacts) {
      v1::Variant& variant = *report.add_variants();
      variant.set_precision(precision);
      variant.mutable_artifact()->set_path(path);
      variant.add_nodes()->set_name("n");
    }
    AddResult("net.fp32.onnx", "fp32 bytes");
    AddResult("net.bf16.onnx", "bf16 bytes");
    AddResult("inspect.txt", "text");
    AddResult("report.json", report::ReportToJson(report));
  }

  std::vector<std::string> Files(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  absl::StatusOr<FinishedJob> Run() { return RunJob(*session_, v1::JobSpec(), {}, /*quiet=*/true, " --out build"); }

  std::string out() const { return dir_->path() + "/out"; }

  std::unique_ptr<Session> session_;
};

TEST_F(JobTest, FinishesWithItsWarnings) {
  const absl::StatusOr<FinishedJob> finished = Run();
  ASSERT_TRUE(finished.ok()) << finished.status();
  EXPECT_THAT(finished->warnings, ElementsAre("hot CPU"));
}

TEST_F(JobTest, FilesAndReportAreWrittenWithTheirPaths) {
  AddResultsOfOptimize();
  const absl::StatusOr<v1::Report> report =
      WriteReportAndFiles(session_->client(), jobs_.job, out(), "models/net.onnx", /*quiet=*/true);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(Files(out()), UnorderedElementsAre("net.fp32.onnx", "net.bf16.onnx", "report.json"));
  EXPECT_EQ(*ReadFile(out() + "/net.bf16.onnx"), "bf16 bytes");
  const absl::StatusOr<v1::Report> written = report::ReportFromJson(*ReadFile(out() + "/report.json"));
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(written->variants(0).artifact().path(), "models/net.onnx");
  EXPECT_EQ(written->variants(2).artifact().path(), out() + "/net.bf16.onnx");
  EXPECT_EQ(written->variants(2).nodes_size(), 1);
}

TEST_F(JobTest, WhenOneFileFailsNoneIsThere) {
  AddResultsOfOptimize();
  blobs_.stored.erase(Sha256Hex("bf16 bytes"));
  EXPECT_FALSE(WriteReportAndFiles(session_->client(), jobs_.job, out(), "net.onnx", /*quiet=*/true).ok());
  EXPECT_THAT(Files(out()), IsEmpty());
}

TEST_F(JobTest, AServerCannotWriteElsewhere) {
  AddResult("../evil.npy", "x");
  EXPECT_FALSE(WriteFiles(session_->client(), jobs_.job, out(), /*quiet=*/true).ok());
  EXPECT_FALSE(std::filesystem::exists(dir_->path() + "/evil.npy"));
}

TEST_F(JobTest, TheModelItselfIsNotOverwritten) {
  AddResultsOfOptimize();
  ASSERT_TRUE(MakeDirectories(out()).ok());
  const std::string model = out() + "/net.fp32.onnx";
  ASSERT_TRUE(WriteFileAtomically(model, "precious").ok());
  const absl::Status status = WriteReportAndFiles(session_->client(), jobs_.job, out(), model, /*quiet=*/true).status();
  EXPECT_EQ(ExitCodeFor(status), 2);
  EXPECT_EQ(*ReadFile(model), "precious");
}

TEST_F(JobTest, AnOutputFolderThatIsAFileIsAUsageError) {
  AddResultsOfOptimize();
  ASSERT_TRUE(WriteFileAtomically(out(), "a file").ok());
  const absl::Status status =
      WriteReportAndFiles(session_->client(), jobs_.job, out(), "net.onnx", /*quiet=*/true).status();
  EXPECT_EQ(ExitCodeFor(status), 2) << status;
}

TEST_F(JobTest, AFailedJobSaysWhy) {
  jobs_.job.set_state(v1::JOB_STATE_FAILED);
  jobs_.job.mutable_error()->set_code(3);
  jobs_.job.mutable_error()->set_reason("MODEL_INVALID");
  jobs_.job.mutable_error()->set_message("node 'conv1' has no weights");
  CaptureStderr();
  const absl::Status status = Run().status();
  EXPECT_EQ(GetCapturedStderr(), "WARNING: hot CPU\n");
  EXPECT_EQ(ExitCodeFor(status), 3);
  EXPECT_EQ(std::string(status.message()), "the job failed with MODEL_INVALID: node 'conv1' has no weights");
}

TEST_F(JobTest, WhatAFailureLeftIsWritten) {
  AddResult("failure.graph", "graph () {}");
  *jobs_.job.mutable_error()->mutable_files() = jobs_.job.result().files();
  jobs_.job.clear_result();
  jobs_.job.set_state(v1::JOB_STATE_FAILED);
  jobs_.job.mutable_error()->set_code(13);
  jobs_.job.mutable_error()->set_message("pass 'fuse-x' changed an output");
  CaptureStderr();
  EXPECT_FALSE(RunJob(*session_, v1::JobSpec(), {}, /*quiet=*/true, "", out()).ok());
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("graph_opt --reproduce " + out() + "/failure.graph\n"));
  EXPECT_EQ(*ReadFile(out() + "/failure.graph"), "graph () {}");
  CaptureStderr();
  EXPECT_FALSE(RunJob(*session_, v1::JobSpec(), {}, /*quiet=*/true, "", "").ok());
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("jobs/1 left failure.graph"));
}

TEST_F(JobTest, ACancelledJobIsNotDone) {
  jobs_.job.set_state(v1::JOB_STATE_CANCELLED);
  EXPECT_EQ(ExitCodeFor(Run().status()), 130);
}

TEST_F(JobTest, CtrlCLeavesTheJobAndSaysHowToResume) {
  jobs_.job.set_state(v1::JOB_STATE_RUNNING);
  std::thread user([] {
    absl::SleepFor(absl::Milliseconds(100));
    kill(getpid(), SIGINT);
  });
  CaptureStderr();
  const absl::Status status = Run().status();
  user.join();
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("halftone jobs watch jobs/1 --server " + address_ + " --out build\n"));
  EXPECT_EQ(ExitCodeFor(status), 130);
  EXPECT_EQ(jobs_.cancelled, 0);
}

TEST_F(JobTest, ASecondCtrlCCancelsTheJob) {
  jobs_.job.set_state(v1::JOB_STATE_RUNNING);
  std::thread user([] {
    for (int i = 0; i < 2; ++i) {
      absl::SleepFor(absl::Milliseconds(200));
      kill(getpid(), SIGINT);
    }
  });
  CaptureStderr();
  const absl::Status status = Run().status();
  user.join();
  GetCapturedStderr();
  EXPECT_EQ(ExitCodeFor(status), 130);
  EXPECT_THAT(std::string(status.message()), HasSubstr("cancelled jobs/1"));
  EXPECT_EQ(jobs_.cancelled, 1);
}

// As GNU timeout does: once to the process, once to its group.
TEST_F(JobTest, SigtermNeverCancelsTheJob) {
  jobs_.job.set_state(v1::JOB_STATE_RUNNING);
  std::thread timeout([] {
    for (int i = 0; i < 2; ++i) {
      absl::SleepFor(absl::Milliseconds(100));
      kill(getpid(), SIGTERM);
    }
  });
  CaptureStderr();
  const absl::Status status = Run().status();
  timeout.join();
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("halftone jobs watch jobs/1 --server " + address_));
  EXPECT_EQ(ExitCodeFor(status), 130);
  EXPECT_EQ(jobs_.cancelled, 0);
}

TEST_F(JobTest, AWatcherNeverCancelsTheJob) {
  jobs_.job.set_state(v1::JOB_STATE_RUNNING);
  std::thread user([] {
    for (int i = 0; i < 2; ++i) {
      absl::SleepFor(absl::Milliseconds(200));
      kill(getpid(), SIGINT);
    }
  });
  CaptureStderr();
  const absl::Status status = FollowJob(*session_, "jobs/1", {.quiet = true}).status();
  user.join();
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("halftone jobs cancel jobs/1 --server " + address_));
  EXPECT_EQ(ExitCodeFor(status), 130);
  EXPECT_EQ(jobs_.cancelled, 0);
}

TEST(ToDuration, KeepsFractions) {
  EXPECT_EQ(ToDuration(1.25).seconds(), 1);
  EXPECT_EQ(ToDuration(1.25).nanos(), 250'000'000);
}

}  // namespace
}  // namespace halftone::cli

// SPDX-License-Identifier: Apache-2.0
// The program as an operator meets it: flags, the port, signals, exit codes, a crash.

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/child.h"
#include "base/files.h"
#include "server/core/spec.h"
#include "server/rpc/testing.h"

namespace halftone::server {
namespace {

class HalftonedTest : public testing::Test {
 protected:
  std::unique_ptr<Child> Spawn(std::vector<std::string> args) {
    ChildOptions options;
    options.program = absl::StrCat(getenv("TEST_SRCDIR"), "/", getenv("TEST_WORKSPACE"), "/server/halftoned");
    options.args = std::move(args);
    return Child::Spawn(options).value();
  }

  std::unique_ptr<Child> StartServer() {
    auto child = Spawn({"--data", Path("data"), "--listen=127.0.0.1:0", "--worker", FakeWorkerPath(),
                        "--print-port-file=" + Path("port")});
    std::string line;
    for (char c; read(child->stdout_fd(), &c, 1) == 1 && c != '\n';) line.push_back(c);
    absl::string_view address = line;
    EXPECT_TRUE(absl::ConsumePrefix(&address, "halftoned listening on ")) << line << child->StderrTail();
    address_ = std::string(address);
    auto channel = grpc::CreateChannel(address_, grpc::InsecureChannelCredentials());
    jobs_ = v1::ModelOptimizer::NewStub(channel);
    blobs_ = v1::Blobs::NewStub(channel);
    return child;
  }

  std::string Submit(const std::string& model) {
    grpc::ClientContext upload;
    v1::WriteResponse written;
    auto writer = blobs_->Write(&upload, &written);
    v1::WriteRequest message;
    *message.mutable_digest() = DigestOf("model");
    message.set_data("model");
    message.set_finish_write(true);
    writer->WriteLast(message, grpc::WriteOptions());
    EXPECT_TRUE(writer->Finish().ok());
    v1::CreateJobRequest request;
    *request.mutable_spec() = InspectJob(model);
    grpc::ClientContext context;
    v1::Job job;
    EXPECT_TRUE(jobs_->CreateJob(&context, request, &job).ok());
    return job.name();
  }

  // All events until the end, or until the first progress.
  std::vector<v1::JobEvent> Watch(const std::string& name, bool until_progress) {
    grpc::ClientContext context;
    v1::WatchJobRequest request;
    request.set_name(name);
    auto reader = jobs_->WatchJob(&context, request);
    std::vector<v1::JobEvent> events;
    for (v1::JobEvent event; reader->Read(&event);) {
      events.push_back(event);
      if (until_progress && event.has_progress()) context.TryCancel();
    }
    reader->Finish();
    return events;
  }

  std::string Path(const std::string& name) { return dir_.path() + "/" + name; }

  TempDir dir_ = TempDir::Create().value();
  std::string address_;
  std::unique_ptr<v1::ModelOptimizer::Stub> jobs_;
  std::unique_ptr<v1::Blobs::Stub> blobs_;
};

TEST_F(HalftonedTest, TellsItsPortAndStopsPolitely) {
  const auto server = StartServer();
  EXPECT_EQ(absl::StrCat("127.0.0.1:", ReadFile(Path("port")).value()), address_ + "\n");
  const std::string name = Submit("hang.onnx");
  Watch(name, /*until_progress=*/true);
  const absl::Time start = absl::Now();
  kill(server->pid(), SIGTERM);
  EXPECT_EQ(server->Wait().ToString(), "exit code 0");
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));
  EXPECT_TRUE(absl::StrContains(server->StderrTail(), "\"msg\":\"server has shut down\""));
}

// gRPC's own end would wait 10 s for a thread that a full socket has left behind.
TEST_F(HalftonedTest, StopsAtOnceAfterALargeDownload) {
  const auto server = StartServer();
  const std::string piece(512 << 10, 'x');
  constexpr int kPieces = 32;
  std::string all;
  for (int i = 0; i < kPieces; ++i) all += piece;
  grpc::ClientContext upload;
  v1::WriteResponse written;
  auto writer = blobs_->Write(&upload, &written);
  for (int i = 0; i < kPieces; ++i) {
    v1::WriteRequest message;
    if (i == 0) *message.mutable_digest() = DigestOf(all);
    message.set_write_offset(static_cast<int64_t>(i) * static_cast<int64_t>(piece.size()));
    message.set_data(piece);
    message.set_finish_write(i == kPieces - 1);
    ASSERT_TRUE(writer->Write(message));
  }
  writer->WritesDone();
  ASSERT_TRUE(writer->Finish().ok());
  grpc::ClientContext download;
  v1::ReadRequest request;
  *request.mutable_digest() = DigestOf(all);
  auto reader = blobs_->Read(&download, request);
  size_t bytes = 0;
  for (v1::ReadResponse message; reader->Read(&message); absl::SleepFor(absl::Milliseconds(10))) {
    bytes += message.data().size();
  }
  ASSERT_TRUE(reader->Finish().ok());
  EXPECT_EQ(bytes, all.size());
  const absl::Time start = absl::Now();
  kill(server->pid(), SIGTERM);
  EXPECT_EQ(server->Wait().ToString(), "exit code 0");
  EXPECT_LT(absl::Now() - start, absl::Seconds(8));
}

TEST_F(HalftonedTest, AcknowledgedJobSurvivesAKill) {
  std::string name;
  {
    const auto server = StartServer();
    name = Submit("slow.onnx");
    Watch(name, /*until_progress=*/true);
    kill(server->pid(), SIGKILL);
    EXPECT_EQ(server->Wait().code, SIGKILL);
  }
  const auto server = StartServer();
  const std::vector<v1::JobEvent> events = Watch(name, /*until_progress=*/false);
  ASSERT_FALSE(events.empty());
  for (size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].seq(), static_cast<int64_t>(i) + 1);
  EXPECT_EQ(events.back().state(), v1::JOB_STATE_SUCCEEDED);
}

TEST_F(HalftonedTest, SecondServerHasItsOwnExitCode) {
  const auto first = StartServer();
  const auto second = Spawn({"--data=" + Path("data"), "--listen=127.0.0.1:0"});
  EXPECT_EQ(second->Wait().code, 2);
  EXPECT_TRUE(absl::StrContains(second->StderrTail(), "another halftoned")) << second->StderrTail();
}

TEST_F(HalftonedTest, WrongFlags) {
  const std::string data = "--data=" + Path("data");
  const std::vector<std::vector<std::string>> wrong = {
      {}, {"--no-such-flag"}, {data, "argument"}, {data, "--listen=nonsense"}, {data, "--listen=0.0.0.0:0"}};
  for (const std::vector<std::string>& args : wrong) {
    const auto server = Spawn(args);
    EXPECT_EQ(server->Wait().code, 1) << server->StderrTail();
    EXPECT_NE(server->StderrTail(), "");
  }
}

}  // namespace
}  // namespace halftone::server

// SPDX-License-Identifier: Apache-2.0
// What a server is beside its two services: health, reflection, metrics, limits, one owner of the data folder.

#include "server/rpc/server.h"

#include <arpa/inet.h>
#include <grpcpp/generic/generic_stub.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/fd.h"
#include "server/rpc/testing.h"

namespace halftone::server {
namespace {

std::string ToString(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return bytes;
}

grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

class WholeServerTest : public ServerTest {
 protected:
  // One call with bytes instead of messages, so that no stub of health or reflection is needed.
  grpc::Status Call(const std::string& method, const std::string& request, std::string* response) {
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    auto call = stub.PrepareUnaryCall(&context, method, ToBuffer(request), &queue);
    call->StartCall();
    grpc::ByteBuffer buffer;
    grpc::Status status;
    call->Finish(&buffer, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    if (status.ok()) *response = ToString(buffer);
    return status;
  }

  std::string Scrape() {
    UniqueFd fd(socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(server_->metrics_port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    const std::string request = "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n";
    EXPECT_EQ(write(fd.get(), request.data(), request.size()), static_cast<ssize_t>(request.size()));
    std::string page;
    char buffer[4096];
    for (ssize_t got; (got = read(fd.get(), buffer, sizeof(buffer))) > 0;)
      page.append(buffer, static_cast<size_t>(got));
    return page;
  }
};

// HealthCheckRequest {service = 1}, HealthCheckResponse {status = 1: SERVING 1, NOT_SERVING 2}.
TEST_F(WholeServerTest, Health) {
  std::string response;
  ASSERT_TRUE(Call("/grpc.health.v1.Health/Check", "", &response).ok());
  EXPECT_EQ(response, "\x08\x01");
  const std::string name = "halftone.v1.ModelOptimizer";
  ASSERT_TRUE(Call("/grpc.health.v1.Health/Check", absl::StrCat("\x0a\x1a", name), &response).ok());
  EXPECT_EQ(response, "\x08\x01");
  EXPECT_EQ(Call("/grpc.health.v1.Health/Check", "\x0a\x01x", &response).error_code(), grpc::NOT_FOUND);
}

TEST_F(WholeServerTest, HealthWatchSaysNotServingAtShutdown) {
  grpc::GenericStub stub(channel_);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  void* tag = nullptr;
  bool ok = false;
  auto call = stub.PrepareCall(&context, "/grpc.health.v1.Health/Watch", &queue);
  call->StartCall(nullptr);
  queue.Next(&tag, &ok);
  call->WriteLast(ToBuffer(""), grpc::WriteOptions(), nullptr);
  queue.Next(&tag, &ok);
  grpc::ByteBuffer buffer;
  call->Read(&buffer, nullptr);
  queue.Next(&tag, &ok);
  EXPECT_EQ(ToString(buffer), "\x08\x01");
  std::thread shutdown([this] { server_->Shutdown(); });
  call->Read(&buffer, nullptr);
  queue.Next(&tag, &ok);
  EXPECT_TRUE(ok);
  EXPECT_EQ(ToString(buffer), "\x08\x02");
  context.TryCancel();
  shutdown.join();
}

// ServerReflectionRequest {list_services = 7}; the response holds the names.
TEST_F(WholeServerTest, Reflection) {
  grpc::GenericStub stub(channel_);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  void* tag = nullptr;
  bool ok = false;
  auto call = stub.PrepareCall(&context, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue);
  call->StartCall(nullptr);
  queue.Next(&tag, &ok);
  call->WriteLast(ToBuffer(std::string("\x3a\x01*", 3)), grpc::WriteOptions(), nullptr);
  queue.Next(&tag, &ok);
  grpc::ByteBuffer buffer;
  call->Read(&buffer, nullptr);
  queue.Next(&tag, &ok);
  ASSERT_TRUE(ok);
  for (const char* name : {"halftone.v1.ModelOptimizer", "halftone.v1.Blobs", "grpc.health.v1.Health"}) {
    EXPECT_TRUE(absl::StrContains(ToString(buffer), name)) << name;
  }
  context.TryCancel();
}

TEST_F(WholeServerTest, MetricsAreExact) {
  metrics_address_ = "127.0.0.1:0";
  Start();
  const std::string before = Scrape();
  EXPECT_TRUE(absl::StrContains(before, "halftone_grpc_requests_total{code=\"OK\",method=\"GetJob\"} 0")) << before;
  EXPECT_TRUE(absl::StrContains(before, "halftone_build_info{version=\""));
  const std::string name = Submit("ok.onnx");
  ASSERT_TRUE(Watch(name, 0).ok());
  Watch(Submit("error.onnx"), 0).ok();
  v1::Job job;
  Create(v1::JobSpec(), &job).ok();
  std::string page = Scrape();
  const std::string last =
      "halftone_jobs_finished_total{kind=\"inspect\",outcome=\"failed\"} 1";  // counted just after the event
  for (int i = 0; i < 100 && !absl::StrContains(page, last); ++i) page = Scrape();
  for (const char* line : {
           "halftone_grpc_requests_total{code=\"OK\",method=\"CreateJob\"} 2",
           "halftone_grpc_requests_total{code=\"INVALID_ARGUMENT\",method=\"CreateJob\"} 1",
           "halftone_grpc_requests_total{code=\"OK\",method=\"WatchJob\"} 2",
           "halftone_grpc_request_seconds_count{method=\"CreateJob\"} 3",
           "halftone_jobs{state=\"succeeded\"} 1",
           "halftone_jobs{state=\"failed\"} 1",
           "halftone_jobs{state=\"queued\"} 0",
           "halftone_jobs_finished_total{kind=\"inspect\",outcome=\"succeeded\"} 1",
           "halftone_jobs_finished_total{kind=\"inspect\",outcome=\"failed\"} 1",
           "halftone_jobs_finished_total{kind=\"bench\",outcome=\"failed\"} 0",
           "halftone_int8_ranges_total{source=\"cache\"} 0",
           "halftone_job_stage_seconds_sum{kind=\"inspect\",stage=\"import\"} 0.25",
       }) {
    EXPECT_TRUE(absl::StrContains(page, line)) << line;
  }
  EXPECT_FALSE(absl::StrContains(page, "halftone_grpc_received_bytes_total{method=\"Write\"} 0"));
}

TEST_F(WholeServerTest, CompressedMessageFailsAndIsNotInflated) {
  for (const grpc_compression_algorithm algorithm : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    grpc::ClientContext context;
    context.set_compression_algorithm(algorithm);
    v1::CreateJobRequest request;
    *request.mutable_spec() = InspectJob(std::string(100'000, 'x'));
    v1::Job job;
    const grpc::Status status = jobs_->CreateJob(&context, request, &job);
    EXPECT_EQ(status.error_code(), grpc::UNIMPLEMENTED) << status.error_message();
  }
  EXPECT_TRUE(Upload("still alive").ok());
}

TEST_F(WholeServerTest, MessageOverTheLimit) {
  EXPECT_EQ(Upload(std::string(2 << 20, 'x')).error_code(), grpc::RESOURCE_EXHAUSTED);
}

TEST_F(WholeServerTest, SecondServerOnTheSameDataIsRefused) {
  Server::Options options;
  options.listen = "unix:" + dir_.path() + "/second";
  options.data = dir_.path() + "/data";
  const absl::Status status = Server::Start(options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), "another halftoned")) << status;
}

TEST_F(WholeServerTest, Addresses) {
  const auto start = [this](const std::string& listen, const std::string& metrics = "") {
    Server::Options options;
    options.listen = listen;
    options.metrics = metrics;
    options.data = dir_.path() + "/other";
    options.worker = FakeWorkerPath();
    return Server::Start(options);
  };
  auto free_port = start("127.0.0.1:0");
  ASSERT_TRUE(free_port.ok()) << free_port.status();
  EXPECT_GT((*free_port)->port(), 0);
  EXPECT_EQ((*free_port)->address(), absl::StrCat("127.0.0.1:", (*free_port)->port()));
  const std::string taken = (*free_port)->address();
  Server::Options options;
  options.listen = taken;
  options.data = dir_.path() + "/third";
  EXPECT_EQ(Server::Start(options).status().code(), absl::StatusCode::kInvalidArgument) << "the port is taken";
  free_port->reset();
  for (const char* bad :
       {"", "127.0.0.1", ":50051", "127.0.0.1:x", "127.0.0.1:99999", "::1:80", "unix:", "0.0.0.0:0", "[::]:0"}) {
    EXPECT_EQ(start(bad).status().code(), absl::StatusCode::kInvalidArgument) << bad;
  }
  EXPECT_EQ(start("127.0.0.1:0", "nonsense").status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace halftone::server

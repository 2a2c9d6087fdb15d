// SPDX-License-Identifier: Apache-2.0
// Connecting, health, and the calls that are not streams.

#include "client/client.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "absl/random/random.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "base/fd.h"
#include "base/sha256.h"
#include "base/status.h"
#include "client/call.h"
#include "google/protobuf/wrappers.pb.h"
#include "grpc/grpc.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"

namespace halftone::client {
namespace {

constexpr int kKeepaliveMs = 60'000;
constexpr int kKeepaliveTimeoutMs = 20'000;
constexpr int kReconnectMs = 100;
constexpr int kLongestReconnectMs = 5'000;
constexpr absl::Duration kRefusedPatience = absl::Seconds(2);  // a refused connection is not tried for longer
constexpr int kPageSize = 200;
constexpr size_t kReadBytes = 1 << 20;

absl::Status CheckAddress(absl::string_view address) {
  if (absl::ConsumePrefix(&address, "unix:")) {
    if (!address.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError("server address 'unix:': a path is expected after the colon");
  }
  const size_t colon = address.rfind(':');
  int port = 0;
  const bool is_host_and_port = colon != absl::string_view::npos && colon > 0 &&
                                absl::SimpleAtoi(address.substr(colon + 1), &port) && port > 0 && port < 65536;
  if (is_host_and_port) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("server address '", address, "': HOST:PORT or unix:PATH is expected, for example localhost:50051"));
}

bool IsThisMachine(absl::string_view address) {
  return absl::StartsWith(address, "unix:") || absl::StartsWith(address, "localhost:") ||
         absl::StartsWith(address, "127.") || absl::StartsWith(address, "[::1]:");
}

// gRPC ends its threads with its last object, and after a large write one of them may be in a poll of 10 s: the end of
// a short program, or of a client, would wait for it. So gRPC is kept for as long as the process lives.
void KeepGrpc() {
  static const bool kept = (grpc_init(), true);
  static_cast<void>(kept);
}

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address) {
  KeepGrpc();
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kReconnectMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLongestReconnectMs);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // one client, one connection
  if (IsThisMachine(address)) arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

absl::Status WaitUntilConnected(grpc::Channel& channel, const ClientOptions& options) {
  const absl::Time start = absl::Now();
  bool refused = false;
  while (true) {
    const grpc_connectivity_state state = channel.GetState(/*try_to_connect=*/true);
    if (state == GRPC_CHANNEL_READY) return absl::OkStatus();
    refused |= state == GRPC_CHANNEL_TRANSIENT_FAILURE;
    const absl::Duration patience =
        refused ? std::min(kRefusedPatience, options.connect_timeout) : options.connect_timeout;
    const bool cancelled = options.cancellation != nullptr && options.cancellation->cancelled();
    if (cancelled) return absl::CancelledError("interrupted");
    if (absl::Now() - start >= patience) {
      return absl::UnavailableError(absl::StrCat("server unreachable at ", options.address));
    }
    channel.WaitForStateChange(state, absl::ToChronoTime(absl::Now() + absl::Milliseconds(100)));
  }
}

}  // namespace

bool IsFinal(v1::JobState state) {
  return state == v1::JOB_STATE_SUCCEEDED || state == v1::JOB_STATE_FAILED || state == v1::JOB_STATE_CANCELLED;
}

std::string NewRequestId() {
  absl::BitGen random;
  return absl::StrFormat("%016x%016x", absl::Uniform<uint64_t>(random), absl::Uniform<uint64_t>(random));
}

absl::StatusOr<LocalBlob> DescribeFile(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.ok()) return ErrnoToStatus(errno, path);
  struct stat info;
  if (fstat(fd.get(), &info) != 0) return ErrnoToStatus(errno, path);
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  Sha256 hash;
  std::string buffer(kReadBytes, '\0');
  int64_t size = 0;
  while (true) {
    const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoToStatus(errno, path);
    if (got == 0) break;
    hash.Update({buffer.data(), static_cast<size_t>(got)});
    size += got;
  }
  LocalBlob blob{path, {}};
  blob.digest.set_sha256(hash.Hex());
  blob.digest.set_size_bytes(size);
  return blob;
}

Client::Client(const ClientOptions& options, std::shared_ptr<grpc::Channel> channel)
    : options_(options),
      channel_(std::move(channel)),
      jobs_(v1::ModelOptimizer::NewStub(channel_)),
      blobs_(v1::Blobs::NewStub(channel_)) {}

absl::StatusOr<std::unique_ptr<Client>> Client::Connect(const ClientOptions& options) {
  HALFTONE_RETURN_IF_ERROR(CheckAddress(options.address));
  std::shared_ptr<grpc::Channel> channel = MakeChannel(options.address);
  HALFTONE_RETURN_IF_ERROR(WaitUntilConnected(*channel, options));
  return std::unique_ptr<Client>(new Client(options, std::move(channel)));
}

absl::Status Client::WithContext(absl::Status status) const {
  if (!status.ok() && cancelled()) return absl::CancelledError("interrupted");
  return status;
}

absl::StatusOr<v1::Capabilities> Client::GetCapabilities() {
  return Call(*jobs_, &v1::ModelOptimizer::StubInterface::GetCapabilities, v1::GetCapabilitiesRequest());
}

absl::Status Client::CheckHealth(absl::Duration timeout) {
  // The messages of grpc.health.v1 have the wire form of these wrappers: a string 1, an enum 1.
  constexpr int kServing = 1;
  grpc::TemplatedGenericStub<google::protobuf::StringValue, google::protobuf::Int32Value> stub(channel_);
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
  const Cancellation::Call call(options_.cancellation, &context);
  grpc::CompletionQueue queue;
  auto rpc = stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", {}, &queue);
  rpc->StartCall();
  google::protobuf::Int32Value response;
  grpc::Status status;
  rpc->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  if (!status.ok()) return WithContext(FromGrpc(status));
  if (response.value() == kServing) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("the server at ", address(), " is up but not serving"));
}

absl::StatusOr<v1::Job> Client::CreateJob(const v1::JobSpec& spec, const std::string& request_id) {
  v1::CreateJobRequest request;
  *request.mutable_spec() = spec;
  request.set_request_id(request_id);
  return Call(*jobs_, &v1::ModelOptimizer::StubInterface::CreateJob, request);
}

absl::StatusOr<v1::Job> Client::GetJob(const std::string& name) {
  v1::GetJobRequest request;
  request.set_name(name);
  return Call(*jobs_, &v1::ModelOptimizer::StubInterface::GetJob, request);
}

absl::StatusOr<v1::Job> Client::CancelJob(const std::string& name) {
  v1::CancelJobRequest request;
  request.set_name(name);
  return Call(*jobs_, &v1::ModelOptimizer::StubInterface::CancelJob, request);
}

absl::StatusOr<std::vector<v1::Job>> Client::ListJobs(v1::JobState state, int limit) {
  std::vector<v1::Job> jobs;
  v1::ListJobsRequest request;
  request.set_state(state);
  while (static_cast<int>(jobs.size()) < limit) {
    request.set_page_size(std::min(kPageSize, limit - static_cast<int>(jobs.size())));
    HALFTONE_ASSIGN_OR_RETURN(v1::ListJobsResponse page,
                              Call(*jobs_, &v1::ModelOptimizer::StubInterface::ListJobs, request));
    for (v1::Job& job : *page.mutable_jobs()) jobs.push_back(std::move(job));
    if (page.next_page_token().empty()) break;
    request.set_page_token(page.next_page_token());
  }
  return jobs;
}

}  // namespace halftone::client

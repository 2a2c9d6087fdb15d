// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/server.h"

#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>

#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/status.h"
#include "base/version.h"
#include "server/rpc/address.h"

namespace halftone::server {
namespace {

constexpr int kReceiveLimit = kMaxMessageBytes + (64 << 10);  // so that a message a little too large gets our own error
constexpr int kMaxStreams = 256;                              // of one connection
constexpr int kMaxThreads = 1024;
constexpr size_t kMaxMemory = size_t{1} << 30;
constexpr std::chrono::seconds kCallsEnd(10);

void LogOfGrpc(gpr_log_func_args* args) {
  LogLine(args->severity == GPR_LOG_SEVERITY_ERROR ? "ERROR" : "INFO", args->message)
      .With("source", absl::StrCat("grpc:", args->file, ":", args->line));
}

// Health and reflection are plugins of all servers that are built later. What gRPC itself logs becomes JSON as well.
// The library is kept until the process ends: once a message has filled a socket, a thread of it waits up to 10 s for
// events of that socket, and the end of the library waits for the thread (tcp_posix.cc of gRPC 1.51).
void SetUpGrpc() {
  static std::once_flag once;
  std::call_once(once, [] {
    grpc_init();
    gpr_set_log_function(&LogOfGrpc);
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  });
}

void Configure(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(kReceiveLimit);
  // A small compressed message can become a huge one before any limit sees it: none is inflated.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // two servers on one port would share its clients
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreams);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 30'000);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, 15 * 60'000);
  grpc::ResourceQuota quota("halftoned");
  quota.Resize(kMaxMemory).SetMaxThreads(kMaxThreads);
  builder.SetResourceQuota(quota);
}

RangesCache::Options RangesIn(const DataDir& data, const std::string& shared) {
  if (shared.empty()) return {.dir = data.ranges()};
  return {.dir = shared, .shared = true};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const Options& options) {
  SetUpGrpc();
  HALFTONE_ASSIGN_OR_RETURN(DataDir data, DataDir::Open(options.data));
  HALFTONE_ASSIGN_OR_RETURN(std::unique_ptr<BlobStore> blobs,
                            BlobStore::Open(data.path(), {.max_blob_bytes = options.max_blob_bytes}));
  HALFTONE_ASSIGN_OR_RETURN(std::unique_ptr<JobStore> store, JobStore::Open(data.database()));
  std::unique_ptr<Server> server(new Server(options, std::move(data), std::move(blobs), std::move(store)));
  HALFTONE_RETURN_IF_ERROR(server->Listen(options));
  server->runner_.Start();
  LogInfo("server started")
      .With("version", kVersion)
      .With("address", server->address_)
      .With("data", server->data_.path())
      .With("worker", options.worker)
      .With("metrics_port", server->metrics_port());
  return server;
}

Server::Server(const Options& options, DataDir data, std::unique_ptr<BlobStore> blobs, std::unique_ptr<JobStore> store)
    : data_(std::move(data)),
      blobs_(std::move(blobs)),
      store_(std::move(store)),
      runner_(*store_, *blobs_, metrics_,
              {.worker = options.worker,
               .work_dir = data_.work(),
               .ranges = RangesIn(data_, options.ranges_cache),
               .grace = options.grace}),
      jobs_(*store_, *blobs_, runner_, metrics_),
      model_optimizer_(jobs_, *blobs_, runner_, metrics_),
      blobs_service_(*blobs_, metrics_) {}

Server::~Server() { Shutdown(); }

absl::Status Server::Listen(const Options& options) {
  HALFTONE_ASSIGN_OR_RETURN(Address address, ParseAddress(options.listen));
  if (!address.IsLocal() && !options.insecure) {
    return absl::InvalidArgumentError(absl::StrCat("refusing to listen on ", address.ToString(),
                                                   " without encryption: use 127.0.0.1, a Unix socket, or --insecure"));
  }
  if (!options.metrics.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(metrics_server_, MetricsServer::Start(options.metrics, metrics_, *store_));
  }
  grpc::ServerBuilder builder;
  Configure(builder);
  builder.AddListeningPort(address.ToString(), grpc::InsecureServerCredentials(), &port_);
  builder.RegisterService(&model_optimizer_);
  builder.RegisterService(&blobs_service_);
  grpc_ = builder.BuildAndStart();
  if (grpc_ == nullptr || (!address.is_unix && port_ == 0)) {
    return absl::InvalidArgumentError(absl::StrCat("cannot listen on ", address.ToString(), ": is it taken?"));
  }
  if (address.is_unix) port_ = 0;
  address.port = port_;
  address_ = address.ToString();
  grpc::HealthCheckServiceInterface& health = *grpc_->GetHealthCheckService();
  health.SetServingStatus(v1::ModelOptimizer::service_full_name(), true);
  health.SetServingStatus(v1::Blobs::service_full_name(), true);
  return absl::OkStatus();
}

void Server::Shutdown() {
  if (shut_down_) return;
  shut_down_ = true;
  if (grpc_ == nullptr) return;  // it never listened
  LogInfo("server is shutting down");
  grpc_->GetHealthCheckService()->SetServingStatus(false);
  jobs_.Shutdown();
  std::thread children([this] { runner_.Shutdown(); });  // at the same time: a child may take its grace
  grpc_->Shutdown(std::chrono::system_clock::now() + kCallsEnd);
  children.join();
  LogInfo("server has shut down");
}

}  // namespace halftone::server

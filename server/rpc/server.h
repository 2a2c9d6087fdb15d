// SPDX-License-Identifier: Apache-2.0
// Server: everything of halftoned that lives from start to end, put together in the one right order.

#ifndef HALFTONE_SERVER_RPC_SERVER_H_
#define HALFTONE_SERVER_RPC_SERVER_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/core/blob_store.h"
#include "server/core/data_dir.h"
#include "server/core/job_runner.h"
#include "server/core/job_store.h"
#include "server/core/jobs.h"
#include "server/rpc/metrics.h"
#include "server/rpc/services.h"

namespace halftone::server {

// Made and shut down by one thread; its parts are thread-safe.
class Server {
 public:
  struct Options {
    std::string listen = "127.0.0.1:50051";  // host:port (0: a free one) or unix:/path
    std::string metrics;                     // host:port; empty: none
    std::string data;                        // folder
    std::string ranges_cache;                // folder that is shared with other servers; empty: one within `data`
    std::string worker;                      // program
    int64_t max_blob_bytes = int64_t{16} << 30;
    bool insecure = false;                    // may listen without TLS where others can reach it
    absl::Duration grace = absl::Seconds(5);  // between SIGTERM and SIGKILL of a child
  };

  // FAILED_PRECONDITION: another server has the data folder. INVALID_ARGUMENT: an address is wrong or taken.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const Options& options);

  ~Server();  // as Shutdown

  // Where clients reach it, with the port that was taken: "127.0.0.1:41234" or "unix:/path".
  const std::string& address() const { return address_; }
  int port() const { return port_; }  // 0 for a Unix socket
  int metrics_port() const { return metrics_server_ == nullptr ? 0 : metrics_server_->port(); }

  // Health says NOT_SERVING, streams end with UNAVAILABLE, the running job goes back into the queue, calls have ten
  // seconds to end. A second call does nothing.
  void Shutdown();

 private:
  Server(const Options& options, DataDir data, std::unique_ptr<BlobStore> blobs, std::unique_ptr<JobStore> store);

  absl::Status Listen(const Options& options);

  const DataDir data_;
  const std::unique_ptr<BlobStore> blobs_;
  const std::unique_ptr<JobStore> store_;
  Metrics metrics_;
  JobRunner runner_;
  Jobs jobs_;
  ModelOptimizerService model_optimizer_;
  BlobsService blobs_service_;
  std::unique_ptr<MetricsServer> metrics_server_;
  std::unique_ptr<grpc::Server> grpc_;
  std::string address_;
  int port_ = 0;
  bool shut_down_ = false;
};

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_RPC_SERVER_H_

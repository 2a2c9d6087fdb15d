// SPDX-License-Identifier: Apache-2.0
// Metrics: everything that /metrics shows.
//
//   halftone_build_info{version}                       halftone_jobs{state}
//   halftone_grpc_requests_total{method,code}          halftone_jobs_finished_total{kind,outcome}
//   halftone_grpc_request_seconds{method}              halftone_job_stage_seconds{kind,stage}
//   halftone_grpc_received_bytes_total{method}         halftone_grpc_sent_bytes_total{method}
//   halftone_int8_ranges_total{source}

#ifndef HALFTONE_SERVER_RPC_METRICS_H_
#define HALFTONE_SERVER_RPC_METRICS_H_

#include <prometheus/collectable.h>
#include <prometheus/registry.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/core/job_store.h"
#include "server/core/observer.h"

namespace prometheus {
class Exposer;
}

namespace halftone::server {

// What one call moved and how it ended.
struct CallRecord {
  std::string_view method;
  std::string code;
  double seconds = 0;
  int64_t bytes_in = 0;
  int64_t bytes_out = 0;
};

// Thread-safe.
class Metrics final : public JobObserver {
 public:
  Metrics();

  void OnCall(const CallRecord& call);
  void OnJobFinished(std::string_view kind, v1::JobState outcome) override;
  void OnStage(std::string_view kind, std::string_view stage, double seconds) override;
  void OnRanges(bool from_cache) override;

  std::shared_ptr<prometheus::Registry> registry() { return registry_; }

 private:
  // Stage names come from children: odd ones, and more than a few, count as "other".
  std::string StageLabel(std::string_view stage);

  const std::shared_ptr<prometheus::Registry> registry_;
  prometheus::Family<prometheus::Counter>& requests_;
  prometheus::Family<prometheus::Histogram>& request_seconds_;
  prometheus::Family<prometheus::Counter>& received_;
  prometheus::Family<prometheus::Counter>& sent_;
  prometheus::Family<prometheus::Counter>& finished_;
  prometheus::Family<prometheus::Histogram>& stage_seconds_;
  prometheus::Family<prometheus::Counter>& ranges_;

  absl::Mutex mutex_;
  std::set<std::string, std::less<>> stages_ ABSL_GUARDED_BY(mutex_);
};

// halftone_jobs{state}, counted in the store at each scrape: right also after a restart. Thread-safe.
class JobCounts final : public prometheus::Collectable {
 public:
  explicit JobCounts(JobStore& store) : store_(store) {}

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  JobStore& store_;
};

// Serves http://ADDRESS/metrics while it lives. Thread-safe.
class MetricsServer {
 public:
  // `address` is host:port; port 0 takes a free one. INVALID_ARGUMENT: cannot listen there.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(const std::string& address, Metrics& metrics,
                                                              JobStore& store);
  ~MetricsServer();

  int port() const;

 private:
  MetricsServer(std::unique_ptr<prometheus::Exposer> exposer, std::shared_ptr<JobCounts> counts);

  const std::shared_ptr<JobCounts> counts_;  // the exposer holds only weak references
  const std::unique_ptr<prometheus::Exposer> exposer_;
};

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_RPC_METRICS_H_

// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/version.h"
#include "server/core/spec.h"

namespace halftone::server {
namespace {

using ::prometheus::BuildCounter;
using ::prometheus::BuildGauge;
using ::prometheus::BuildHistogram;
using ::prometheus::Histogram;

constexpr size_t kMaxStages = 24;
constexpr size_t kMaxStageBytes = 32;
constexpr std::string_view kMethods[] = {"GetCapabilities", "CreateJob",        "GetJob", "ListJobs",   "WatchJob",
                                         "CancelJob",       "FindMissingBlobs", "Write",  "QueryWrite", "Read"};
constexpr std::string_view kKinds[] = {"optimize", "inspect", "run", "bench", "profile"};

Histogram::BucketBoundaries RequestBuckets() {
  return {.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30};
}

Histogram::BucketBoundaries StageBuckets() {
  return {.01, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600};
}

// As Calibration.source in the report.
std::string RangesLabel(bool from_cache) { return from_cache ? "cache" : "samples"; }

}  // namespace

Metrics::Metrics()
    : registry_(std::make_shared<prometheus::Registry>()),
      requests_(BuildCounter()
                    .Name("halftone_grpc_requests_total")
                    .Help("Calls that ended, by gRPC code.")
                    .Register(*registry_)),
      request_seconds_(BuildHistogram()
                           .Name("halftone_grpc_request_seconds")
                           .Help("Time from call to response.")
                           .Register(*registry_)),
      received_(BuildCounter()
                    .Name("halftone_grpc_received_bytes_total")
                    .Help("Bytes of messages received.")
                    .Register(*registry_)),
      sent_(BuildCounter().Name("halftone_grpc_sent_bytes_total").Help("Bytes of messages sent.").Register(*registry_)),
      finished_(BuildCounter()
                    .Name("halftone_jobs_finished_total")
                    .Help("Jobs that reached a final state.")
                    .Register(*registry_)),
      stage_seconds_(
          BuildHistogram().Name("halftone_job_stage_seconds").Help("Time of one stage of a job.").Register(*registry_)),
      ranges_(BuildCounter()
                  .Name("halftone_int8_ranges_total")
                  .Help("Ranges of int8 for calibration samples: made of them, or by an earlier job.")
                  .Register(*registry_)) {
  BuildGauge()
      .Name("halftone_build_info")
      .Help("Always 1; the labels say which build this is.")
      .Register(*registry_)
      .Add({{"version", kVersion}})
      .Set(1);
  for (const std::string_view method : kMethods) {  // known series begin at 0
    requests_.Add({{"method", std::string(method)}, {"code", "OK"}});
    received_.Add({{"method", std::string(method)}});
    sent_.Add({{"method", std::string(method)}});
  }
  for (const bool from_cache : {false, true}) ranges_.Add({{"source", RangesLabel(from_cache)}});
  for (const std::string_view kind : kKinds) {
    for (const v1::JobState state : {v1::JOB_STATE_SUCCEEDED, v1::JOB_STATE_FAILED, v1::JOB_STATE_CANCELLED}) {
      finished_.Add({{"kind", std::string(kind)}, {"outcome", StateName(state)}});
    }
  }
}

void Metrics::OnCall(const CallRecord& call) {
  const std::string method(call.method);
  requests_.Add({{"method", method}, {"code", call.code}}).Increment();
  request_seconds_.Add({{"method", method}}, RequestBuckets()).Observe(call.seconds);
  received_.Add({{"method", method}}).Increment(static_cast<double>(call.bytes_in));
  sent_.Add({{"method", method}}).Increment(static_cast<double>(call.bytes_out));
}

void Metrics::OnJobFinished(std::string_view kind, v1::JobState outcome) {
  finished_.Add({{"kind", std::string(kind)}, {"outcome", StateName(outcome)}}).Increment();
}

void Metrics::OnStage(std::string_view kind, std::string_view stage, double seconds) {
  stage_seconds_.Add({{"kind", std::string(kind)}, {"stage", StageLabel(stage)}}, StageBuckets()).Observe(seconds);
}

void Metrics::OnRanges(bool from_cache) { ranges_.Add({{"source", RangesLabel(from_cache)}}).Increment(); }

std::string Metrics::StageLabel(std::string_view stage) {
  const bool plain = !stage.empty() && stage.size() <= kMaxStageBytes &&
                     std::all_of(stage.begin(), stage.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
  const absl::MutexLock lock(&mutex_);
  if (plain && (stages_.contains(stage) || stages_.size() < kMaxStages)) return *stages_.emplace(stage).first;
  return "other";
}

std::vector<prometheus::MetricFamily> JobCounts::Collect() const {
  prometheus::MetricFamily family;
  family.name = "halftone_jobs";
  family.help = "Jobs by state.";
  family.type = prometheus::MetricType::Gauge;
  const absl::StatusOr<std::map<v1::JobState, int64_t>> counts = store_.CountByState();
  if (!counts.ok()) {
    LogError("cannot count jobs").With("error", counts.status().message());
    return {};
  }
  for (const auto& [state, count] : *counts) {
    prometheus::ClientMetric metric;
    metric.label.push_back({"state", StateName(state)});
    metric.gauge.value = static_cast<double>(count);
    family.metric.push_back(std::move(metric));
  }
  return {std::move(family)};
}

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(const std::string& address, Metrics& metrics,
                                                                    JobStore& store) {
  try {  // the library's only way to say that it cannot listen
    auto exposer = std::make_unique<prometheus::Exposer>(address, /*num_threads=*/2);
    auto counts = std::make_shared<JobCounts>(store);
    exposer->RegisterCollectable(metrics.registry());
    exposer->RegisterCollectable(counts);
    return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(exposer), std::move(counts)));
  } catch (const std::exception&) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot serve metrics on '", address, "': host:port of a free port is expected"));
  }
}

MetricsServer::MetricsServer(std::unique_ptr<prometheus::Exposer> exposer, std::shared_ptr<JobCounts> counts)
    : counts_(std::move(counts)), exposer_(std::move(exposer)) {}

MetricsServer::~MetricsServer() = default;

int MetricsServer::port() const {
  const std::vector<int> ports = exposer_->GetListeningPorts();
  return ports.empty() ? 0 : ports.front();
}

}  // namespace halftone::server

// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/summary.h"

#include <algorithm>

#include "runtime/measure/statistics.h"

namespace halftone {
namespace {

constexpr double kNsInMs = 1e6;
constexpr double kMsInSecond = 1e3;

double InferenceMs(int64_t ns, int64_t inferences) {
  return static_cast<double>(ns) / static_cast<double>(inferences) / kNsInMs;
}

// Inferences in a second of all processes.
double PerSecond(const RoundSamples& round) {
  double sum = 0;
  for (const TimedSamples& process : round) {
    int64_t ns = 0;
    for (const int64_t sample : process.ns) ns += sample;
    sum += kMsInSecond / InferenceMs(ns, static_cast<int64_t>(process.ns.size()) * process.inferences_per_sample);
  }
  return sum;
}

double RoundMs(const RoundSamples& round) {
  if (round.size() > 1) return kMsInSecond / PerSecond(round);
  std::vector<double> ms;
  ms.reserve(round[0].ns.size());
  for (const int64_t ns : round[0].ns) ms.push_back(InferenceMs(ns, round[0].inferences_per_sample));
  return Median(ms);
}

}  // namespace

SampleSummary Summarize(std::span<const RoundSamples> rounds, bool with_percentiles) {
  SampleSummary summary;
  std::vector<double> all_ms;
  std::vector<double> per_second;
  for (const RoundSamples& round : rounds) {
    for (const TimedSamples& process : round) {
      for (const int64_t ns : process.ns) all_ms.push_back(InferenceMs(ns, process.inferences_per_sample));
    }
    summary.round_ms.push_back(RoundMs(round));
    per_second.push_back(PerSecond(round));
  }
  summary.samples = static_cast<int64_t>(all_ms.size());
  summary.median_ms = Median(all_ms);
  summary.min_ms = *std::min_element(all_ms.begin(), all_ms.end());
  summary.mad_ms = MedianAbsoluteDeviation(all_ms);
  summary.inferences_per_second = Median(per_second);
  if (with_percentiles) {
    summary.p90_ms = Percentile(all_ms, 0.90);
    summary.p95_ms = Percentile(all_ms, 0.95);
    summary.p99_ms = Percentile(all_ms, 0.99);
    summary.p999_ms = Percentile(all_ms, 0.999);
  }
  return summary;
}

}  // namespace halftone

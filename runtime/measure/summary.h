// SPDX-License-Identifier: Apache-2.0
// What the samples of a benchmark say: the one computation of its figures, for the job that measures and for whoever
// reads the samples out of a report again. Pure arithmetic: the same samples give the same bits.
#ifndef HALFTONE_RUNTIME_MEASURE_SUMMARY_H_
#define HALFTONE_RUNTIME_MEASURE_SUMMARY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace halftone {

// What one process timed in one round. A sample is the time of `inferences_per_sample` inferences in a row (more than
// one where reading the clock would be felt).
struct TimedSamples {
  std::vector<int64_t> ns;
  int64_t inferences_per_sample = 1;
};

// One variant's turn in one round: one entry a process. Several of them measured at the same time.
using RoundSamples = std::vector<TimedSamples>;

struct SampleSummary {
  double median_ms = 0;  // of one inference, over all samples of all rounds; so are the others
  double min_ms = 0;
  double mad_ms = 0;                                      // median absolute deviation from the median
  std::optional<double> p90_ms, p95_ms, p99_ms, p999_ms;  // nullopt: too few samples, see MinimumSamples
  double inferences_per_second = 0;                       // of all processes together, median over rounds
  // Of each round, what rounds are compared by. One process: the median of its samples. Several: the time of which they
  // make one inference together, a second divided by their inferences in a second.
  std::vector<double> round_ms;
  int64_t samples = 0;
};

// REQUIRES: at least one round; each has a process, and each process a sample.
SampleSummary Summarize(std::span<const RoundSamples> rounds, bool with_percentiles);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_MEASURE_SUMMARY_H_

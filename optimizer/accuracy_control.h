// SPDX-License-Identifier: Apache-2.0
// A step of a job: how much each node of int8 costs alone, and the search after an accuracy goal, which tries other
// configs and then lets the worst nodes fall back until the goal holds.
#ifndef HALFTONE_OPTIMIZER_ACCURACY_CONTROL_H_
#define HALFTONE_OPTIMIZER_ACCURACY_CONTROL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/target.h"
#include "optimizer/compare.h"
#include "optimizer/int8_source.h"
#include "optimizer/options.h"
#include "optimizer/progress.h"
#include "optimizer/quantization_configs.h"
#include "optimizer/quantize.h"

namespace halftone {

// What a variant reached of what a goal asks.
struct Reached {
  double top1_drop = 0;  // share of rows: see AccuracyGoal
  double sqnr_db = 0;    // the worst output's
  double cosine = 1;
};

// `baseline` gives the accuracy of fp32 where there are labels.
Reached ReachedBy(const Comparison& variant, std::optional<double> baseline_top1);

// 0 where the goal holds, else how far off: points of top-1, steps of 6 dB (one bit) and hundredths of the cosine,
// added.
double DistanceTo(const AccuracyGoal& goal, const Reached& reached);

// "top-1 drop 0.02 (at most 0.01)", for what the goal asks.
std::string DescribeReached(const AccuracyGoal& goal, const Reached& reached);

// What everything in int8 reached by a config (quantization_configs.h), before nodes fell back.
struct TriedConfig {
  std::string config;
  double top1_drop = 0;  // share of rows: see AccuracyGoal
  double sqnr_db = 0;    // the worst output's
  double cosine = 1;
  bool met = false;  // the goal
};

// What the int8 variant reached of its accuracy goal.
struct GoalResult {
  bool met = false;       // by the outputs of the written file
  int64_t fallbacks = 0;  // nodes that the search keeps out of int8
  int64_t tried = 0;      // whole models that it ran
  double seconds = 0;
  std::string text = {};                  // "top-1 drop 0.00 points (at most 1.00)"
  std::string config = {};                // of the variant
  std::vector<TriedConfig> configs = {};  // in the order of the search; the first is the user's own
};

struct AccuracyControlResult {
  Int8Candidate candidate;           // by the config that came nearest; with `search`, for MakeInt8
  std::vector<TriedConfig> configs;  // in order, the user's own first; none without a goal
  Int8Search search;
  bool goal_met = false;  // also where there is none
  Reached reached;        // of the goal
  int64_t fallbacks = 0;  // nodes that the search keeps out of int8
  int64_t tried = 0;      // whole models that were run
  bool in_time = true;    // false: the budget ended the search
};

// Runs the model with everything in int8 on the evaluation samples (the calibration samples where there are none, else
// random inputs). Where that misses options.int8.goal, one thing after the other about its config is changed
// (ChangesFor) and stays where the model comes nearer to the goal, until it is met. Where it still misses, or
// options.int8.sensitivity asks for it, each int8 node is quantized alone and its outputs for the first four batches
// compared with fp32; where it misses, the fewest of the worst nodes fall back with which it holds: their number is
// doubled until it does and halved again. At options.int8.budget_seconds the nearest so far is the result: no config is
// begun after a quarter of them, no node is quantized alone after half, and the search takes the worst of what was
// measured by then. With fp32 as fallback precision the goal holds at the latest when all nodes fall back. Without a
// goal only the nodes are measured. Runs in this process, on the graph before its export. The ranges of `source` and their file become those of
// the config that came nearest. Errors: those of samples, plans and calibration.
absl::StatusOr<AccuracyControlResult> MeetGoal(Int8Source& source, const Target& target, const OptimizeOptions& options,
                                               const ProgressCallback& progress);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_ACCURACY_CONTROL_H_

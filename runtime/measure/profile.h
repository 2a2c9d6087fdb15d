// SPDX-License-Identifier: Apache-2.0
// Where the time of a plan goes: each step within the run, and the same step alone. For people who look for what can be
// gained; an ordinary run pays nothing for it.
#ifndef HALFTONE_RUNTIME_MEASURE_PROFILE_H_
#define HALFTONE_RUNTIME_MEASURE_PROFILE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "runtime/measure/round_facts.h"
#include "runtime/plan/plan.h"

namespace halftone {

struct ProfileOptions {
  double seconds = 1.5;         // of runs that are timed, half of them step by step
  int min_runs = 5;             // of each kind, even where the time is up
  double alone_seconds = 0.02;  // of one step alone
  int alone_min_runs = 7;
  int cold_runs = 5;
};

struct StepProfile {
  StepInfo info;                   // with the median of its time within runs
  std::optional<double> alone_us;  // best of several on memory of its own; none for what runs inside another step
  std::optional<double> cold_us;   // the same after a run's worth of other memory was read, its inputs warm: median
  double flop = 0;                 // of products and sums of products; 0: none, or not known
  double bytes = 0;                // read and written, packed weights included; 0: not known
  DataType compute_type = DataType::kUnknown;  // in which it multiplies, where flop > 0
  bool conversion = false;                     // of type or layout, put there by the plan: no op of the graph
  int reorders = 0;                            // of oneDNN's, in one run
  std::vector<std::string> verbose;            // oneDNN's lines about it, of one run
};

struct PeakSpeed {
  DataType type = DataType::kUnknown;
  double gflops = 0;
};

struct PlanProfile {
  std::vector<StepProfile> steps;  // in the order that is executed, without those that do nothing
  double whole_us = 0;             // median of runs from tensors to tensors, nothing timed in between
  double whole_min_us = 0;
  int runs = 0;                      // of each kind
  RoundFacts facts;                  // while runs were timed; of what FactsWatch fills
  bool in_parts = false;             // the plan is made while it runs: nothing but times of steps is known
  std::vector<std::string> verbose;  // all that oneDNN said of one run
  PlanMemory memory;
  size_t packed_bytes = 0;       // of kernels: weights in the layout that they want
  size_t weight_bytes = 0;       // of the graph's constants
  std::vector<PeakSpeed> peaks;  // of the types that steps multiply in, measured here

  double StepsUs() const;        // sum of the medians
  double ConversionsUs() const;  // of those that convert
  int Reorders() const;          // as the plan knows them
  int VerboseReorders() const;   // as oneDNN said them
};

// `graph` is what the plan was made of.
absl::StatusOr<PlanProfile> ProfilePlan(Plan& plan, const Graph& graph, std::span<const Tensor> inputs,
                                        const ProfileOptions& options = {});

// Floating-point operations of a node: 2 a product. 0 where there are none or its shapes are not known.
double FlopOf(const Graph& graph, NodeId node);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_MEASURE_PROFILE_H_

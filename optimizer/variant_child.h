// SPDX-License-Identifier: Apache-2.0
// Steps of a job: what a fresh process does with one exported file. Evaluate: runs it over the samples. Measure: times one
// round of it.
//
// The optimizer only describes the work (plain data) and gets plain data back; ChildRunner starts the process. The
// functions at the end are what that process calls.
#ifndef HALFTONE_OPTIMIZER_VARIANT_CHILD_H_
#define HALFTONE_OPTIMIZER_VARIANT_CHILD_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "optimizer/run_spec.h"
#include "optimizer/work_counts.h"
#include "passes/quantize/saturation.h"
#include "runtime/engine.h"
#include "runtime/measure/benchmark.h"

namespace halftone {

// Runs all samples, writes every output into `output_log` (output_log.h) and times the steps.
struct EvaluateSpec {
  RunSpec run;
  std::string output_log;
  bool examine_int8 = false;        // also int8_share and saturation of the result
  std::string prepared_graph = "";  // where to leave the graph for rounds (prepared_graph.h); empty: nowhere
};

struct StepReport {
  std::string name;
  std::string op;
  StepKind kind = StepKind::kKernel;
  Implementation kernel;
  std::string src_type, weights_type, dst_type;
  double median_us = 0;
};

struct EvaluateResult {
  std::vector<StepReport> steps;
  int64_t samples = 0;
  int64_t batch = 1;        // samples of one run, as the inputs are made
  std::string output_hash;  // of the outputs of the first batch, which is the one that rounds time
  std::vector<std::string> warnings;
  double load_ms = 0;                       // the file imported, shapes bound, the graph optimized
  double int8_share = -1;                   // of the MACs of its contractions; -1: not examined
  std::vector<SaturationCheck> saturation;  // of the file
};

struct RoundSpec {
  RunSpec run;
  double seconds = 1;
  int64_t min_samples = 1;
  bool cold = false;
  double slow_down = 0;  // tests only: see RoundOptions
};

// Runs each piece of work in a process of its own. A process that dies is INTERNAL with its signal and the end of stderr.
class ChildRunner {
 public:
  virtual ~ChildRunner() = default;
  virtual absl::StatusOr<EvaluateResult> Evaluate(const EvaluateSpec& spec) = 0;
  // One process for each spec. They begin to measure when the last of them is warm, and none ends before all have
  // measured, so that each has the others beside it all the time. Results in the same order.
  virtual absl::StatusOr<std::vector<RoundResult>> Round(const std::vector<RoundSpec>& specs) = 0;
  // What its processes did so far. Nothing where it starts none.
  virtual WorkCounts work() const { return {}; }
};

// --- In the child.
absl::StatusOr<EvaluateResult> EvaluateVariant(const EvaluateSpec& spec);

// What MeasureVariant does between its parts.
struct RoundHooks {
  std::function<absl::Status()> warm = [] { return absl::OkStatus(); };  // before the measured part
  // After it. `inference` goes on as it was measured, for as long as others still measure.
  std::function<absl::Status(const RoundResult& result, absl::FunctionRef<absl::Status()> inference)> measured =
      [](const RoundResult&, absl::FunctionRef<absl::Status()>) { return absl::OkStatus(); };
};
absl::StatusOr<RoundResult> MeasureVariant(const RoundSpec& spec, const RoundHooks& hooks = {});

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_VARIANT_CHILD_H_

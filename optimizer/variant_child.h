// What a fresh process does with one exported file: run it over samples, or time one round of it.
//
// The optimizer only describes the work (plain data) and gets plain data back; ChildRunner starts the process. The
// functions at the end are what that process calls.
#ifndef HALFTONE_OPTIMIZER_VARIANT_CHILD_H_
#define HALFTONE_OPTIMIZER_VARIANT_CHILD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "optimizer/model.h"
#include "optimizer/samples.h"
#include "runtime/benchmark.h"

namespace halftone {

struct RunSpec {
  ModelSource model;
  bool fuse = true;  // through the optimize pipeline; false: as the file is
  int threads = 1;
  int64_t batch = 1;
  std::vector<SampleFile> samples;  // empty: seeded random inputs
  uint64_t seed = 1;
};

// Runs all samples, writes every output into `output_log` (output_log.h) and times the steps.
struct EvaluateSpec {
  RunSpec run;
  std::string output_log;
  int profile_repetitions = 20;
};

struct StepReport {
  std::string name;
  std::string op;
  std::string kernel;
  std::string src_type, weights_type, dst_type;
  double median_us = 0;
};

struct EvaluateResult {
  std::vector<StepReport> steps;
  int64_t samples = 0;
  std::vector<std::string> warnings;
};

struct RoundSpec {
  RunSpec run;
  double seconds = 1;
};

// Runs each piece of work in a process of its own. A process that dies is INTERNAL with its signal and last words.
class ChildRunner {
 public:
  virtual ~ChildRunner() = default;
  virtual absl::StatusOr<EvaluateResult> Evaluate(const EvaluateSpec& spec) = 0;
  virtual absl::StatusOr<RoundResult> Round(const RoundSpec& spec) = 0;
};

// --- In the child.
absl::StatusOr<EvaluateResult> EvaluateVariant(const EvaluateSpec& spec);
absl::StatusOr<RoundResult> MeasureVariant(const RoundSpec& spec);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_VARIANT_CHILD_H_

// What one optimize job does, in order: import, optimize, lower, export, evaluate, measure. No gRPC, no proto.
#ifndef HALFTONE_OPTIMIZER_JOB_H_
#define HALFTONE_OPTIMIZER_JOB_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "optimizer/model.h"
#include "optimizer/variant_child.h"
#include "passes/precision/lists_planner.h"
#include "runtime/fidelity.h"
#include "runtime/onednn/target.h"
#include "runtime/statistics.h"

namespace halftone {

// kOriginal: the file as it came, not fused. kFp32: fused, the baseline. The others are lowered.
enum class VariantKind { kOriginal, kFp32, kBf16 };
std::string_view VariantName(VariantKind kind);  // "original", "fp32", "bf16": the word in file names

struct BenchmarkOptions {
  int rounds = 5;
  double round_seconds = 1;
  int threads = 1;
  int64_t batch = 1;
  bool skip = false;
  uint64_t seed = 1;
};

struct OptimizeOptions {
  ModelSource model;
  std::vector<VariantKind> lowered = {VariantKind::kBf16};
  PlannerOptions planner;
  bool force = false;                   // lower also where the CPU has no instructions for the type
  std::vector<SampleFile> calibration;  // used where `evaluation` is empty
  std::vector<SampleFile> evaluation;
  BenchmarkOptions benchmark;
  std::string out_dir;  // absolute; variants are written here
};

struct NodeResult {
  StepReport step;
  VariantKind precision = VariantKind::kFp32;
  std::string reason;
};

struct RewriteResult {
  std::string pass, node, reason;
};

// Ratio over the fused fp32 baseline: above 1 is faster.
struct SpeedupResult {
  double median = 0;
  double low = 0;
  double high = 0;
};

struct BenchmarkResult {
  double median_ms = 0;
  double min_ms = 0;
  std::optional<double> p90_ms;
  std::optional<double> p99_ms;
  std::optional<SpeedupResult> speedup;
  std::vector<std::string> invalid_reasons;
  std::vector<double> round_medians_ms;
  int64_t samples = 0;
};

struct OutputFidelity {
  std::string output;
  Fidelity fidelity;
};

struct VariantResult {
  VariantKind kind = VariantKind::kOriginal;
  std::string path;       // local file
  std::string file_name;  // "resnet50.bf16.onnx"
  std::string sha256;
  int64_t size_bytes = 0;
  std::string summary;
  bool emulated = false;
  std::vector<NodeResult> nodes;
  std::vector<RewriteResult> rewrites;
  std::vector<OutputFidelity> fidelity;
  std::optional<double> top1_accuracy;
  int64_t labelled_samples = 0;
  std::optional<BenchmarkResult> benchmark;
  std::vector<std::string> opaque_ops;
  double reference_share = 0;                // of the time of all steps: by reference functions
  std::vector<std::string> reference_nodes;  // "node (op)", slowest first
};

struct OptimizeResult {
  GraphFormat format = GraphFormat::kNone;
  std::vector<VariantResult> variants;  // ORIGINAL, FP32, then `lowered`
  std::vector<std::string> warnings;
  int64_t evaluation_samples = 0;  // 0: seeded random inputs
  std::map<std::string, double> stage_seconds;
};

// Told of progress: stage, steps done, steps in all.
using ProgressCallback = std::function<void(std::string_view stage, int64_t done, int64_t total)>;

// Every number of a variant is taken from its exported file, by processes that `children` starts.
// Errors: INVALID_ARGUMENT and UNIMPLEMENTED for the model, samples and policy; INTERNAL for our bugs. A model with
// nodes that cannot run is no error: it is rewritten, and the result has a warning instead of numbers.
absl::StatusOr<OptimizeResult> RunOptimizeJob(const OptimizeOptions& options, ChildRunner& children,
                                              const ProgressCallback& progress);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_JOB_H_

// What one optimize job does, in order: import, optimize, lower, export, evaluate, measure. No gRPC, no proto.
#ifndef HALFTONE_OPTIMIZER_JOB_H_
#define HALFTONE_OPTIMIZER_JOB_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "formats/dialects.h"
#include "formats/formats.h"
#include "optimizer/benchmark_options.h"
#include "optimizer/int8_options.h"
#include "optimizer/measure.h"
#include "optimizer/model.h"
#include "optimizer/rewrites.h"
#include "optimizer/variant_child.h"
#include "optimizer/variant_kind.h"
#include "passes/precision/lists_planner.h"
#include "passes/precision/policy_rules.h"
#include "passes/quantize/saturation.h"
#include "runtime/cpu/target.h"
#include "runtime/measure/fidelity.h"

namespace halftone {

enum class PlannerKind { kLists, kPlacement };

struct OptimizeOptions {
  ModelSource model;
  std::vector<VariantKind> lowered = {VariantKind::kBf16};
  PlannerKind planner_kind = PlannerKind::kLists;
  PlannerOptions planner;            // of kLists
  std::vector<std::string> op_list;  // of kPlacement: the only ops to mark; empty: all of its list
  std::string lists_variant;         // edition of the planner's lists; "": the newest of TensorFlow, or Paddle
  PolicyRules rules;                 // for single nodes, over the planner
  bool bf16_math_mode = false;       // products that stay f32 may round what they read to bf16
  TargetRuntime target_runtime = TargetRuntime::kAny;  // of the written files (formats/onnx/target_runtimes.h)
  std::string policy_sha256;                           // for the files' provenance; "": no policy was given
  bool force = false;                                  // lower also where the CPU has no instructions for the type
  Dialect dialect = Dialect::kPortable;                // of the written files
  std::vector<std::string> passes;      // named ones over the model as imported: "round_weights(num_steps=64)"
  bool verify_passes = false;           // the equivalence check
  std::vector<SampleFile> calibration;  // for the ranges of int8; also used where `evaluation` is empty
  std::vector<SampleFile> evaluation;
  Int8Options int8;  // of kInt8
  // Calibrations of earlier jobs: files of ranges by RangesKey (ranges_cache.h). nullopt: every calibration is made
  // anew, and gets no key.
  std::optional<std::map<std::string, std::string>> known_ranges;
  BenchmarkOptions benchmark;
  std::string out_dir;  // absolute; variants are written here

  // The samples that variants answer.
  const std::vector<SampleFile>& judged_by() const { return evaluation.empty() ? calibration : evaluation; }
};

// Why a node has its precision: the rule's stable name (ir/precision_plan.h) and the fact, for people.
struct Reason {
  std::string rule;
  std::string text;
  bool operator==(const Reason&) const = default;
};

// Between which numbers the first result of a node lies, as it was calibrated.
struct ResultRange {
  double min = 0;
  double max = 0;
};

// Of a node of the lowered graph. Nodes of nested graphs are named "loop/body/node".
struct NodeDecision {
  std::string node;
  std::string op;
  VariantKind precision = VariantKind::kFp32;
  Reason reason;
  // In dB, of the worst output where this node alone is int8 (accuracy_control.h); where that was measured.
  std::optional<double> sqnr_alone_db = {};
  std::optional<ResultRange> result = {};  // of an int8 variant, where the range is known
};

struct NodeResult {
  StepReport step;
  VariantKind precision = VariantKind::kFp32;
  Reason reason;
};

// Casts between floating types; -1: not known.
struct CastCounts {
  int64_t planned = 0;  // as the plan placed them
  int64_t in_file = 0;  // of the written graph
  int64_t run = -1;     // steps of the file as it runs that convert and do nothing else
};

struct OutputFidelity {
  std::string output;
  Fidelity fidelity;
};

// What everything in int8 came to by a config (quantization_configs.h), before nodes were raised.
struct TriedConfig {
  std::string config;
  double top1_drop = 0;  // share of rows: see AccuracyGoal
  double sqnr_db = 0;    // the worst output's
  double cosine = 1;
  bool met = false;  // the goal
};

// What an accuracy goal came to.
struct GoalResult {
  bool met = false;    // by the answers of the written file
  int64_t raised = 0;  // nodes that the search keeps out of int8
  int64_t tried = 0;   // whole models that it ran
  double seconds = 0;
  std::string text = {};                  // "top-1 drop 0.00 points (at most 1.00)"
  std::string config = {};                // of the variant
  std::vector<TriedConfig> configs = {};  // in the order of the search; the first is the user's own
};

struct VariantResult {
  VariantKind kind = VariantKind::kOriginal;
  std::string path;       // local file
  std::string file_name;  // "resnet50.bf16.onnx"
  std::string sha256;
  int64_t size_bytes = 0;
  std::string summary;
  bool emulated = false;
  std::string not_measured;  // why the file was only written; "": it was run
  std::vector<NodeDecision> decisions;
  std::vector<NodeResult> nodes;
  CastCounts casts;
  RewriteSummary rewrites;
  std::vector<OutputFidelity> fidelity;
  std::optional<double> top1_accuracy;
  int64_t labelled_samples = 0;
  int64_t batch = 1;        // samples of one run
  std::string output_hash;  // of the answers to the first batch
  std::optional<BenchmarkResult> benchmark;
  std::vector<std::string> opaque_ops;
  std::vector<std::string> refused_by;  // why widely used runtimes do not load the file, one sentence each
  // Of the multiply-adds of the graph's contractions, those computed in int8: 0 to 1; -1: not an int8 variant.
  double int8_share = -1;
  std::optional<GoalResult> goal;                 // of an int8 variant, where one was set
  std::vector<SaturationCertificate> saturation;  // of an int8 variant: of its file
  double reference_share = 0;                     // of the time of all steps: by reference functions
  std::vector<std::string> reference_nodes;       // "node (op)", slowest first
};

// Where the ranges of the int8 variant came from.
struct CalibrationSummary {
  int64_t samples = 0;
  bool synthetic = false;  // random numbers: ranges of real data differ
  std::string calibrator;  // "min-max", ... (ir/value_ranges.h)
  std::string source;      // "samples", "ranges", "synthetic", "cache"
  std::string file_name;   // "resnet50.ranges.json"
  std::string path;        // local file
  std::string sha256;
  std::string key;                                 // RangesKey, of samples where OptimizeOptions::known_ranges is set
  std::map<std::string, int64_t> silent_channels;  // by value: in how many channels no sample had anything but 0
  std::vector<std::string> still_widening;         // values whose range grew notably at the last sample
  double seconds = 0;
};

struct OptimizeResult {
  ModelFormat format = ModelFormat::kOnnx;
  std::vector<VariantResult> variants;  // ORIGINAL, FP32, then `lowered`
  std::vector<std::string> warnings;
  int64_t evaluation_samples = 0;                   // 0: seeded random inputs
  std::optional<BenchmarkRunResult> benchmark_run;  // its results of variants are in `variants`
  std::optional<CalibrationSummary> calibration;    // where an int8 variant was asked for
  std::map<std::string, double> stage_seconds;
};

// What is wrong with the options themselves, before anything is read: a dialect that the model's format does not have,
// a pass that there is none of. INVALID_ARGUMENT names the option and what would be right.
absl::Status CheckOptions(const OptimizeOptions& options);

// Every number of a variant is taken from its exported file, by processes that `children` starts.
// Errors: INVALID_ARGUMENT and UNIMPLEMENTED for the model, samples and policy; INTERNAL for our bugs. A model with
// nodes that cannot run is no error: it is rewritten, and the result has a warning instead of numbers.
absl::StatusOr<OptimizeResult> RunOptimizeJob(const OptimizeOptions& options, ChildRunner& children,
                                              const ProgressCallback& progress);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_JOB_H_

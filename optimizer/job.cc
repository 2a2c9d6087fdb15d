// SPDX-License-Identifier: Apache-2.0
#include "optimizer/job.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/files.h"
#include "base/sha256.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/formats.h"
#include "optimizer/accuracy_control.h"
#include "optimizer/compare.h"
#include "optimizer/convert.h"
#include "optimizer/export.h"
#include "optimizer/import.h"
#include "optimizer/int8_source.h"
#include "optimizer/measure.h"
#include "optimizer/optimize.h"
#include "optimizer/quantization_configs.h"
#include "optimizer/quantize.h"
#include "optimizer/suspect_steps.h"
#include "runtime/cpu/target.h"

namespace halftone {
namespace {

constexpr size_t kOriginal = 0;
constexpr size_t kBaseline = 1;

// "dir/resnet50.onnx" and bf16 -> "resnet50.bf16.onnx".
std::string VariantFileName(const ModelSource& model, VariantKind kind) {
  const std::filesystem::path path(model.label());
  return Concat(path.stem().string(), ".", VariantName(kind), path.extension().string());
}

// One job from beginning to end; the steps are its methods, in order.
class OptimizeJob {
 public:
  OptimizeJob(const OptimizeOptions& options, ChildRunner& children, const ProgressCallback& progress)
      : options_(options), children_(children), progress_(progress), target_(MakeCpuTarget()) {}

  absl::StatusOr<OptimizeResult> Run() {
    const WorkCounts before = WorkOfThisProcess(), before_children = children_.work();
    HALFTONE_RETURN_IF_ERROR(RunSteps());
    result_.work = WorkOfThisProcess() - before;
    result_.work += children_.work() - before_children;
    return std::move(result_);
  }

 private:
  absl::Status RunSteps() {
    HALFTONE_ASSIGN_OR_RETURN(cores_, CoresFor(options_.benchmark));
    HALFTONE_RETURN_IF_ERROR(Timed("import", [this] { return Import(); }));
    HALFTONE_RETURN_IF_ERROR(Timed("optimize", [this] { return Optimize(); }));
    if (Wants(VariantKind::kInt8)) {
      const bool calibrates = options_.int8.mode == Int8Mode::kStatic;
      HALFTONE_RETURN_IF_ERROR(Timed(calibrates ? "calibrate" : "fuse", [this] { return Calibrate(); }));
    }
    if (Wants(VariantKind::kInt8) && (options_.int8.sensitivity || !options_.int8.goal.empty())) {
      HALFTONE_RETURN_IF_ERROR(Timed("accuracy", [this] { return ControlAccuracy(); }));
    }
    HALFTONE_RETURN_IF_ERROR(Timed("convert", [this] { return Convert(); }));
    HALFTONE_RETURN_IF_ERROR(Timed("export", [this] { return Export(); }));
    for (VariantResult& variant : result_.variants) variant.opaque_ops = cannot_run_;
    if (!cannot_run_.empty()) {
      result_.warnings.push_back(
          Concat("the model was rewritten but cannot be run here, so that nothing was measured; ops without a kernel: ",
                 absl::StrJoin(cannot_run_, ", ")));
      return absl::OkStatus();
    }
    HALFTONE_RETURN_IF_ERROR(Timed("evaluate", [this] { return Evaluate(); }));
    HALFTONE_RETURN_IF_ERROR(Timed("compare", [this] { return Compare(); }));
    if (options_.benchmark.skip) return absl::OkStatus();
    return Timed("measure", [this] { return Measure(); });
  }

  template <typename Work>
  absl::Status Timed(const std::string& stage, Work work) {
    progress_(stage, 0, 1);
    const auto start = std::chrono::steady_clock::now();
    const double inference = children_.work().inference_seconds;
    absl::Status status = work();
    result_.stages.push_back({stage, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
                              children_.work().inference_seconds - inference});
    if (status.ok()) progress_(stage, 1, 1);
    return status;
  }

  absl::Status Import() {
    HALFTONE_ASSIGN_OR_RETURN(imported_, LoadModel(options_.model));
    result_.format = WrittenFormat(imported_);
    if (!FormatRow(result_.format).names_outputs) {  // a rewritten file may list its nodes in another order
      for (const GraphOutput& output : imported_.outputs()) outputs_.push_back(output.name);
    }
    cannot_run_ = OpsThatCannotRun(imported_);
    return absl::OkStatus();
  }

  absl::Status Optimize() {
    HALFTONE_ASSIGN_OR_RETURN(model_, OptimizeModel(std::exchange(imported_, {}), *target_, options_));
    VariantResult original;
    original.kind = VariantKind::kOriginal;
    original.path = options_.model.path;
    original.file_name = std::filesystem::path(options_.model.label()).filename().string();
    original.summary = "unmodified, not fused";
    original.rewrites.nodes_before = original.rewrites.nodes_after = model_.imported.rewrites.nodes_before;
    original.casts.planned = original.casts.in_file = CountFloatCasts(model_.imported.graph);
    result_.variants.push_back(std::move(original));
    return absl::OkStatus();
  }

  bool Wants(VariantKind kind) const {
    return std::find(options_.precisions.begin(), options_.precisions.end(), kind) != options_.precisions.end();
  }

  // Where nothing can be run, nothing is calibrated; ranges of a file are good all the same, and some modes need none.
  absl::Status Calibrate() {
    const bool calibrates = options_.int8.mode == Int8Mode::kStatic && !options_.int8.ranges.has_value();
    if (!cannot_run_.empty() && calibrates) return absl::OkStatus();
    HALFTONE_ASSIGN_OR_RETURN(int8_, MakeInt8Source(model_, *target_, options_));
    HALFTONE_ASSIGN_OR_RETURN(candidate_, OwnCandidate(*int8_, *target_, options_));
    const CalibratedRanges& calibrated = int8_->calibrated;
    result_.warnings.insert(result_.warnings.end(), calibrated.warnings.begin(), calibrated.warnings.end());
    if (int8_->has_ranges) result_.calibration = calibrated.summary;
    return absl::OkStatus();
  }

  absl::StatusOr<ConvertedGraph> ConvertTo(VariantKind kind) const {
    if (kind != VariantKind::kInt8) return ConvertPrecision(kind, model_, *target_, options_);
    if (!int8_.has_value()) {
      return KeepFp32(kind, model_, *target_, options_,
                      {"baseline.kept", "the model cannot be run here, so that it was not calibrated; give ranges"});
    }
    return MakeInt8(candidate_.base, candidate_.ranges, model_, *target_, candidate_.options, search_);
  }

  // What each node costs alone, by which config the goal holds, and which nodes stay out of int8 for it.
  absl::Status ControlAccuracy() {
    if (!int8_.has_value() || !cannot_run_.empty()) return absl::OkStatus();
    const auto start = std::chrono::steady_clock::now();
    HALFTONE_ASSIGN_OR_RETURN(AccuracyControlResult found, MeetGoal(*int8_, *target_, options_, progress_));
    search_ = std::move(found.search);
    candidate_ = std::move(found.candidate);
    int8_->calibrated.seen.reset();  // no other ranges will be asked for
    if (int8_->has_ranges) result_.calibration = int8_->calibrated.summary;
    const bool has_goal = !options_.int8.goal.empty();
    if (has_goal) {
      goal_ = GoalResult{.met = found.goal_met, .fallbacks = found.fallbacks, .tried = found.tried};
      if (int8_->has_ranges) goal_->config = DescribeConfig(candidate_.config);
      goal_->configs = std::move(found.configs);
      goal_->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    if (!found.in_time) {
      result_.warnings.push_back(
          absl::StrFormat("int8: %s ended at its budget of %g s",
                          has_goal ? "the search after the accuracy goal" : "the measurement of each node alone",
                          options_.int8.budget_seconds));
    }
    return absl::OkStatus();
  }

  // The goal by the outputs of the file.
  void JudgeGoal(VariantResult& variant, const Comparison& comparison) {
    if (variant.kind != VariantKind::kInt8 || !goal_.has_value()) return;
    const Reached reached = ReachedBy(comparison, result_.variants[kBaseline].top1_accuracy);
    goal_->met = DistanceTo(options_.int8.goal, reached) == 0;
    goal_->text = DescribeReached(options_.int8.goal, reached);
    variant.goal = goal_;
    if (!goal_->met) result_.warnings.push_back(Concat("int8: the accuracy goal is NOT met: ", goal_->text));
  }

  absl::Status Convert() {
    HALFTONE_ASSIGN_OR_RETURN(ConvertedGraph baseline, MakeBaseline(model_, *target_, options_));
    converted_.push_back(std::move(baseline));
    for (const VariantKind kind : options_.precisions) {
      HALFTONE_ASSIGN_OR_RETURN(ConvertedGraph graph, ConvertTo(kind));
      converted_.push_back(std::move(graph));
    }
    return absl::OkStatus();
  }

  absl::Status Export() {
    for (ConvertedGraph& converted : converted_) {
      VariantResult variant;
      variant.kind = converted.kind;
      variant.file_name = VariantFileName(options_.model, converted.kind);
      variant.path = Concat(options_.out_dir, "/", variant.file_name);
      HALFTONE_RETURN_IF_ERROR(WriteVariant(model_, *target_, options_, variant.path, converted));
      variant.summary = converted.summary;
      variant.emulated = converted.emulated;
      variant.not_measured = converted.not_measured;
      variant.refused_by = converted.refused_by;
      variant.decisions = std::move(converted.decisions);
      variant.casts = converted.casts;
      variant.rewrites = std::move(converted.rewrites);
      converted.graph = Graph();  // from here on only the file counts
      result_.warnings.insert(result_.warnings.end(), converted.warnings.begin(), converted.warnings.end());
      result_.variants.push_back(std::move(variant));
    }
    for (VariantResult& variant : result_.variants) {
      HALFTONE_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(variant.path));
      variant.size_bytes = static_cast<int64_t>(file.bytes().size());
      variant.sha256 = Sha256Hex(file.bytes());
      HALFTONE_ASSIGN_OR_RETURN(variant.rewrites.nodes_written, CountNodesOfFile(file.bytes(), FileFormatOf(variant)));
    }
    return absl::OkStatus();
  }

  // Of the variant's file: SaveModel writes the format that the model came in.
  ModelFormat FileFormatOf(const VariantResult& variant) const {
    const bool original = variant.kind == VariantKind::kOriginal;
    if (original && options_.model.format.has_value()) return *options_.model.format;
    const std::string& path = original ? options_.model.label() : variant.path;
    return FormatOfFile(result_.format, path);
  }

  RunSpec SpecOf(const VariantResult& variant) const {
    RunSpec spec;
    spec.model = options_.model;
    spec.model.path = variant.path;
    spec.model.outputs = outputs_;
    spec.model_sha256 = variant.sha256;
    spec.fuse = variant.kind != VariantKind::kOriginal;
    spec.threads = options_.benchmark.threads;
    spec.sizes = options_.benchmark.sizes;
    spec.samples = options_.evaluation_samples();
    spec.seed = options_.benchmark.seed;
    if (!cores_.chosen.empty()) {
      spec.cores.assign(cores_.chosen.begin(), cores_.chosen.begin() + spec.threads);
    }
    spec.wait_policy = options_.benchmark.wait_policy;
    return spec;
  }

  std::string LogOf(const VariantResult& variant) const {
    return Concat(options_.out_dir, "/outputs.", VariantName(variant.kind), ".log");
  }

  // What the evaluation leaves for the rounds.
  std::string PreparedGraphOf(const VariantResult& variant) const {
    return Concat(options_.out_dir, "/prepared.", VariantName(variant.kind), ".graph");
  }

  absl::Status Evaluate() {
    if (SpecOf(result_.variants[0]).samples.empty()) {
      result_.warnings.push_back(
          "no samples were given: fidelity is of seeded random inputs, which says little about real ones; give --eval");
    }
    const int64_t total = static_cast<int64_t>(result_.variants.size());
    for (int64_t i = 0; i < total; ++i) {
      progress_("evaluate", i, total);
      VariantResult& variant = result_.variants[i];
      if (!variant.not_measured.empty()) continue;
      EvaluateSpec spec{.run = SpecOf(variant), .output_log = LogOf(variant)};
      spec.examine_int8 = variant.kind == VariantKind::kInt8;
      if (!options_.benchmark.skip) spec.prepared_graph = PreparedGraphOf(variant);
      absl::StatusOr<EvaluateResult> evaluated = children_.Evaluate(spec);
      if (!evaluated.ok()) return Annotate(evaluated.status(), Concat(VariantName(variant.kind), " variant"));
      result_.evaluation_samples = evaluated->samples;
      if (i == 0)
        result_.warnings.insert(result_.warnings.end(), evaluated->warnings.begin(), evaluated->warnings.end());
      variant.output_hash = std::move(evaluated->output_hash);
      variant.batch = evaluated->batch;
      variant.load_ms = evaluated->load_ms;
      variant.int8_share = evaluated->int8_share;
      variant.saturation = std::move(evaluated->saturation);
      AddNodes(std::move(evaluated->steps), variant);
    }
    return absl::OkStatus();
  }

  absl::Status Compare() {
    for (VariantResult& variant : result_.variants) {
      if (!variant.not_measured.empty()) continue;
      HALFTONE_ASSIGN_OR_RETURN(Comparison comparison, CompareLogs(LogOf(result_.variants[kBaseline]), LogOf(variant)));
      variant.top1_accuracy = comparison.top1_accuracy;
      variant.labelled_samples = comparison.labelled_samples;
      JudgeGoal(variant, comparison);
      variant.fidelity = std::move(comparison.outputs);
    }
    for (const VariantResult& variant : result_.variants) std::filesystem::remove(LogOf(variant));
    return absl::OkStatus();
  }

  absl::Status Measure() {
    std::vector<MeasuredVariant> variants;
    std::vector<size_t> places;  // of the measured ones in result_.variants; the first two are always there
    for (size_t i = 0; i < result_.variants.size(); ++i) {
      const VariantResult& variant = result_.variants[i];
      if (!variant.not_measured.empty()) continue;
      places.push_back(i);
      MeasuredVariant& measured = variants.emplace_back();
      measured.name = VariantName(variant.kind);
      measured.run = SpecOf(variant);
      measured.run.prepared_graph = PreparedGraphOf(variant);
      measured.expected_hash = variant.output_hash;
      measured.load_ms = variant.load_ms;
      if (i != kOriginal) measured.reasons = SuspectStepsOf(variant);  // the original may run by any kernel
    }
    HALFTONE_ASSIGN_OR_RETURN(BenchmarkRunResult run,
                              MeasureVariants(variants, kBaseline, options_.benchmark, cores_, children_, progress_));
    for (const MeasuredVariant& variant : variants) std::filesystem::remove(variant.run.prepared_graph);
    for (size_t i = 0; i < run.variants.size(); ++i) {
      VariantResult& variant = result_.variants[places[i]];
      if (places[i] != kOriginal && variant.reference_share > kSuspectShare) {
        result_.warnings.push_back(absl::StrFormat(
            "%s: reference functions, which are slow, take %.0f %% of the time: %s", VariantName(variant.kind).data(),
            100 * variant.reference_share, absl::StrJoin(variant.reference_nodes, ", ")));
      }
      variant.benchmark = std::move(run.variants[i]);
    }
    result_.benchmark_run = std::move(run);
    return absl::OkStatus();
  }

  std::vector<std::string> SuspectStepsOf(const VariantResult& variant) const {
    std::vector<StepReport> steps;
    for (const NodeResult& node : variant.nodes) steps.push_back(node.step);
    return SuspectSteps(steps, DescribeCpu().vector_bits);
  }

  const OptimizeOptions& options_;
  ChildRunner& children_;
  const ProgressCallback& progress_;
  const std::unique_ptr<Target> target_;
  BenchmarkCores cores_;
  Graph imported_;  // until it is optimized
  OptimizedModel model_;
  std::vector<std::string> cannot_run_;  // of the imported model
  std::vector<std::string> outputs_;     // of a GraphDef, which does not say them itself
  std::optional<Int8Source> int8_;       // where an int8 variant is made
  Int8Candidate candidate_;              // of it
  Int8Search search_;
  std::optional<GoalResult> goal_;
  std::vector<ConvertedGraph> converted_;
  OptimizeResult result_;
};

}  // namespace

absl::StatusOr<OptimizeResult> RunOptimizeJob(const OptimizeOptions& options, ChildRunner& children,
                                              const ProgressCallback& progress) {
  absl::StatusOr<OptimizeResult> result = OptimizeJob(options, children, progress).Run();
  if (!result.ok()) return NameModel(result.status(), options.model);
  return result;
}

}  // namespace halftone

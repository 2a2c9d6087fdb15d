#include "optimizer/job.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/files.h"
#include "base/sha256.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/formats.h"
#include "optimizer/accuracy_control.h"
#include "optimizer/compare.h"
#include "optimizer/explain.h"
#include "optimizer/int8_source.h"
#include "optimizer/lower.h"
#include "optimizer/lower_int8.h"
#include "optimizer/measure.h"
#include "optimizer/quantization_configs.h"
#include "optimizer/quantize_for_runtime.h"
#include "optimizer/suspect_steps.h"

namespace halftone {
namespace {

constexpr size_t kOriginal = 0;
constexpr size_t kBaseline = 1;

// "dir/resnet50.onnx" and bf16 -> "resnet50.bf16.onnx".
std::string VariantFileName(const ModelSource& model, VariantKind kind) {
  const std::filesystem::path path(model.label());
  return Concat(path.stem().string(), ".", VariantName(kind), path.extension().string());
}

// Which steps run by reference functions, and how much of the time they take.
void AddReferenceShare(VariantResult& variant) {
  double total = 0, by_reference = 0;
  std::vector<const StepReport*> slow;
  for (const NodeResult& node : variant.nodes) {
    total += node.step.median_us;
    if (!IsReference(node.step.kernel)) continue;
    by_reference += node.step.median_us;
    slow.push_back(&node.step);
  }
  std::stable_sort(slow.begin(), slow.end(),
                   [](const StepReport* a, const StepReport* b) { return a->median_us > b->median_us; });
  variant.reference_share = total > 0 ? by_reference / total : 0;
  for (const StepReport* step : slow) variant.reference_nodes.push_back(Concat(step->name, " (", step->op, ")"));
}

// Of a step's op: it reads integers only to make numbers of them, or the other way round.
bool Converts(std::string_view op) {
  return op == "cast" || op == "reorder" || op == "quantize_linear" || op == "dequantize_linear";
}

// One job from beginning to end; the steps are its methods, in order.
class OptimizeJob {
 public:
  OptimizeJob(const OptimizeOptions& options, ChildRunner& children, const ProgressCallback& progress)
      : options_(options), children_(children), progress_(progress), target_(MakeCpuTarget()) {}

  absl::StatusOr<OptimizeResult> Run() {
    HALFTONE_ASSIGN_OR_RETURN(cores_, CoresFor(options_.benchmark));
    HALFTONE_RETURN_IF_ERROR(Timed("import", [this] { return Import(); }));
    if (Wants(VariantKind::kInt8)) {
      const bool calibrates = options_.int8.mode == Int8Mode::kStatic;
      HALFTONE_RETURN_IF_ERROR(Timed(calibrates ? "calibrate" : "fuse", [this] { return Calibrate(); }));
    }
    if (Wants(VariantKind::kInt8) && (options_.int8.sensitivity || !options_.int8.goal.empty())) {
      HALFTONE_RETURN_IF_ERROR(Timed("accuracy", [this] { return ControlAccuracy(); }));
    }
    HALFTONE_RETURN_IF_ERROR(Timed("lower", [this] { return Lower(); }));
    HALFTONE_RETURN_IF_ERROR(Timed("export", [this] { return Export(); }));
    for (VariantResult& variant : result_.variants) variant.opaque_ops = cannot_run_;
    if (!cannot_run_.empty()) {
      result_.warnings.push_back(
          Concat("the model was rewritten but cannot be run here, so that nothing was measured; ops without a kernel: ",
                 absl::StrJoin(cannot_run_, ", ")));
      return std::move(result_);
    }
    HALFTONE_RETURN_IF_ERROR(Timed("evaluate", [this] { return Evaluate(); }));
    HALFTONE_RETURN_IF_ERROR(Timed("compare", [this] { return Compare(); }));
    if (!options_.benchmark.skip) HALFTONE_RETURN_IF_ERROR(Timed("measure", [this] { return Measure(); }));
    return std::move(result_);
  }

 private:
  template <typename Work>
  absl::Status Timed(const std::string& stage, Work work) {
    progress_(stage, 0, 1);
    const auto start = std::chrono::steady_clock::now();
    absl::Status status = work();
    result_.stage_seconds[stage] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (status.ok()) progress_(stage, 1, 1);
    return status;
  }

  absl::Status Import() {
    HALFTONE_ASSIGN_OR_RETURN(Graph imported, LoadModel(options_.model));
    result_.format = WrittenFormat(imported);
    if (result_.format == ModelFormat::kGraphDef) {  // a rewritten file may list its nodes in another order
      for (const GraphOutput& output : imported.outputs()) outputs_.push_back(output.name);
    }
    cannot_run_ = OpsThatCannotRun(imported);
    HALFTONE_ASSIGN_OR_RETURN(model_, PrepareModel(std::move(imported), *target_, options_));
    VariantResult original;
    original.kind = VariantKind::kOriginal;
    original.path = options_.model.path;
    original.file_name = std::filesystem::path(options_.model.label()).filename().string();
    original.summary = "as it came, not fused";
    original.rewrites.nodes_before = original.rewrites.nodes_after = model_.rewrites.nodes_before;
    original.casts.planned = original.casts.in_file = CountFloatCasts(model_.graph);
    result_.variants.push_back(std::move(original));
    return absl::OkStatus();
  }

  bool Wants(VariantKind kind) const {
    return std::find(options_.lowered.begin(), options_.lowered.end(), kind) != options_.lowered.end();
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

  absl::StatusOr<LoweredGraph> LowerTo(VariantKind kind) const {
    if (kind != VariantKind::kInt8) return MakeLowered(kind, model_, *target_, options_);
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
      goal_ = GoalResult{.met = found.goal_met, .raised = found.raised, .tried = found.tried};
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

  // The goal by the answers of the file.
  void JudgeGoal(VariantResult& variant, const Comparison& comparison) {
    if (variant.kind != VariantKind::kInt8 || !goal_.has_value()) return;
    const Reached reached = ReachedBy(comparison, result_.variants[kBaseline].top1_accuracy);
    goal_->met = DistanceTo(options_.int8.goal, reached) == 0;
    goal_->text = DescribeReached(options_.int8.goal, reached);
    variant.goal = goal_;
    if (!goal_->met) result_.warnings.push_back(Concat("int8: the accuracy goal is NOT met: ", goal_->text));
  }

  absl::Status Lower() {
    HALFTONE_ASSIGN_OR_RETURN(LoweredGraph baseline, MakeBaseline(model_, *target_, options_));
    lowered_.push_back(std::move(baseline));
    for (const VariantKind kind : options_.lowered) {
      HALFTONE_ASSIGN_OR_RETURN(LoweredGraph graph, LowerTo(kind));
      lowered_.push_back(std::move(graph));
    }
    return absl::OkStatus();
  }

  absl::Status Export() {
    for (LoweredGraph& lowered : lowered_) {
      VariantResult variant;
      variant.kind = lowered.kind;
      variant.file_name = VariantFileName(options_.model, lowered.kind);
      variant.path = Concat(options_.out_dir, "/", variant.file_name);
      absl::Status saved = SaveModel(lowered.graph, variant.path, FileOptionsOf(lowered.kind, options_.int8.form));
      if (lowered.kind != VariantKind::kFp32 &&
          absl::IsUnimplemented(saved)) {  // e.g. the format has no such bf16 node
        const Reason why{"baseline.kept", std::string(saved.message())};
        HALFTONE_ASSIGN_OR_RETURN(lowered, KeepFp32(lowered.kind, model_, *target_, options_, why));
        saved = SaveModel(lowered.graph, variant.path, FileOptionsOf(lowered.kind, options_.int8.form));
      }
      HALFTONE_RETURN_IF_ERROR(Annotate(saved, Concat(VariantName(lowered.kind), " variant")));
      variant.summary = lowered.summary;
      variant.emulated = lowered.emulated;
      variant.not_measured = lowered.not_measured;
      variant.refused_by = lowered.refused_by;
      variant.decisions = std::move(lowered.decisions);
      variant.casts = lowered.casts;
      variant.rewrites = std::move(lowered.rewrites);
      lowered.graph = Graph();  // from here on only the file counts
      result_.warnings.insert(result_.warnings.end(), lowered.warnings.begin(), lowered.warnings.end());
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
    const bool is_text =
        result_.format == ModelFormat::kGraphDef && ModelFormatOfPath(path) == ModelFormat::kGraphDefText;
    return is_text ? ModelFormat::kGraphDefText : result_.format;
  }

  RunSpec SpecOf(const VariantResult& variant) const {
    RunSpec spec;
    spec.model = options_.model;
    spec.model.path = variant.path;
    spec.model.outputs = outputs_;
    spec.fuse = variant.kind != VariantKind::kOriginal;
    spec.threads = options_.benchmark.threads;
    spec.sizes = options_.benchmark.sizes;
    spec.samples = options_.judged_by();
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
      absl::StatusOr<EvaluateResult> evaluated = children_.Evaluate({SpecOf(variant), LogOf(variant)});
      if (!evaluated.ok()) return Annotate(evaluated.status(), Concat(VariantName(variant.kind), " variant"));
      result_.evaluation_samples = evaluated->samples;
      if (i == 0)
        result_.warnings.insert(result_.warnings.end(), evaluated->warnings.begin(), evaluated->warnings.end());
      variant.output_hash = std::move(evaluated->output_hash);
      variant.batch = evaluated->batch;
      if (variant.kind == VariantKind::kInt8) {
        HALFTONE_ASSIGN_OR_RETURN(variant.int8_share, Int8ShareOf(SpecOf(variant), *target_));
        HALFTONE_ASSIGN_OR_RETURN(variant.saturation, CertifyFile(SpecOf(variant).model, *target_));
      }
      AddNodes(variant, std::move(evaluated->steps));
    }
    return absl::OkStatus();
  }

  // Joins the steps of the file as it ran with the reasons of the nodes as they were planned, by name.
  void AddNodes(VariantResult& variant, std::vector<StepReport> steps) {
    const std::map<std::string, Reason> reasons = ByName(variant.decisions);
    for (StepReport& step : steps) {
      NodeResult node;
      const bool original = variant.kind == VariantKind::kOriginal;
      node.reason = original ? Reason{"baseline.original", "as the file has it"} : ReasonOf(step.name, reasons);
      const auto reads = [&step](std::string_view type) { return step.src_type == type || step.weights_type == type; };
      if (reads("bf16")) node.precision = VariantKind::kBf16;
      if (reads("f16")) node.precision = VariantKind::kFp16;
      if (!original && !Converts(step.op) && (reads("u8") || reads("s8"))) node.precision = VariantKind::kInt8;
      node.step = std::move(step);
      variant.nodes.push_back(std::move(node));
    }
    variant.casts.run = CountConversionSteps(variant.nodes);
    AddReferenceShare(variant);
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
      measured.expected_hash = variant.output_hash;
      if (i != kOriginal) measured.reasons = SuspectStepsOf(variant);  // nobody promised anything of the original
    }
    HALFTONE_ASSIGN_OR_RETURN(BenchmarkRunResult run,
                              MeasureVariants(variants, kBaseline, options_.benchmark, cores_, children_, progress_));
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
    return SuspectSteps(steps, DescribeCpu().isa);
  }

  const OptimizeOptions& options_;
  ChildRunner& children_;
  const ProgressCallback& progress_;
  const std::unique_ptr<Target> target_;
  BenchmarkCores cores_;
  PreparedModel model_;
  std::vector<std::string> cannot_run_;  // of the model as it came
  std::vector<std::string> outputs_;     // of a GraphDef, which does not say them itself
  std::optional<Int8Source> int8_;       // where an int8 variant is made
  Int8Candidate candidate_;              // of it
  Int8Search search_;
  std::optional<GoalResult> goal_;
  std::vector<LoweredGraph> lowered_;
  OptimizeResult result_;
};

}  // namespace

std::string_view VariantName(VariantKind kind) {
  switch (kind) {
    case VariantKind::kOriginal:
      return "original";
    case VariantKind::kFp32:
      return "fp32";
    case VariantKind::kBf16:
      return "bf16";
    case VariantKind::kFp16:
      return "fp16";
    case VariantKind::kInt8:
      return "int8";
  }
  return "";
}

DataType TypeOf(VariantKind kind) {
  switch (kind) {
    case VariantKind::kBf16:
      return DataType::kBFloat16;
    case VariantKind::kFp16:
      return DataType::kFloat16;
    case VariantKind::kInt8:
      return DataType::kInt8;
    case VariantKind::kOriginal:
    case VariantKind::kFp32:
      break;
  }
  return DataType::kFloat32;
}

absl::StatusOr<OptimizeResult> RunOptimizeJob(const OptimizeOptions& options, ChildRunner& children,
                                              const ProgressCallback& progress) {
  absl::StatusOr<OptimizeResult> result = OptimizeJob(options, children, progress).Run();
  if (!result.ok()) return NameModel(result.status(), options.model);
  return result;
}

}  // namespace halftone

// Pipelines, fixed points, passes and rules by their names, for tools and golden files. pipelines.cc is what runs.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "passes/export/merges.h"
#include "passes/export/share_constants.h"
#include "passes/export/split_activations.h"
#include "passes/export/split_fused.h"
#include "passes/export/split_layer_norm.h"
#include "passes/export/split_mixed_types.h"
#include "passes/export/split_softmax.h"
#include "passes/export/splits.h"
#include "passes/fusion/rules.h"
#include "passes/pipelines.h"
#include "passes/precision/apply_precision.h"
#include "passes/precision/conversions.h"
#include "passes/precision/use_bf16_math_mode.h"
#include "passes/quantize/equalize_channels.h"
#include "passes/quantize/fold_quantization.h"
#include "passes/quantize/fold_weights.h"
#include "passes/quantize/recurrent_state.h"
#include "passes/simplify/passes.h"
#include "passes/simplify/rules.h"
#include "passes/transforms/named_passes.h"

namespace halftone {
namespace {

using Make = Pipeline (*)(std::string_view name, const PrecisionPlan& plan);

template <typename P, auto... args>
Pipeline One(std::string_view name, const PrecisionPlan&) {
  Pipeline p{std::string(name)};
  p.Add<P>(args...);
  return p;
}

template <Rules (*rules)()>
Pipeline FixedPoint(std::string_view name, const PrecisionPlan&) {
  Pipeline p{std::string(name)};
  p.AddFixedPoint(std::string(name), rules());
  return p;
}

template <GraphFormat format, Dialect dialect>
Pipeline Export(std::string_view, const PrecisionPlan&) {
  return MakeExportPipeline(format, dialect);
}

Pipeline SinkConstantsByName(std::string_view name, const PrecisionPlan&) {
  std::vector<std::unique_ptr<Pass>> passes;
  passes.push_back(std::make_unique<SinkConstants>());
  Pipeline p{std::string(name)};
  p.AddFixedPoint("sink", std::move(passes));
  p.Add<RemoveDeadNodes>();
  return p;
}

Pipeline ApplyPrecisionByName(std::string_view name, const PrecisionPlan& plan) {
  Pipeline p{std::string(name)};
  p.Add<ApplyPrecision>(plan);
  p.Add<RemoveDeadNodes>();
  return p;
}

Pipeline FoldWeightsByName(std::string_view name, const PrecisionPlan&) {
  Pipeline p{std::string(name)};
  p.Add<FoldWeights>();
  p.Add<RemoveDeadNodes>();
  return p;
}

Pipeline EqualizeChannelsByName(std::string_view name, const PrecisionPlan&) {
  Pipeline p{std::string(name)};
  p.Add<EqualizeChannels>(EqualizedPairs::kAll);
  p.Add<RemoveDeadNodes>();
  return p;
}

template <GraphFormat format, Dialect dialect>
Pipeline SplitMixedTypesByName(std::string_view name, const PrecisionPlan&) {
  Pipeline p{std::string(name)};
  p.Add<SplitMixedTypes>(format, dialect);
  p.Add<RemoveDeadNodes>();  // constants of the other type
  return p;
}

struct Row {
  std::string_view name;
  Make make;
};

constexpr Row kRows[] = {
    // --- Pipelines.
    {"optimize", [](std::string_view, const PrecisionPlan&) { return MakeOptimizePipeline(); }},
    {"precision", [](std::string_view, const PrecisionPlan& plan) { return MakePrecisionPipeline(plan); }},
    {"run", [](std::string_view, const PrecisionPlan&) { return MakeRunPipeline(); }},
    {"export-onnx", Export<GraphFormat::kOnnx, Dialect::kPortable>},
    {"export-graphdef", Export<GraphFormat::kGraphDef, Dialect::kPortable>},
    {"export-tensorflow", Export<GraphFormat::kGraphDef, Dialect::kTensorFlow>},
    {"export-itex", Export<GraphFormat::kGraphDef, Dialect::kItex>},
    {"export-onnxruntime", Export<GraphFormat::kOnnx, Dialect::kOnnxRuntime>},
    // --- Fixed points.
    {"simplify", FixedPoint<SimplifyRules>},
    {"fuse", FixedPoint<FusionRules>},
    {"fuse-mixed", FixedPoint<MixedFusionRules>},
    {"fuse-last", FixedPoint<LastFusionRules>},
    {"fuse-integers", FixedPoint<IntegerFusionRules>},
    {"conversions", FixedPoint<ConversionRules>},
    // --- Passes.
    {"name-dimensions", One<NameDimensions>},
    {"forget-dimension-names", One<ForgetDimensionNames>},
    {"infer-shapes", One<InferShapesPass>},
    {"fold-constants", One<FoldConstants>},
    {"merge-duplicates", One<MergeDuplicates>},
    {"sink-constants", SinkConstantsByName},
    {"remove-dead-nodes", One<RemoveDeadNodes>},
    {"apply-precision", ApplyPrecisionByName},
    {"split-fused-onnx", One<SplitFused, GraphFormat::kOnnx>},
    {"split-fused-graphdef", One<SplitFused, GraphFormat::kGraphDef>},
    {"split-activations", One<SplitActivations>},
    {"split-layer-norm", One<SplitLayerNorm>},
    {"split-softmax", One<SplitSoftmax, GraphFormat::kOnnx>},
    {"split-mixed-types-onnx", SplitMixedTypesByName<GraphFormat::kOnnx, Dialect::kPortable>},
    {"split-mixed-types-graphdef", SplitMixedTypesByName<GraphFormat::kGraphDef, Dialect::kPortable>},
    {"split-mixed-types-itex", SplitMixedTypesByName<GraphFormat::kGraphDef, Dialect::kItex>},
    {"use-bf16-math-mode", One<UseBf16MathMode>},
    {"equalize-channels", EqualizeChannelsByName},
    {"fold-recurrent-quantization", One<FoldRecurrentQuantization>},
    {"fold-quantization", One<FoldQuantization>},
    {"fold-weights", FoldWeightsByName},
    {"share-constants", One<ShareConstants>},
};

struct Format {
  GraphFormat format;
  std::string_view word;
};
constexpr Format kFormats[] = {{GraphFormat::kOnnx, "-onnx"}, {GraphFormat::kGraphDef, "-graphdef"}};

// All rules, each of which has a name of its own.
std::vector<Rules> AllRules() {
  std::vector<Rules> all;
  all.push_back(SimplifyRules());
  all.push_back(FusionRules());
  all.push_back(LastFusionRules());
  all.push_back(ConversionRules());
  all.push_back(MergeRules(Dialect::kOnnxRuntime));
  return all;
}

}  // namespace

std::vector<std::string> PipelineNames() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  for (const Format& format : kFormats) {
    for (const std::unique_ptr<Pass>& split : SplitsOfOps(format.format)) {
      names.push_back(Concat(split->name(), format.word));
    }
  }
  for (const Rules& rules : AllRules()) {
    for (const std::unique_ptr<RewriteRule>& rule : rules) names.emplace_back(rule->name());
  }
  return names;
}

absl::StatusOr<Pipeline> MakePipelineByName(std::string_view name, const PrecisionPlan* plan) {
  static const PrecisionPlan* const empty = new PrecisionPlan();
  for (const Row& row : kRows) {
    if (row.name == name) return row.make(name, plan == nullptr ? *empty : *plan);
  }
  Pipeline p{std::string(name)};
  if (IsNamedPass(name)) {
    HALFTONE_ASSIGN_OR_RETURN(std::unique_ptr<Pass> pass, ParseNamedPass(name));
    p.Add(std::move(pass));
    return p;
  }
  for (const Format& format : kFormats) {
    for (std::unique_ptr<Pass>& split : SplitsOfOps(format.format)) {
      if (name != Concat(split->name(), format.word)) continue;
      p.Add(std::move(split));
      p.Add<RemoveDeadNodes>();  // constants that it has taken apart
      return p;
    }
  }
  for (Rules& rules : AllRules()) {
    for (std::unique_ptr<RewriteRule>& rule : rules) {
      if (rule->name() != name) continue;
      Rules one;
      one.push_back(std::move(rule));
      p.AddFixedPoint(std::string(name), std::move(one));
      return p;
    }
  }
  std::string known;
  for (const std::string& other : PipelineNames()) known += Concat(known.empty() ? "" : ", ", other);
  return absl::NotFoundError(Concat("no pipeline '", name, "'; there are: ", known));
}

absl::StatusOr<Pipeline> MakePipelineOf(const Reproducer& reproducer) {
  const PrecisionPlan* plan = reproducer.planned ? &reproducer.plan : nullptr;
  absl::StatusOr<Pipeline> alone = MakePipelineByName(reproducer.pass, plan);
  return alone.ok() ? std::move(alone) : MakePipelineByName(reproducer.pipeline, plan);
}

}  // namespace halftone

// What the optimizer does, in order. Read this file first.

#include "passes/pipelines.h"

#include <memory>
#include <string>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "passes/fusion/rules.h"
#include "passes/lowering/merges.h"
#include "passes/lowering/spell_dialect.h"
#include "passes/lowering/split_activations.h"
#include "passes/lowering/split_fused.h"
#include "passes/lowering/split_layer_norm.h"
#include "passes/lowering/split_softmax.h"
#include "passes/lowering/splits.h"
#include "passes/precision/apply_precision.h"
#include "passes/precision/conversions.h"
#include "passes/simplify/passes.h"
#include "passes/simplify/rules.h"
#include "passes/surgery/named_passes.h"

namespace halftone {

namespace {

// One level of nesting a round.
std::vector<std::unique_ptr<Pass>> SinkRules() {
  std::vector<std::unique_ptr<Pass>> passes;
  passes.push_back(std::make_unique<SinkConstants>());
  return passes;
}

}  // namespace

Pipeline MakeOptimizePipeline() {
  Pipeline p("optimize");
  p.Add<NameDimensions>();
  p.Add<InferShapesPass>();
  p.AddFixedPoint("simplify", SimplifyRules());
  p.Add<FoldConstants>();
  p.AddFixedPoint("sink", SinkRules());    // after folding: what nested graphs capture is constant only now
  p.Add<MergeDuplicates>();                // after folding: equal constants make equal nodes
  p.AddFixedPoint("fuse", FusionRules());  // after folding: biases are constants only now
  p.AddFixedPoint("fuse-last", LastFusionRules());
  p.Add<FoldConstants>();
  p.Add<RemoveDeadNodes>();
  p.Add<InferShapesPass>();
  p.Add<ForgetDimensionNames>();
  return p;
}

// Runs on the optimized graph, once per variant; the plan came from a planner, which edits nothing.
Pipeline MakePrecisionPipeline(const PrecisionPlan& plan) {
  Pipeline p("precision");
  p.Add<ApplyPrecision>(plan);
  p.AddFixedPoint("conversions", ConversionRules());
  p.Add<MergeDuplicates>();  // two casts of one value
  p.Add<RemoveDeadNodes>();  // f32 constants that are only read as bf16
  return p;
}

Pipeline MakeExportPipeline(GraphFormat format, Dialect dialect) {
  Pipeline p(format == GraphFormat::kGraphDef ? "export-graphdef" : "export-onnx");
  for (std::unique_ptr<Pass>& split : SplitsOfOps(format, dialect)) p.Add(std::move(split));
  p.Add<SplitFused>(format, dialect);
  if (format == GraphFormat::kGraphDef) p.Add<SplitActivations>(dialect);  // after it: it makes them
  if (format == GraphFormat::kGraphDef) p.Add<SplitLayerNorm>(dialect);
  p.Add<SplitSoftmax>(format, dialect);
  p.Add<RemoveDeadNodes>();
  if (Rules merges = MergeRules(dialect); !merges.empty()) p.AddFixedPoint("merge", std::move(merges));
  p.Add<SpellDialect>(format, dialect);
  return p;
}

namespace {

const PrecisionPlan& EmptyPlan() {
  static const PrecisionPlan* const plan = new PrecisionPlan();
  return *plan;
}

// Every rule of `rules` under its own name.
bool AddRule(Rules rules, std::string_view name, Pipeline& pipeline) {
  for (std::unique_ptr<RewriteRule>& rule : rules) {
    if (rule->name() != name) continue;
    Rules one;
    one.push_back(std::move(rule));
    pipeline.AddFixedPoint(std::string(name), std::move(one));
    return true;
  }
  return false;
}

constexpr std::pair<GraphFormat, std::string_view> kFormatWords[] = {{GraphFormat::kOnnx, "-onnx"},
                                                                    {GraphFormat::kGraphDef, "-graphdef"}};

// "split-l2-loss-onnx" and its like.
bool AddSplit(std::string_view name, Pipeline& pipeline) {
  for (const auto& [format, word] : kFormatWords) {
    for (std::unique_ptr<Pass>& split : SplitsOfOps(format)) {
      if (name != Concat(split->name(), word)) continue;
      pipeline.Add(std::move(split));
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<std::string_view> PipelineNames() {
  std::vector<std::string_view> names = {"optimize",          "precision",
                                         "export-onnx",       "export-graphdef",
                                         "export-tensorflow", "export-itex",
                                         "export-onnxruntime",
                                         "simplify",          "fuse",
                                         "conversions",       "infer-shapes",
                                         "fold-constants",    "merge-duplicates",
                                         "remove-dead-nodes", "apply-precision", "sink-constants",
                                         "split-fused-onnx",  "split-fused-graphdef",
                                         "split-activations", "split-softmax", "split-layer-norm"};
  for (const char* split : {"split-binary-chain-onnx", "split-comparisons-onnx", "split-gru-attention-onnx",
                            "split-l2-loss-onnx", "split-scaled-attention-onnx", "split-conv-layout-onnx",
                            "split-instance-norm-graphdef", "split-prelu-graphdef", "split-conv-groups-graphdef", "split-binary-chain-graphdef",
                            "split-comparisons-graphdef", "split-gru-attention-graphdef", "split-l2-loss-graphdef",
                            "split-scaled-attention-graphdef"})
    names.push_back(split);
  for (const Rules& rules : {SimplifyRules(), FusionRules(), LastFusionRules(), ConversionRules(), MergeRules(Dialect::kOnnxRuntime)}) {
    for (const std::unique_ptr<RewriteRule>& rule : rules) names.push_back(rule->name());
  }
  return names;
}

absl::StatusOr<Pipeline> MakePipelineByName(std::string_view name, const PrecisionPlan* plan) {
  const PrecisionPlan& the_plan = plan == nullptr ? EmptyPlan() : *plan;
  if (name == "optimize") return MakeOptimizePipeline();
  if (name == "precision") return MakePrecisionPipeline(the_plan);
  if (name == "export-onnx") return MakeExportPipeline(GraphFormat::kOnnx);
  if (name == "export-graphdef") return MakeExportPipeline(GraphFormat::kGraphDef);
  if (name == "export-tensorflow") return MakeExportPipeline(GraphFormat::kGraphDef, Dialect::kTensorFlow);
  if (name == "export-onnxruntime") return MakeExportPipeline(GraphFormat::kOnnx, Dialect::kOnnxRuntime);
  if (name == "export-itex") return MakeExportPipeline(GraphFormat::kGraphDef, Dialect::kItex);

  Pipeline p{std::string(name)};
  if (name == "simplify") {
    p.AddFixedPoint("simplify", SimplifyRules());
  } else if (name == "fuse") {
    p.AddFixedPoint("fuse", FusionRules());
  } else if (name == "conversions") {
    p.AddFixedPoint("conversions", ConversionRules());
  } else if (name == "infer-shapes") {
    p.Add<InferShapesPass>();
  } else if (name == "fold-constants") {
    p.Add<FoldConstants>();
  } else if (name == "merge-duplicates") {
    p.Add<MergeDuplicates>();
  } else if (name == "sink-constants") {
    p.AddFixedPoint("sink", SinkRules());
    p.Add<RemoveDeadNodes>();
  } else if (name == "remove-dead-nodes") {
    p.Add<RemoveDeadNodes>();
  } else if (name == "apply-precision") {
    p.Add<ApplyPrecision>(the_plan);
    p.Add<RemoveDeadNodes>();
  } else if (name == "split-fused-onnx") {
    p.Add<SplitFused>(GraphFormat::kOnnx);
  } else if (name == "split-fused-graphdef") {
    p.Add<SplitFused>(GraphFormat::kGraphDef);
  } else if (name == "split-activations") {
    p.Add<SplitActivations>();
  } else if (name == "split-layer-norm") {
    p.Add<SplitLayerNorm>();
  } else if (name == "split-softmax") {
    p.Add<SplitSoftmax>(GraphFormat::kOnnx);
  } else if (IsNamedPass(name)) {
    HALFTONE_ASSIGN_OR_RETURN(std::unique_ptr<Pass> pass, ParseNamedPass(name));
    p.Add(std::move(pass));
  } else if (!AddSplit(name, p) && !AddRule(SimplifyRules(), name, p) && !AddRule(FusionRules(), name, p) &&
             !AddRule(LastFusionRules(), name, p) && !AddRule(ConversionRules(), name, p) && !AddRule(MergeRules(Dialect::kOnnxRuntime), name, p)) {
    std::string known;
    for (const std::string_view other : PipelineNames()) known += Concat(known.empty() ? "" : ", ", other);
    return absl::NotFoundError(Concat("no pipeline '", name, "'; there are: ", known));
  }
  return p;
}

absl::StatusOr<Pipeline> MakePipelineOf(const Reproducer& reproducer) {
  const PrecisionPlan* plan = reproducer.planned ? &reproducer.plan : nullptr;
  absl::StatusOr<Pipeline> alone = MakePipelineByName(reproducer.pass, plan);
  return alone.ok() ? std::move(alone) : MakePipelineByName(reproducer.pipeline, plan);
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// What the optimizer does, in order. Read this file first.

#include "passes/pipelines.h"

#include <memory>
#include <string>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "passes/export/merges.h"
#include "passes/export/share_constants.h"
#include "passes/export/spell_dialect.h"
#include "passes/export/splits.h"
#include "passes/export/widen_types.h"
#include "passes/fusion/rules.h"
#include "passes/precision/apply_precision.h"
#include "passes/precision/conversions.h"
#include "passes/precision/use_bf16_math_mode.h"
#include "passes/prepare/build_loops.h"
#include "passes/quantize/equalize_channels.h"
#include "passes/quantize/fold_quantization.h"
#include "passes/quantize/fold_weights.h"
#include "passes/quantize/insert_quantization.h"
#include "passes/quantize/quantize_dynamically.h"
#include "passes/quantize/quantize_weights.h"
#include "passes/quantize/recurrent_state.h"
#include "passes/quantize/smooth_activations.h"
#include "passes/simplify/passes.h"
#include "passes/simplify/rules.h"
#include "passes/transforms/named_passes.h"

namespace halftone {

namespace {

// One level of nesting per round.
void AddSink(Pipeline& p) {
  std::vector<std::unique_ptr<Pass>> passes;
  passes.push_back(std::make_unique<SinkConstants>());
  p.AddFixedPoint("sink", std::move(passes));
}

}  // namespace

absl::StatusOr<Pipeline> MakeTransformPipeline(std::string_view transform) {
  HALFTONE_ASSIGN_OR_RETURN(std::unique_ptr<Pass> pass, ParseNamedPass(transform));
  Pipeline p("policy");
  p.Add(std::move(pass));
  return p;
}

Pipeline MakeOptimizePipeline() {
  Pipeline p("optimize");
  p.Add<NameDimensions>();
  p.Add<InferShapesPass>();
  p.AddFixedPoint("simplify", SimplifyRules());
  p.Add<FoldConstants>();
  AddSink(p);                              // after folding: what nested graphs capture is constant only now
  p.Add<MergeDuplicates>();                // after folding: equal constants make equal nodes
  p.AddFixedPoint("fuse", FusionRules());  // after folding: biases are constants only now
  p.AddFixedPoint("fuse-mixed", MixedFusionRules());
  p.AddFixedPoint("fuse-last", LastFusionRules());
  p.AddFixedPoint("conversions", ConversionRules());  // of a file that was written with casts
  p.Add<FoldConstants>();
  p.Add<RemoveDeadNodes>();
  p.Add<InferShapesPass>();
  p.Add<ForgetDimensionNames>();
  return p;
}

Pipeline MakeApplyPrecisionPipeline(const PrecisionPlan& plan) {
  Pipeline p("apply-precision");
  p.Add<ApplyPrecision>(plan);
  return p;
}

Pipeline MakeCastPipeline(bool bf16_math_mode) {
  Pipeline p("casts");
  p.AddFixedPoint("conversions", ConversionRules());
  p.Add<MergeDuplicates>();  // two casts of one value
  p.Add<RemoveDeadNodes>();  // f32 constants that are only read as bf16
  if (bf16_math_mode) p.Add<UseBf16MathMode>();
  return p;
}

Pipeline MakePrecisionPipeline(const PrecisionPlan& plan) {
  Pipeline p("precision");
  p.Append(MakeApplyPrecisionPipeline(plan));
  p.Append(MakeCastPipeline());
  return p;
}

Pipeline MakeEqualizePipeline() {
  Pipeline p("equalize");
  p.Add<EqualizeChannels>();
  p.Add<RemoveDeadNodes>();
  return p;
}

Pipeline MakeSmoothPipeline(ValueRanges& ranges) {
  Pipeline p("smooth");
  p.Add<SmoothActivations>(ranges);
  p.Add<RemoveDeadNodes>();
  return p;
}

Pipeline MakeQuantizePipeline(const ValueRanges& ranges, std::set<NodeId> nodes, const QuantizeOptions& options) {
  Pipeline p("quantize");
  p.Add<InsertQuantization>(ranges, std::move(nodes), options);  // with correct_bias.h, recurrent_state.h
  p.Add<RemoveDeadNodes>();
  return p;
}

Pipeline MakeDynamicQuantizePipeline(std::set<NodeId> nodes, const QuantizeOptions& options) {
  Pipeline p("quantize");
  p.Add<QuantizeDynamically>(std::move(nodes), options);
  p.Add<RemoveDeadNodes>();
  return p;
}

Pipeline MakeWeightOnlyPipeline(std::set<NodeId> nodes, bool per_channel) {
  Pipeline p("quantize");
  p.Add<QuantizeWeights>(std::move(nodes), per_channel);
  p.Add<RemoveDeadNodes>();
  return p;
}

Pipeline MakeFoldPipeline() {
  Pipeline p("fold");
  p.Add<FoldConstants>();  // biases, which are stored in s32
  p.Add<FoldRecurrentQuantization>();
  p.Add<FoldQuantization>();
  return p;
}

Pipeline MakeSaturationCheckPipeline() {
  Pipeline p("check-saturation");
  p.Add<FoldConstants>();
  return p;
}

Pipeline MakePreparePipeline(Preparation preparation) {
  Pipeline p("prepare");
  p.Add<BuildLoopsPass>();
  if (preparation == Preparation::kFold) p.Add<FoldConstants>();  // as the optimize pipeline does with a file
  if (preparation == Preparation::kOptimize) p.Append(MakeOptimizePipeline());
  if (preparation != Preparation::kPlain) p.Append(MakeRunPipeline());
  return p;
}

Pipeline MakeRunPipeline() {
  Pipeline p("run");
  p.Add<FoldRecurrentQuantization>();
  p.Add<FoldQuantization>();  // after fusion: activations and residuals belong to their convolutions
  p.Add<FoldWeights>();       // after it: nodes that compute with integers read them by now
  p.Add<MergeDuplicates>();   // two requantizations of one value
  p.AddFixedPoint("fuse-integers", IntegerFusionRules());  // quantize and dequantize nodes are gone from between them
  p.Add<RemoveDeadNodes>();
  return p;
}

Pipeline MakeExportPipeline(const FileDialect& file, FileTypes types) {
  Pipeline p(Concat("export-", file.name));
  for (std::unique_ptr<Pass>& split : SplitsFor(file)) p.Add(std::move(split));  // the list is in export/splits.cc
  p.Add<RemoveDeadNodes>();
  if (Rules merges = MergeRules(file); !merges.empty()) p.AddFixedPoint("merge", std::move(merges));
  p.Add<SpellDialect>(file);
  if (types != nullptr)
    p.Add<WidenTypes>(std::move(types));  // after the spelling, which decides which types an op takes
  p.Add<ShareConstants>(file);
  return p;
}

}  // namespace halftone

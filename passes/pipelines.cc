// What the optimizer does, in order. Read this file first.

#include "passes/pipelines.h"

#include <memory>
#include <string>
#include <utility>

#include "base/strings.h"
#include "passes/export/merges.h"
#include "passes/export/share_constants.h"
#include "passes/export/spell_dialect.h"
#include "passes/export/splits.h"
#include "passes/export/widen_types.h"
#include "passes/fusion/rules.h"
#include "passes/precision/apply_precision.h"
#include "passes/precision/conversions.h"
#include "passes/quantize/fold_quantization.h"
#include "passes/quantize/fold_weights.h"
#include "passes/quantize/recurrent_state.h"
#include "passes/simplify/passes.h"
#include "passes/simplify/rules.h"

namespace halftone {

namespace {

// One level of nesting a round.
void AddSink(Pipeline& p) {
  std::vector<std::unique_ptr<Pass>> passes;
  passes.push_back(std::make_unique<SinkConstants>());
  p.AddFixedPoint("sink", std::move(passes));
}

}  // namespace

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

// Runs on the optimized graph, once per variant; the plan came from a planner, which edits nothing.
Pipeline MakePrecisionPipeline(const PrecisionPlan& plan) {
  Pipeline p("precision");
  p.Add<ApplyPrecision>(plan);
  p.AddFixedPoint("conversions", ConversionRules());
  p.Add<MergeDuplicates>();  // two casts of one value
  p.Add<RemoveDeadNodes>();  // f32 constants that are only read as bf16
  return p;
}

Pipeline MakeRunPipeline() {
  Pipeline p("run");
  p.Add<FoldRecurrentQuantization>();
  p.Add<FoldQuantization>();  // after fusion: activations and residuals belong to their convolutions
  p.Add<FoldWeights>();       // after it: who computes with integers reads them by now
  p.Add<MergeDuplicates>();   // two requantizations of one value
  p.AddFixedPoint("fuse-integers", IntegerFusionRules());  // no pair stands between these nodes any more
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
    p.Add<WidenTypes>(std::move(types));  // after the spelling: which op it is says which types it takes
  p.Add<ShareConstants>(file);
  return p;
}

}  // namespace halftone

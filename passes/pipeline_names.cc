// SPDX-License-Identifier: Apache-2.0
// Pipelines, fixed points, passes and rules by their names, for tools and golden files. pipelines.cc is what runs.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "passes/export/merges.h"
#include "passes/export/share_constants.h"
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

struct Row {
  std::string_view name;
  Make make;
};

constexpr Row kRows[] = {
    // --- Pipelines.
    {"optimize", [](std::string_view, const PrecisionPlan&) { return MakeOptimizePipeline(); }},
    {"precision", [](std::string_view, const PrecisionPlan& plan) { return MakePrecisionPipeline(plan); }},
    {"run", [](std::string_view, const PrecisionPlan&) { return MakeRunPipeline(); }},
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
    {"use-bf16-math-mode", One<UseBf16MathMode>},
    {"equalize-channels", EqualizeChannelsByName},
    {"fold-recurrent-quantization", One<FoldRecurrentQuantization>},
    {"fold-quantization", One<FoldQuantization>},
    {"fold-weights", FoldWeightsByName},
};

// Passes of a dialect other than the splits, which run after them.
std::vector<std::unique_ptr<Pass>> OtherPassesFor(const FileDialect& file) {
  std::vector<std::unique_ptr<Pass>> passes;
  passes.push_back(std::make_unique<ShareConstants>(file));
  return passes;
}

// "split-fused-DIALECT".
std::string NameFor(const Pass& pass, const FileDialect& file) { return Concat(pass.name(), "-", file.name); }

// All rules, each of which has a name of its own.
std::vector<Rules> AllRules(std::span<const FileDialect* const> dialects) {
  std::vector<Rules> all;
  all.push_back(SimplifyRules());
  all.push_back(FusionRules());
  all.push_back(LastFusionRules());
  all.push_back(ConversionRules());
  for (const FileDialect* file : dialects) all.push_back(MergeRules(*file));
  return all;
}

// The pipeline or pass of a dialect of this name; nullopt: there is none.
std::optional<Pipeline> MakeForDialect(std::string_view name, std::span<const FileDialect* const> dialects) {
  for (const FileDialect* file : dialects) {
    if (name == Concat("export-", file->name)) return MakeExportPipeline(*file);
    for (const auto& make : {SplitsFor, OtherPassesFor}) {
      for (std::unique_ptr<Pass>& pass : make(*file)) {
        if (name != NameFor(*pass, *file)) continue;
        Pipeline p{std::string(name)};
        p.Add(std::move(pass));
        p.Add<RemoveDeadNodes>();  // constants that it has taken apart
        return p;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> PipelineNames(std::span<const FileDialect* const> dialects) {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  for (const FileDialect* file : dialects) {
    names.push_back(Concat("export-", file->name));
    for (const auto& make : {SplitsFor, OtherPassesFor}) {
      for (const std::unique_ptr<Pass>& pass : make(*file)) names.push_back(NameFor(*pass, *file));
    }
  }
  for (const Rules& rules : AllRules(dialects)) {
    for (const std::unique_ptr<RewriteRule>& rule : rules) names.emplace_back(rule->name());
  }
  return names;
}

absl::StatusOr<Pipeline> MakePipelineByName(std::string_view name, const NamedPipelineOptions& options) {
  static const PrecisionPlan* const empty = new PrecisionPlan();
  for (const Row& row : kRows) {
    if (row.name == name) return row.make(name, options.plan == nullptr ? *empty : *options.plan);
  }
  Pipeline p{std::string(name)};
  if (IsNamedPass(name)) {
    HALFTONE_ASSIGN_OR_RETURN(std::unique_ptr<Pass> pass, ParseNamedPass(name));
    p.Add(std::move(pass));
    return p;
  }
  if (std::optional<Pipeline> of_dialect = MakeForDialect(name, options.dialects)) return *std::move(of_dialect);
  for (Rules& rules : AllRules(options.dialects)) {
    for (std::unique_ptr<RewriteRule>& rule : rules) {
      if (rule->name() != name) continue;
      Rules one;
      one.push_back(std::move(rule));
      p.AddFixedPoint(std::string(name), std::move(one));
      return p;
    }
  }
  std::string known;
  for (const std::string& other : PipelineNames(options.dialects)) known += Concat(known.empty() ? "" : ", ", other);
  return absl::NotFoundError(Concat("no pipeline '", name, "'; there are: ", known));
}

absl::StatusOr<Pipeline> MakePipelineOf(const Reproducer& reproducer, std::span<const FileDialect* const> dialects) {
  const NamedPipelineOptions options{.plan = reproducer.planned ? &reproducer.plan : nullptr, .dialects = dialects};
  absl::StatusOr<Pipeline> alone = MakePipelineByName(reproducer.pass, options);
  return alone.ok() ? std::move(alone) : MakePipelineByName(reproducer.pipeline, options);
}

}  // namespace halftone

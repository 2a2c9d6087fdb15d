#include "optimizer/lower_int8.h"

#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/editor.h"
#include "ir/quantization.h"
#include "ir/recurrent.h"
#include "optimizer/explain.h"
#include "optimizer/export_graph.h"
#include "optimizer/pass_context.h"
#include "optimizer/plan_int8.h"
#include "optimizer/plan_precision.h"
#include "optimizer/quantize_for_runtime.h"
#include "passes/pipelines.h"
#include "passes/precision/type_variables.h"
#include "passes/quantize/equalize_channels.h"
#include "passes/quantize/insert_quantization.h"
#include "passes/quantize/quantizable_ops.h"
#include "passes/quantize/quantize_dynamically.h"
#include "passes/quantize/quantize_weights.h"
#include "passes/quantize/quantized_values.h"
#include "passes/quantize/smooth_activations.h"
#include "passes/simplify/passes.h"
#include "runtime/measure/profile.h"

namespace halftone {
namespace {

// Of the arrays in these files; nothing where there are none.
absl::StatusOr<InputDims> DimsOf(const std::vector<SampleFile>& files) {
  if (files.empty()) return InputDims();
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<SampleSource> samples, OpenSamples(files));
  return samples->dims();
}

// The scale and zero point of the pair that stands in front of an input; "" where there is none.
std::string DescribePair(const Graph& graph, ValueId value) {
  if (!value.valid() || graph.op(value) != OpKind::kDequantizeLinear) return "";
  const NodeId dequantize = graph.producer(value);
  const std::shared_ptr<const Quantization> quantization = QuantizationOf(graph, dequantize);
  if (quantization == nullptr) return "";
  const ValueId integers = graph.input(dequantize, 0);
  const std::string type(DataTypeName(graph.type(integers)));
  if (!quantization->per_tensor()) return Concat(type, " with ", quantization->scales.size(), " scales");
  const float scale = quantization->scales[0];
  const int zero_point = quantization->zero_points[0];
  const IntegerRange limits = QuantizedRange(graph.type(integers)).value_or(IntegerRange{});
  return absl::StrFormat("%s scale %.6g zero point %d, [%.6g, %.6g]", type.c_str(), scale, zero_point,
                         scale * static_cast<float>(limits.low - zero_point),
                         scale * static_cast<float>(limits.high - zero_point));
}

// What a node reads, behind its reason.
std::string DescribeInputs(const Graph& graph, NodeId id) {
  const QuantizedRole role = QuantizedRoleOf(graph, id);
  std::string text;
  for (const int i : QuantizableInputs(graph, id)) {
    const std::string pair = DescribePair(graph, graph.input(id, i));
    if (pair.empty()) continue;
    const bool state_weights = role == QuantizedRole::kRecurrent && i == kRecurrentR;
    const std::string name = !MultipliesWeights(role) || i == 0 ? Concat("input ", i)
                             : i == 1                           ? "weights"
                             : state_weights                    ? "weights of the state"
                                                                : "residual";
    text += Concat("; ", name, ": ", pair);
  }
  return text;
}

// The share of multiply-adds of `nodes` among those of all contractions, for the summary. NaN: shapes are not known.
double ShareOf(const Graph& graph, const std::set<NodeId>& nodes) {
  double all = 0, mine = 0;
  for (const NodeId id : graph.nodes()) {
    const double flop = FlopOf(graph, id);
    all += flop;
    if (nodes.contains(id)) mine += flop;
  }
  return all > 0 ? mine / all : std::nan("");
}

absl::StatusOr<std::string> Summarize(const Int8Base& base, const Int8Plan& plan, const ValueRanges& ranges,
                                      const OptimizeOptions& options) {
  Graph bound = base.graph;
  HALFTONE_RETURN_IF_ERROR(BindShapes(bound, options.benchmark.sizes, base.samples));
  int64_t contractions = 0, lowered = 0, others = 0;
  bool recurrent = false;
  for (const NodeId id : bound.nodes()) {
    const QuantizedRole role = QuantizedRoleOf(bound, id);
    recurrent = recurrent || role == QuantizedRole::kRecurrent;
    const bool multiplies = MultipliesWeights(role);
    const bool chosen = plan.nodes.contains(id);
    contractions += multiplies ? 1 : 0;
    lowered += multiplies && chosen ? 1 : 0;
    others += !multiplies && chosen ? 1 : 0;
  }
  const char* what = recurrent ? " convolutions, products and recurrent layers" : " convolutions and products";
  std::string text = Concat(lowered, " of ", contractions, what, " and ", others,
                            others == 1 ? " other node" : " other nodes", " to int8");
  const Int8Mode mode = options.int8.mode;
  if (mode == Int8Mode::kDynamic) text += ", mode dynamic: each run finds the ranges";
  if (mode == Int8Mode::kWeightOnly) return text + ", mode weights: computed as before";
  const double share = ShareOf(bound, plan.nodes);
  if (std::isfinite(share)) text += absl::StrFormat(", %.1f %% of the multiply-adds", 100 * share);
  if (ranges.samples > 0) text += Concat("; ranges of ", ranges.samples, ranges.synthetic ? " random" : "", " samples");
  return text;
}

// Of the ranges, for the file.
std::string SourceOf(const ValueRanges& ranges) {
  const char* samples = ranges.samples == 1 ? " sample" : " samples";
  if (ranges.synthetic) return Concat("SYNTHETIC: ", ranges.samples, " random", samples);
  return ranges.samples > 0 ? Concat(ranges.samples, samples) : "given ranges";
}

// The rest of what is planned, without the nodes that compute in int8.
PrecisionPlan WithoutInt8(const Int8Base& base, const std::set<NodeId>& nodes, Int8Mode mode) {
  PrecisionPlan rest = base.rest;
  if (mode == Int8Mode::kWeightOnly) return rest;
  for (const NodeId id : nodes) {
    const auto it = rest.decisions.find({base.graph.node(id).origin, PlannedVariable(base.graph.op(id))});
    if (it != rest.decisions.end()) it->second = {};
  }
  return rest;
}

// Nodes without a name take that of their result, which their integers will not have: steps are told apart by it.
void NameNodes(const std::set<NodeId>& nodes, Graph& graph) {
  GraphEditor edit(graph);
  std::set<std::string> taken;
  for (const NodeId id : graph.nodes()) taken.insert(graph.node(id).name);
  for (const NodeId id : nodes) {
    const ValueId result = graph.output(id);
    if (!graph.node(id).name.empty() || !result.valid()) continue;
    const std::string name = graph.value(result).name;
    if (taken.insert(name).second) edit.SetName(id, name);
  }
}

// The nodes in the form of the mode, then the rest.
absl::Status Quantize(const ValueRanges& ranges, const std::set<NodeId>& nodes, const PrecisionPlan& rest,
                      const OptimizeOptions& options, PassContext& context, Graph& graph) {
  NameNodes(nodes, graph);
  Pipeline quantize("quantize");
  const QuantizeOptions how = QuantizeOptionsOf(options, WrittenFormat(graph));
  switch (options.int8.mode) {
    case Int8Mode::kStatic:
      quantize.Add<InsertQuantization>(ranges, nodes, how);
      break;
    case Int8Mode::kDynamic:
      quantize.Add<QuantizeDynamically>(nodes, how);
      break;
    case Int8Mode::kWeightOnly:
      quantize.Add<QuantizeWeights>(nodes, how.per_channel_weights);
      break;
  }
  quantize.Add<RemoveDeadNodes>();
  HALFTONE_RETURN_IF_ERROR(quantize.Run(graph, context));
  if (rest.decisions.empty()) return absl::OkStatus();
  context.plan = &rest;
  const absl::Status status = MakePrecisionPipeline(rest).Run(graph, context);
  context.plan = nullptr;
  return status;
}

// Reasons by the names of nodes, as the file's decisions have them.
struct NamedReasons {
  std::map<std::string, Reason> reasons;
  std::set<std::string> int8;
  std::map<std::string, double> sqnr_alone;  // in dB
  std::map<std::string, ResultRange> results;
};

// Of what the nodes of the base make.
std::map<std::string, ResultRange> ResultRanges(const Int8Base& base, const ValueRanges& ranges,
                                                const Graph& quantized) {
  std::map<std::string, ResultRange> results;
  for (const NodeId id : base.graph.nodes()) {
    const ValueId result = base.graph.output(id);
    const ValueRange* range = result.valid() ? ranges.Find(base.graph, result) : nullptr;
    if (range != nullptr && quantized.alive(id)) results[quantized.Label(id)] = {range->min, range->max};
  }
  return results;
}

NamedReasons NameReasons(const Graph& quantized, const Int8Plan& plan, const Int8Search& search, Int8Mode mode,
                         bool rest_is_planned) {
  NamedReasons named;
  for (const auto& [id, reason] : plan.reasons) {
    if (!quantized.alive(id)) continue;
    const std::string label = quantized.Label(id);
    if (plan.nodes.contains(id)) {
      if (mode != Int8Mode::kWeightOnly) named.int8.insert(label);
      named.reasons[label] = {reason.rule, Concat(reason.text, DescribeInputs(quantized, id))};
    } else if (!rest_is_planned || search.excluded.contains(id)) {
      named.reasons[label] = reason;
    }
  }
  for (const auto& [id, sqnr_db] : search.sqnr_alone) {
    if (quantized.alive(id)) named.sqnr_alone[quantized.Label(id)] = sqnr_db;
  }
  for (const NodeId id : quantized.nodes()) {
    const bool quantizes = quantized.op(id) == OpKind::kQuantizeLinear;
    const bool finds_range = quantized.op(id) == OpKind::kDynamicQuantizeLinear;
    if (!quantizes && !finds_range && quantized.op(id) != OpKind::kDequantizeLinear) continue;
    if (plan.reasons.contains(id)) continue;  // the model had it
    if (finds_range) {
      named.reasons[quantized.Label(id)] = {"lowering.quantize",
                                            "finds the range of what products read, and rounds it"};
      continue;
    }
    const std::string pair = quantizes ? "" : DescribePair(quantized, quantized.output(id));
    named.reasons[quantized.Label(id)] = {"lowering.quantize",
                                          Concat("half of a pair", pair.empty() ? "" : ": ", pair)};
  }
  return named;
}

std::string WhyNothing(Int8Mode mode) {
  if (mode == Int8Mode::kStatic) return "no node of this model can be computed in int8 here";
  return Concat("no node of this model has a form for int8 mode ", Int8ModeName(mode));
}

void Explain(const NamedReasons& named, std::vector<NodeDecision>& decisions) {
  for (NodeDecision& decision : decisions) {
    if (const auto it = named.reasons.find(decision.node); it != named.reasons.end()) decision.reason = it->second;
    if (named.int8.contains(decision.node)) decision.precision = VariantKind::kInt8;
    const auto alone = named.sqnr_alone.find(decision.node);
    if (alone != named.sqnr_alone.end()) decision.sqnr_alone_db = alone->second;
    const auto result = named.results.find(decision.node);
    if (result != named.results.end()) decision.result = result->second;
  }
}

}  // namespace

absl::StatusOr<Int8Base> MakeInt8Base(const PreparedModel& model, const Target& target,
                                      const OptimizeOptions& options) {
  Int8Base base;
  base.warnings = model.warnings;
  bool lowers_rest = options.int8.rest == VariantKind::kBf16;
  if (lowers_rest && !target.IsNative(DataType::kBFloat16) && !options.force) {
    lowers_rest = false;
    base.warnings.push_back("int8: what is not int8 stays fp32: this CPU has no bfloat16 instructions");
  }
  base.graph = model.graph;
  base.rewrites = model.rewrites;
  const std::unique_ptr<const Target> fusing =
      FusionTargetFor(WrittenFormat(model.graph), options.target_runtime, options.int8, target);
  const bool fused_plan = lowers_rest && PlansFusedGraph(options);
  if (lowers_rest) {
    HALFTONE_ASSIGN_OR_RETURN(GraphWithPlan planned, PlanModel(model, *fusing, options, DataType::kBFloat16));
    base.graph = std::move(planned.graph);
    base.rewrites = std::move(planned.rewrites);
    base.rest = std::move(planned.planned.plan);
    for (std::string& note : planned.notes) base.warnings.push_back(std::move(note));
    for (std::string& warning : planned.planned.warnings) base.warnings.push_back(std::move(warning));
  }
  RewriteLog log;
  HALFTONE_ASSIGN_OR_RETURN(PassContext context, MakeContext(*fusing, options, log));
  context.plan = lowers_rest ? &base.rest : nullptr;
  if (!fused_plan) HALFTONE_RETURN_IF_ERROR(MakeOptimizePipeline().Run(base.graph, context));
  // Ranges between the layers change: before the calibration.
  if (options.int8.equalize && options.int8.mode == Int8Mode::kStatic) {
    Pipeline equalize("equalize");
    equalize.Add<EqualizeChannels>();
    equalize.Add<RemoveDeadNodes>();
    HALFTONE_RETURN_IF_ERROR(equalize.Run(base.graph, context));
  }
  TakeResults(context, base.rewrites, base.warnings);
  if (!fused_plan) {
    base.ancestry.graph = &model.graph;
    for (const NodeId id : base.graph.nodes()) base.ancestry.origins[id] = base.graph.node(id).origin;
  }
  HALFTONE_ASSIGN_OR_RETURN(base.samples, DimsOf(options.judged_by()));
  return base;
}

absl::Status SmoothBase(Int8Base& base, ValueRanges& ranges, const Target& target, const OptimizeOptions& options) {
  if (!options.int8.smooth) return absl::OkStatus();
  RewriteLog log;
  HALFTONE_ASSIGN_OR_RETURN(PassContext context, MakeContext(target, options, log));
  Pipeline smooth("smooth");
  smooth.Add<SmoothActivations>(ranges);
  smooth.Add<RemoveDeadNodes>();
  HALFTONE_RETURN_IF_ERROR(smooth.Run(base.graph, context));
  TakeResults(context, base.rewrites, base.warnings);
  return absl::OkStatus();
}

absl::StatusOr<LoweredGraph> MakeInt8(const Int8Base& base, const ValueRanges& ranges, const PreparedModel& model,
                                      const Target& target, const OptimizeOptions& options, const Int8Search& search) {
  HALFTONE_ASSIGN_OR_RETURN(
      const Int8Plan plan, PlanInt8(base.graph, ranges, target, options, base.ancestry, base.samples, search.excluded));
  if (plan.nodes.empty() && base.rest.decisions.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(LoweredGraph kept, KeepFp32(VariantKind::kInt8, model, target, options,
                                                          {"baseline.kept", WhyNothing(options.int8.mode)}));
    kept.warnings.insert(kept.warnings.end(), plan.warnings.begin(), plan.warnings.end());
    Explain(NameReasons(base.graph, plan, search, options.int8.mode, /*rest_is_planned=*/false), kept.decisions);
    return kept;
  }
  LoweredGraph result;
  result.kind = VariantKind::kInt8;
  result.graph = base.graph;
  result.rewrites = base.rewrites;
  result.warnings = base.warnings;
  result.warnings.insert(result.warnings.end(), plan.warnings.begin(), plan.warnings.end());
  HALFTONE_ASSIGN_OR_RETURN(result.summary, Summarize(base, plan, ranges, options));

  RewriteLog log;
  HALFTONE_ASSIGN_OR_RETURN(PassContext context, MakeContext(target, options, log));
  const PrecisionPlan rest = WithoutInt8(base, plan.nodes, options.int8.mode);
  const bool rest_is_planned = !rest.decisions.empty();
  HALFTONE_RETURN_IF_ERROR(Quantize(ranges, plan.nodes, rest, options, context, result.graph));
  NamedReasons named = NameReasons(result.graph, plan, search, options.int8.mode, rest_is_planned);
  named.results = ResultRanges(base, ranges, result.graph);
  result.casts.planned = CountFloatCasts(result.graph);
  context.plan = rest_is_planned ? &rest : nullptr;
  if (options.int8.mode == Int8Mode::kStatic) result.calibration = SourceOf(ranges);
  HALFTONE_RETURN_IF_ERROR(ExportGraph(options, {"lowering.made", "made by a pass"}, context, result));
  Explain(named, result.decisions);
  return result;
}

absl::StatusOr<Graph> LowerBase(const Int8Base& base, const ValueRanges& ranges, const std::set<NodeId>& nodes,
                                const Target& target, const OptimizeOptions& options) {
  Graph graph = base.graph;
  RewriteLog log;
  HALFTONE_ASSIGN_OR_RETURN(PassContext context, MakeContext(target, options, log));
  HALFTONE_RETURN_IF_ERROR(
      Quantize(ranges, nodes, WithoutInt8(base, nodes, options.int8.mode), options, context, graph));
  return graph;
}

double Int8ShareOf(const Graph& folded) {
  std::set<NodeId> lowered;
  for (const NodeId id : folded.nodes()) {
    if (folded.op(id) == OpKind::kMatMulIntegerToFloat) lowered.insert(id);
    if (!MultipliesWeights(QuantizedRoleOf(folded, id))) continue;
    const auto integers = [&](int i) { return folded.quantization(folded.input(id, i)) != nullptr; };
    if (integers(0) && integers(1)) lowered.insert(id);
  }
  const double share = ShareOf(folded, lowered);
  return std::isfinite(share) ? share : 0;
}

absl::StatusOr<double> Int8ShareOf(const RunSpec& file, const Target& target) {
  HALFTONE_ASSIGN_OR_RETURN(const InputDims dims, DimsOf(file.samples));
  HALFTONE_ASSIGN_OR_RETURN(Graph graph, LoadModel(file.model));
  HALFTONE_RETURN_IF_ERROR(PrepareToRun(graph, file.sizes, dims, /*fuse=*/true, target));
  return Int8ShareOf(graph);
}

}  // namespace halftone

// conv: dnnl::convolution_forward with bias, residual and activation in the same primitive.
//
// The plan chooses the layout of images (conv_layouts.cc). Where it has none that is fast the implementation chooses
// (`any`), and those that the values already have are taken instead where the same implementation runs on them. bf16
// that the CPU's instruction set has no kernel for is computed in f32. A residual after the activation that oneDNN has
// only reference loops for is added by a SIMD loop.
#include "base/status.h"
#include "base/strings.h"
#include "runtime/cpu/onednn/contraction_support.h"
#include "runtime/cpu/onednn/finished_step.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/problem.h"
#include "runtime/cpu/simd/activation.h"
#include "runtime/cpu/simd/chain.h"

namespace halftone::onednn {
namespace {

using Primitive = dnnl::convolution_forward::primitive_desc;

constexpr int kWeights = 1, kBias = 2, kResidual = 3;

struct Choice {
  Primitive primitive;
  OperandTypes types;
  Epilogue epilogue;
};

class ConvKernel final : public Kernel {
 public:
  explicit ConvKernel(bool own_activation) : own_activation_(own_activation) {}
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override;
  absl::Status SupportsFused(const Graph& graph, NodeId node, const FusedParts& parts) const override {
    return SupportsFusedContraction(graph, node, parts);
  }
  bool WritesType(const Graph& graph, NodeId node, DataType operand, DataType result) const override {
    return !own_activation_ && ContractionWritesType(graph, node, operand, result);
  }

 private:
  static std::optional<Choice> Choose(const NodeContext& context, const ConvProblem& problem, Epilogue epilogue,
                                      OperandTypes types, const Placement& src,
                                      const std::optional<Placement>& residual);

  const bool own_activation_;  // instead of a post-op
};

// The fastest implementation for these types, on the layouts that are there if it does not care.
std::optional<Choice> ConvKernel::Choose(const NodeContext& context, const ConvProblem& problem, Epilogue epilogue,
                                         OperandTypes types, const Placement& src,
                                         const std::optional<Placement>& residual) {
  const int rank = static_cast<int>(problem.src.size());
  const std::vector<int> order = ChannelsFirstOrder(rank, problem.channels_last);
  const Desc any_src = AnyDesc(problem.src, types.src);
  const Desc any_dst = AnyDesc(problem.dst, types.dst);
  if (residual.has_value()) epilogue.residual = ResidualMode::kSum;

  Primitive best;
  if (const std::optional<ImageLayout> layout = context.chosen_layout(); layout.has_value())
    best = MakeConv(problem, types, epilogue, ChosenLayouts(problem, types, *layout));
  const bool chosen = best && !IsSlow(best);
  if (!chosen) best = MakeConv(problem, types, epilogue, {any_src, any_dst});
  if (!best) return std::nullopt;
  const std::string name = ImplementationName(best);
  const auto consider = [&](const Desc& from, const Desc& to) {
    if (IsEmpty(from) || IsEmpty(to)) return false;
    Primitive other = MakeConv(problem, types, epilogue, {from, to});
    if (!other || ImplementationName(other) != name) return false;
    best = other;
    return true;
  };
  const Desc src_there = src.type == types.src ? Reordered(DescOf(context.InputDims(0), src), order) : Desc();
  const bool same_type = residual.has_value() && residual->type == types.dst;
  const Desc dst_there = same_type ? Reordered(DescOf(context.OutputDims(0), *residual), order) : Desc();
  if (!chosen && !consider(src_there, dst_there)) consider(src_there, any_dst);

  // A residual of another type is added as it is where the implementation stays the same.
  if (residual.has_value() && !same_type) {
    const Desc own = OfType(best.dst_desc(), residual->type);
    Epilogue mixed = epilogue;
    mixed.residual = ResidualMode::kBinary;
    mixed.residual_desc = own;
    Primitive other = IsEmpty(own) ? Primitive() : MakeConv(problem, types, mixed, {best.src_desc(), best.dst_desc()});
    if (other && ImplementationName(other) == ImplementationName(best))
      return Choice{std::move(other), types, std::move(mixed)};
  }

  // A residual that others read, too, is added from where it is; one in another layout is converted, and then it is
  // ours. After an activation some implementations add no memory of their own.
  const bool shared =
      residual.has_value() && same_type && SameLayout(dst_there, best.dst_desc()) && !context.DiesHere(kResidual);
  if (shared || (residual.has_value() && IsSlow(best))) {
    epilogue.residual = ResidualMode::kBinary;
    best = MakeConv(problem, types, epilogue, {best.src_desc(), best.dst_desc()});
    if (!best) return std::nullopt;
  }
  return Choice{std::move(best), types, epilogue};
}

absl::StatusOr<Prepared> ConvKernel::Prepare(const NodeContext& context) const {
  const Node& node = context.node();
  const DataType src_type = context.InputType(0), weights_type = context.InputType(kWeights),
                 dst_type = context.OutputType();
  if (!IsFloat(src_type) || !IsFloat(weights_type) || !IsFloat(dst_type)) {
    return absl::UnimplementedError("oneDNN convolves floats only");
  }
  HALFTONE_ASSIGN_OR_RETURN(Epilogue epilogue, EpilogueOf(node.attributes));
  const Activation activation = epilogue.activation;
  if (own_activation_ && simd::ActivationAfter(activation, dst_type) == nullptr) {  // there is one for f32 or for none
    return absl::UnimplementedError("no faster activation of our own");
  }
  if (own_activation_) epilogue.activation = Activation::kNone;
  HALFTONE_ASSIGN_OR_RETURN(const ConvProblem problem,
                            MakeConvProblem(node.attributes, context.InputDims(0), context.InputDims(kWeights)));
  const bool has_bias = context.HasInput(kBias);
  const Tensor* constant_bias = has_bias ? context.Constant(kBias) : nullptr;
  OperandTypes types{.src = src_type, .weights = weights_type, .dst = dst_type};
  if (has_bias) types.bias = constant_bias != nullptr ? DataType::kFloat32 : context.InputType(kBias);
  const bool has_residual = context.HasInput(kResidual), after = has_residual && epilogue.activation_first;
  bool own_residual = own_activation_ && after;  // our activation adds it
  const Placement src = context.InputPlacement(0);

  const auto choose = [&]() -> std::optional<Choice> {
    std::optional<Placement> residual;
    if (has_residual && !own_residual) residual = context.InputPlacement(kResidual);
    std::optional<Choice> slow;
    for (const OperandTypes& attempt : TypesToTry(context, types)) {
      std::optional<Choice> choice = Choose(context, problem, epilogue, attempt, src, residual);
      if (choice.has_value() && !IsSlow(choice->primitive)) return choice;
      if (!slow.has_value()) slow = std::move(choice);
    }
    return slow;
  };
  std::optional<Choice> choice = choose();
  if (after && !own_residual && (!choice.has_value() || IsSlow(choice->primitive))) {
    own_residual = true;
    choice = choose();
  }
  if (!choice.has_value()) return absl::UnimplementedError("oneDNN has no such convolution");
  if (own_residual && choice->types.dst == DataType::kFloat16) return absl::UnimplementedError("no loop for f16");

  const Primitive& primitive = choice->primitive;
  const int rank = static_cast<int>(problem.src.size());
  const std::vector<int> back = ValueOrder(rank, problem.channels_last);
  Prepared prepared;
  prepared.kernel = ImplementationOf(primitive);
  prepared.weights_type = choice->types.weights;
  const auto need = [&](int index, Placement placement) {
    prepared.inputs.push_back(InputNeed{index, std::move(placement)});
    return static_cast<int>(prepared.inputs.size()) - 1;
  };
  const Placement dst = PlacementOf(Reordered(primitive.dst_desc(), back), choice->types.dst);
  prepared.outputs.push_back(dst);

  auto step = std::make_unique<PrimitiveStep>();
  HALFTONE_RETURN_IF_ERROR(Guard([&] { step->AddCall(dnnl::convolution_forward(primitive)); }));
  step->AddInput(DNNL_ARG_SRC, primitive.src_desc(),
                 need(0, PlacementOf(Reordered(primitive.src_desc(), back), choice->types.src)));
  size_t scratch = primitive.scratchpad_desc().get_size();
  step->AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), 0);

  const Tensor* weights = context.Constant(kWeights);
  const Desc weights_given(problem.weights, *DnnlType(weights_type), problem.weights_strides);
  if (weights != nullptr) {
    HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed, Pack(*weights, weights_given, primitive.weights_desc()));
    step->AddPrepacked(DNNL_ARG_WEIGHTS, std::move(packed));
  } else {
    // Packed in each run, before the convolution.
    const int index = need(kWeights, Placement{weights_type});
    const size_t offset = (scratch + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
    scratch = offset + primitive.weights_desc().get_size();
    const dnnl::reorder::primitive_desc reorder(CpuEngine(), weights_given, CpuEngine(), primitive.weights_desc(),
                                                UserScratch(),
                                                /*allow_empty=*/true);
    if (!reorder || reorder.scratchpad_desc().get_size() > 0)
      return absl::UnimplementedError("oneDNN cannot pack these weights");
    auto both = std::make_unique<PrimitiveStep>();
    HALFTONE_RETURN_IF_ERROR(Guard([&] { both->AddCall(dnnl::reorder(reorder)); }));
    both->AddInput(DNNL_ARG_FROM, weights_given, index);
    both->AddScratch(DNNL_ARG_TO, primitive.weights_desc(), offset);
    HALFTONE_RETURN_IF_ERROR(Guard([&] { both->AddCall(dnnl::convolution_forward(primitive)); }));
    both->AddInput(DNNL_ARG_SRC, primitive.src_desc(), 0);
    both->AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), 0);
    both->AddScratch(DNNL_ARG_WEIGHTS, primitive.weights_desc(), offset);
    step = std::move(both);
  }
  prepared.scratch_bytes = scratch;

  if (constant_bias != nullptr) {
    const Dims dims{problem.out_channels};
    HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed,
                              Pack(*constant_bias, PlainDesc(dims, constant_bias->type()), primitive.bias_desc()));
    step->AddPrepacked(DNNL_ARG_BIAS, std::move(packed));
  } else if (has_bias) {
    step->AddInput(DNNL_ARG_BIAS, primitive.bias_desc(), need(kBias, Placement{choice->types.bias}));
  }
  if (has_residual && !own_residual) {
    const bool own_type = !IsEmpty(choice->epilogue.residual_desc);
    const Desc desc = own_type ? choice->epilogue.residual_desc : primitive.dst_desc();
    const int index =
        need(kResidual, own_type ? PlacementOf(Reordered(desc, back), context.InputType(kResidual)) : dst);
    if (choice->epilogue.residual == ResidualMode::kSum) {
      prepared.overwrites = index;
    } else {
      step->AddInput(ResidualArgument(choice->epilogue), desc, index);
    }
  }
  step->AddOutput(DNNL_ARG_DST, primitive.dst_desc());
  prepared.step = std::move(step);
  if (own_activation_ || own_residual) {
    const DataType type = choice->types.dst;
    const int64_t count = static_cast<int64_t>(primitive.dst_desc().get_size() / ElementSize(type));
    const int index = own_residual ? need(kResidual, dst) : -1;
    std::unique_ptr<Step> finish;
    if (own_activation_) {
      const simd::Activate activate = simd::ActivationAfter(activation, type);
      finish = simd::MakeActivateStep(activate, count, epilogue.alpha, epilogue.beta);
      prepared.kernel.name += Concat(" + ", ActivationName(activation));
    } else {
      finish = simd::MakeChainStep({.type = type, .steps = {{OpKind::kAdd}}, .dims = {count}, .strides = {{1}, {1}}});
      prepared.kernel.name += " + add";
    }
    prepared.step = std::make_unique<FinishedStep>(std::move(prepared.step), std::move(finish), index);
  }
  return prepared;
}

}  // namespace

std::unique_ptr<Kernel> MakeConvKernel() { return std::make_unique<ConvKernel>(/*own_activation=*/false); }
std::unique_ptr<Kernel> MakeActivatedConvKernel() { return std::make_unique<ConvKernel>(/*own_activation=*/true); }

}  // namespace halftone::onednn

// SPDX-License-Identifier: Apache-2.0
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

// The fastest implementation for these types, on the layouts that are there if it does not care.
std::optional<Choice> Choose(const NodeContext& context, const ConvProblem& problem, Epilogue epilogue,
                             OperandTypes types, const Placement& src, const std::optional<Placement>& residual) {
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

// One node: what is fused (Describe), the implementation (ChooseImplementation), then the step (Attach...).
class ConvBuilder {
 public:
  ConvBuilder(const NodeContext& context, bool own_activation) : context_(context), own_activation_(own_activation) {}

  absl::StatusOr<Prepared> Build() {
    HALFTONE_RETURN_IF_ERROR(Describe());
    HALFTONE_RETURN_IF_ERROR(ChooseImplementation());
    HALFTONE_RETURN_IF_ERROR(AttachOperands());
    HALFTONE_RETURN_IF_ERROR(AttachBias());
    AttachResidual();
    step_->AddOutput(DNNL_ARG_DST, choice_->primitive.dst_desc());
    prepared_.step = std::move(step_);
    if (own_activation_ || own_residual_) AttachLoop();
    return std::move(prepared_);
  }

 private:
  absl::Status Describe() {
    const Attributes& attributes = context_.node().attributes;
    types_ = {.src = context_.InputType(0), .weights = context_.InputType(kWeights), .dst = context_.OutputType()};
    if (!IsFloat(types_.weights) || !IsFloat(types_.dst))
      return absl::UnimplementedError("oneDNN convolves floats only");
    HALFTONE_ASSIGN_OR_RETURN(epilogue_, EpilogueOf(attributes));
    activation_ = epilogue_.activation;
    if (own_activation_ && simd::ActivationAfter(activation_, types_.dst) == nullptr)
      return absl::UnimplementedError("no faster activation by a SIMD loop");  // there is one for f32, or for no type
    if (own_activation_) epilogue_.activation = Activation::kNone;
    HALFTONE_ASSIGN_OR_RETURN(problem_,
                              MakeConvProblem(attributes, context_.InputDims(0), context_.InputDims(kWeights)));
    back_ = ValueOrder(static_cast<int>(problem_.src.size()), problem_.channels_last);
    has_bias_ = context_.HasInput(kBias);
    constant_bias_ = has_bias_ ? context_.Constant(kBias) : nullptr;
    if (has_bias_) types_.bias = constant_bias_ != nullptr ? DataType::kFloat32 : context_.InputType(kBias);
    return absl::OkStatus();
  }

  // The first of the types to try whose implementation is fast; else the first one that there is.
  std::optional<Choice> ChooseTypes() const {
    std::optional<Placement> residual;
    if (has_residual_ && !own_residual_) residual = context_.InputPlacement(kResidual);
    std::optional<Choice> slow;
    for (const OperandTypes& attempt : TypesToTry(context_, types_)) {
      std::optional<Choice> choice =
          Choose(context_, problem_, epilogue_, attempt, context_.InputPlacement(0), residual);
      if (choice.has_value() && !IsSlow(choice->primitive)) return choice;
      if (!slow.has_value()) slow = std::move(choice);
    }
    return slow;
  }

  // A residual after the activation is added by a SIMD loop: by that of the activation, or where oneDNN's is slow.
  absl::Status ChooseImplementation() {
    has_residual_ = context_.HasInput(kResidual);
    const bool after = has_residual_ && epilogue_.activation_first;
    own_residual_ = own_activation_ && after;
    choice_ = ChooseTypes();
    if (after && !own_residual_ && (!choice_.has_value() || IsSlow(choice_->primitive))) {
      own_residual_ = true;
      choice_ = ChooseTypes();
    }
    if (!choice_.has_value()) return absl::UnimplementedError("oneDNN has no such convolution");
    if (own_residual_ && choice_->types.dst == DataType::kFloat16) return absl::UnimplementedError("no loop for f16");
    prepared_.kernel = ImplementationOf(choice_->primitive);
    prepared_.weights_type = choice_->types.weights;
    dst_ = PlacementOf(Reordered(choice_->primitive.dst_desc(), back_), choice_->types.dst);
    prepared_.outputs.push_back(dst_);
    return absl::OkStatus();
  }

  int Need(int index, Placement placement) {
    prepared_.inputs.push_back(InputNeed{index, std::move(placement)});
    return static_cast<int>(prepared_.inputs.size()) - 1;
  }

  absl::Status AttachOperands() {
    const Primitive& primitive = choice_->primitive;
    Need(0, PlacementOf(Reordered(primitive.src_desc(), back_), choice_->types.src));
    prepared_.scratch_bytes = primitive.scratchpad_desc().get_size();
    const Tensor* weights = context_.Constant(kWeights);
    const DataType type = context_.InputType(kWeights);
    const Desc given(problem_.weights, *DnnlType(type), problem_.weights_strides);
    if (weights == nullptr) return AttachComputedWeights(given, type);
    HALFTONE_RETURN_IF_ERROR(AddConvolution());
    HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed, Pack(*weights, given, primitive.weights_desc()));
    step_->AddPrepacked(DNNL_ARG_WEIGHTS, std::move(packed));
    return absl::OkStatus();
  }

  absl::Status AddConvolution() {
    const Primitive& primitive = choice_->primitive;
    HALFTONE_RETURN_IF_ERROR(Guard([&] { step_->AddCall(dnnl::convolution_forward(primitive)); }));
    step_->AddInput(DNNL_ARG_SRC, primitive.src_desc(), 0);
    step_->AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), 0);
    return absl::OkStatus();
  }

  // Packed in each run, before the convolution.
  absl::Status AttachComputedWeights(const Desc& given, DataType type) {
    const Desc wanted = choice_->primitive.weights_desc();
    const int index = Need(kWeights, Placement{type});
    const size_t offset = (prepared_.scratch_bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
    prepared_.scratch_bytes = offset + wanted.get_size();
    const dnnl::reorder::primitive_desc reorder(CpuEngine(), given, CpuEngine(), wanted, UserScratch(),
                                                /*allow_empty=*/true);
    if (!reorder || reorder.scratchpad_desc().get_size() > 0)
      return absl::UnimplementedError("oneDNN cannot pack these weights");
    HALFTONE_RETURN_IF_ERROR(Guard([&] { step_->AddCall(dnnl::reorder(reorder)); }));
    step_->AddInput(DNNL_ARG_FROM, given, index);
    step_->AddScratch(DNNL_ARG_TO, wanted, offset);
    HALFTONE_RETURN_IF_ERROR(AddConvolution());
    step_->AddScratch(DNNL_ARG_WEIGHTS, wanted, offset);
    return absl::OkStatus();
  }

  absl::Status AttachBias() {
    const Desc desc = choice_->primitive.bias_desc();
    if (constant_bias_ != nullptr) {
      const Desc given = PlainDesc(Dims{problem_.out_channels}, constant_bias_->type());
      HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed, Pack(*constant_bias_, given, desc));
      step_->AddPrepacked(DNNL_ARG_BIAS, std::move(packed));
    } else if (has_bias_) {
      step_->AddInput(DNNL_ARG_BIAS, desc, Need(kBias, Placement{choice_->types.bias}));
    }
    return absl::OkStatus();
  }

  void AttachResidual() {
    if (!has_residual_ || own_residual_) return;
    const Epilogue& epilogue = choice_->epilogue;
    const bool own_type = !IsEmpty(epilogue.residual_desc);
    const Desc desc = own_type ? epilogue.residual_desc : choice_->primitive.dst_desc();
    const int index =
        Need(kResidual, own_type ? PlacementOf(Reordered(desc, back_), context_.InputType(kResidual)) : dst_);
    if (epilogue.residual == ResidualMode::kSum) {
      prepared_.overwrites = index;
    } else {
      step_->AddInput(ResidualArgument(epilogue), desc, index);
    }
  }

  // The activation, or the sum, by a SIMD loop over the result.
  void AttachLoop() {
    const DataType type = choice_->types.dst;
    const auto count = static_cast<int64_t>(choice_->primitive.dst_desc().get_size() / ElementSize(type));
    const int index = own_residual_ ? Need(kResidual, dst_) : -1;
    std::unique_ptr<Step> finish;
    if (own_activation_) {
      const simd::Activate activate = simd::ActivationAfter(activation_, type);
      finish = simd::MakeActivateStep(activate, count, epilogue_.alpha, epilogue_.beta);
      prepared_.kernel.name += Concat(" + ", ActivationName(activation_));
    } else {
      finish = simd::MakeChainStep({.type = type, .steps = {{OpKind::kAdd}}, .dims = {count}, .strides = {{1}, {1}}});
      prepared_.kernel.name += " + add";
    }
    prepared_.step = std::make_unique<FinishedStep>(std::move(prepared_.step), std::move(finish), index);
  }

  const NodeContext& context_;
  const bool own_activation_;  // instead of a post-op
  bool own_residual_ = false, has_residual_ = false, has_bias_ = false;
  OperandTypes types_;
  Epilogue epilogue_;
  Activation activation_ = Activation::kNone;  // the node's
  ConvProblem problem_;
  std::vector<int> back_;  // from oneDNN's order of dimensions to the value's
  const Tensor* constant_bias_ = nullptr;
  std::optional<Choice> choice_;
  Placement dst_;
  Prepared prepared_;
  std::unique_ptr<PrimitiveStep> step_ = std::make_unique<PrimitiveStep>();
};

class ConvKernel final : public Kernel {
 public:
  explicit ConvKernel(bool own_activation) : own_activation_(own_activation) {}
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    return ConvBuilder(context, own_activation_).Build();
  }
  absl::Status SupportsFused(const Graph& graph, NodeId node, const FusedParts& parts) const override {
    return SupportsFusedContraction(graph, node, parts);
  }
  bool WritesType(const Graph& graph, NodeId node, DataType operand, DataType result) const override {
    return !own_activation_ && ContractionWritesType(graph, node, operand, result);
  }

 private:
  const bool own_activation_;  // instead of a post-op
};

}  // namespace

std::unique_ptr<Kernel> MakeConvKernel() { return std::make_unique<ConvKernel>(/*own_activation=*/false); }
std::unique_ptr<Kernel> MakeActivatedConvKernel() { return std::make_unique<ConvKernel>(/*own_activation=*/true); }

}  // namespace halftone::onednn

// SPDX-License-Identifier: Apache-2.0
// Elementwise ops of one tensor: dnnl::eltwise_forward, in the layout of the input, in place where it dies.
//
// oneDNN does not hand NaN on where it compares or clamps (relu(NaN) is 0, exp(NaN) is infinity), here and in what is
// fused; the reference functions do. Infinities agree.
#include <cmath>
#include <limits>

#include "base/status.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/support.h"
#include "runtime/cpu/simd/activation.h"

namespace halftone::onednn {
namespace {

using Algorithm = dnnl::algorithm;
using Primitive = dnnl::eltwise_forward::primitive_desc;

struct Function {
  Algorithm algorithm = Algorithm::undef;
  float alpha = 0;
  float beta = 0;
};

// The op as oneDNN says it; nullopt if it has no such function.
std::optional<Function> FunctionOf(const NodeContext& context) {
  const Attributes& attributes = context.node().attributes;
  switch (context.node().op) {
    case OpKind::kRelu:
      return Function{Algorithm::eltwise_relu};
    case OpKind::kRelu6:
      return Function{Algorithm::eltwise_clip_v2, 0, 6};
    case OpKind::kTanh:
      return Function{Algorithm::eltwise_tanh};
    case OpKind::kSigmoid:
      return Function{Algorithm::eltwise_logistic};
    case OpKind::kGelu:
      return Function{attributes.String("approximate", "none") == "tanh" ? Algorithm::eltwise_gelu_tanh
                                                                         : Algorithm::eltwise_gelu_erf};
    case OpKind::kHardSwish:
      return Function{Algorithm::eltwise_hardswish, 1.0f / 6, 0.5f};
    case OpKind::kHardSigmoid:
      return Function{Algorithm::eltwise_hardsigmoid, attributes.Float("alpha", 0.2f), attributes.Float("beta", 0.5f)};
    case OpKind::kSwish:
      return Function{Algorithm::eltwise_swish, attributes.Float("alpha", 1.0f)};
    case OpKind::kMish:
      return Function{Algorithm::eltwise_mish};
    case OpKind::kElu:
      return Function{Algorithm::eltwise_elu, attributes.Float("alpha", 1.0f)};
    case OpKind::kLeakyRelu:
      return Function{Algorithm::eltwise_relu, attributes.Float("alpha", 0.01f)};
    case OpKind::kClip: {
      Function clip{Algorithm::eltwise_clip_v2, -std::numeric_limits<float>::infinity(),
                    std::numeric_limits<float>::infinity()};
      if (context.HasInput(1)) {
        const std::optional<double> low = context.ConstantScalar(1);
        if (!low.has_value()) return std::nullopt;
        clip.alpha = static_cast<float>(*low);
      }
      if (context.HasInput(2)) {
        const std::optional<double> high = context.ConstantScalar(2);
        if (!high.has_value()) return std::nullopt;
        clip.beta = static_cast<float>(*high);
      }
      if (!(clip.alpha <= clip.beta)) return std::nullopt;
      return clip;
    }
    case OpKind::kAbs:
      return Function{Algorithm::eltwise_abs};
    case OpKind::kNeg:
      return Function{Algorithm::eltwise_linear, -1, 0};
    case OpKind::kExp:
      return Function{Algorithm::eltwise_exp};
    case OpKind::kSqrt:
      return Function{Algorithm::eltwise_sqrt};
    case OpKind::kSquare:
      return Function{Algorithm::eltwise_square};
    default:
      return std::nullopt;
  }
}

class UnaryKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType type = context.InputType(0);
    if (type != context.OutputType()) return absl::UnimplementedError("a result of another type");
    const std::optional<Function> function = FunctionOf(context);
    if (!function.has_value()) return absl::UnimplementedError("oneDNN has no such function");
    // Of these our own loops are as fast and keep the digits of small results; oneDNN's need no other layout.
    const bool is_rough = context.node().op == OpKind::kGelu || context.node().op == OpKind::kMish;
    if (is_rough && context.InputPlacement(0).plain()) return absl::UnimplementedError("our own loop is more exact");
    const Dims dims = context.InputDims(0);
    for (const DataType computed : {type, DataType::kFloat32}) {
      const Placement there = context.InputPlacement(0);
      for (const Placement& placement : {computed == type ? there : Placement{computed}, Placement{computed}}) {
        const Desc desc = DescOf(dims, placement);
        const Primitive primitive(CpuEngine(), dnnl::prop_kind::forward_inference, function->algorithm, desc, desc,
                                  function->alpha, function->beta, UserScratch(), /*allow_empty=*/true);
        if (!primitive || IsSlow(primitive)) continue;
        return PrepareInPlace<dnnl::eltwise_forward>(primitive, desc, placement);
      }
    }
    return absl::UnimplementedError("oneDNN has no fast kernel for this function here");
  }
};

// oneDNN's function as the activation that it is, for those that runtime/cpu/simd/activation.h may have.
Activation ActivationOf(const Function& function) {
  switch (function.algorithm) {
    case Algorithm::eltwise_relu:
      return function.alpha == 0 ? Activation::kRelu : Activation::kLeakyRelu;
    case Algorithm::eltwise_clip_v2:
      return Activation::kClip;
    case Algorithm::eltwise_tanh:
      return Activation::kTanh;
    case Algorithm::eltwise_logistic:
      return Activation::kSigmoid;
    case Algorithm::eltwise_hardswish:
      return Activation::kHardSwish;
    case Algorithm::eltwise_hardsigmoid:
      return Activation::kHardSigmoid;
    case Algorithm::eltwise_swish:
      return Activation::kSwish;
    default:
      return Activation::kNone;
  }
}

// Whether 0 stays 0, and with it what pads a layout.
bool KeepsZero(Activation activation, const Function& function) {
  if (activation == Activation::kClip) return function.alpha <= 0 && function.beta >= 0;
  return activation != Activation::kSigmoid && activation != Activation::kHardSigmoid;
}

// Activations by SIMD loops that are faster (runtime/cpu/simd/activation.h), on dense layouts of any kind.
class FastActivationKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType type = context.InputType(0);
    const std::optional<Function> function = FunctionOf(context);
    const Activation activation = function.has_value() ? ActivationOf(*function) : Activation::kNone;
    const simd::Activate activate = simd::ActivationAlone(activation, type);
    if (activate == nullptr || type != context.OutputType()) return absl::UnimplementedError("no faster loop of ours");
    const Dims dims = context.InputDims(0);
    const Placement there = context.InputPlacement(0);
    const size_t plain_bytes = PlainBytes(dims, type);
    const auto fits = [&](const Desc& desc) {
      return IsDense(desc) && (KeepsZero(activation, *function) || desc.get_size() == plain_bytes);
    };
    const bool stays = there.type == type && (there.plain() || fits(DescOf(dims, there)));
    const Placement placement = stays ? there : Placement{type};
    const size_t bytes = placement.plain() ? plain_bytes : DescOf(dims, placement).get_size();
    const int64_t count = static_cast<int64_t>(bytes / ElementSize(type));
    Prepared prepared{
        .inputs = {{0, placement}}, .outputs = {placement}, .may_overwrite = 0, .kernel = "fast activation"};
    prepared.step = simd::MakeActivateStep(activate, count, function->alpha, function->beta);
    return prepared;
  }

 private:
  static size_t PlainBytes(const Dims& dims, DataType type) {
    size_t bytes = ElementSize(type);
    for (const int64_t dim : dims) bytes *= static_cast<size_t>(dim);
    return bytes;
  }
  // No gaps between the elements but padding, which is 0.
  static bool IsDense(const Desc& desc) {
    size_t elements = 1;
    for (const int64_t dim : desc.get_padded_dims()) elements *= static_cast<size_t>(dim);
    return desc.get_submemory_offset() == 0 &&
           desc.get_size() == elements * dnnl::memory::data_type_size(desc.get_data_type());
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeFastActivationKernel() { return std::make_unique<FastActivationKernel>(); }
std::unique_ptr<Kernel> MakeUnaryKernel() { return std::make_unique<UnaryKernel>(); }

}  // namespace halftone::onednn

// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/onednn/problem.h"

#include "base/status.h"
#include "base/strings.h"
#include "ir/window.h"

namespace halftone::onednn {
namespace {

dnnl::primitive_attr AttributesOf(const Epilogue& epilogue, const Desc& dst, const OperandTypes& types,
                                  std::span<const int64_t> dst_dims) {
  dnnl::primitive_attr attributes = UserScratch();
  if (types.bf16_math) attributes.set_fpmath_mode(dnnl::fpmath_mode::bf16);
  dnnl::post_ops post_ops;
  if (epilogue.scale != 1) post_ops.append_eltwise(dnnl::algorithm::eltwise_linear, epilogue.scale, 0);
  if (!IsEmpty(epilogue.bias)) post_ops.append_binary(dnnl::algorithm::binary_add, epilogue.bias);
  if (epilogue.activation_first) AddActivation(epilogue, post_ops);
  if (epilogue.residual == ResidualMode::kSum) post_ops.append_sum(1.0f);
  if (epilogue.residual == ResidualMode::kBinary) {
    const bool chosen = dst.get_format_kind() != dnnl::memory::format_kind::any;
    post_ops.append_binary(dnnl::algorithm::binary_add, !IsEmpty(epilogue.residual_desc) ? epilogue.residual_desc
                                                        : chosen                         ? dst
                                                                 : AnyDesc(dst_dims, types.dst));
  }
  if (!epilogue.activation_first) AddActivation(epilogue, post_ops);
  attributes.set_post_ops(post_ops);
  return attributes;
}

bool HasAmx(dnnl::cpu_isa isa) {
  return isa == dnnl::cpu_isa::avx10_1_512_amx || isa == dnnl::cpu_isa::avx10_1_512_amx_fp16;
}

int PostOpArgument(int place) { return DNNL_ARG_ATTR_MULTIPLE_POST_OP(place) | DNNL_ARG_SRC_1; }

}  // namespace

void AddActivation(const Epilogue& epilogue, dnnl::post_ops& post_ops) {
  const auto add = [&](dnnl::algorithm algorithm, float alpha = 0, float beta = 0) {
    post_ops.append_eltwise(algorithm, alpha, beta);
  };
  switch (epilogue.activation) {
    case Activation::kNone:
      break;
    case Activation::kRelu:
      add(dnnl::algorithm::eltwise_relu);
      break;
    case Activation::kRelu6:
      add(dnnl::algorithm::eltwise_clip_v2, 0, 6);
      break;
    case Activation::kClip:
      add(dnnl::algorithm::eltwise_clip_v2, epilogue.alpha, epilogue.beta);
      break;
    case Activation::kElu:
      add(dnnl::algorithm::eltwise_elu, epilogue.alpha);
      break;
    case Activation::kLeakyRelu:
      add(dnnl::algorithm::eltwise_relu, epilogue.alpha);
      break;
    case Activation::kTanh:
      add(dnnl::algorithm::eltwise_tanh);
      break;
    case Activation::kSigmoid:
      add(dnnl::algorithm::eltwise_logistic);
      break;
    case Activation::kSwish:
      add(dnnl::algorithm::eltwise_swish, epilogue.alpha);
      break;
    case Activation::kHardSwish:
      add(dnnl::algorithm::eltwise_hardswish, 1.0f / 6, 0.5f);
      break;
    case Activation::kHardSigmoid:
      add(dnnl::algorithm::eltwise_hardsigmoid, epilogue.alpha, epilogue.beta);
      break;
    case Activation::kGelu:
      add(dnnl::algorithm::eltwise_gelu_erf);
      break;
    case Activation::kGeluTanh:
      add(dnnl::algorithm::eltwise_gelu_tanh);
      break;
    case Activation::kMish:
      add(dnnl::algorithm::eltwise_mish);
      break;
  }
}

std::vector<OperandTypes> TypesToTry(const NodeContext& context, const OperandTypes& written) {
  constexpr DataType kF32 = DataType::kFloat32, kBf16 = DataType::kBFloat16;
  std::vector<OperandTypes> attempts;
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  const bool multiplies = isa == dnnl::cpu_isa::avx512_core_bf16 || isa == dnnl::cpu_isa::avx10_1_512 || HasAmx(isa);
  if (multiplies && written.src == kF32) {
    const bool rounds = context.node().attributes.String("math_mode", "") == "bf16";
    if (rounds && HasAmx(isa)) attempts.push_back({kF32, kF32, written.bias, written.dst, /*bf16_math=*/true});
    const bool exact = !rounds && context.ExactType(0) == kBf16 && context.ExactType(1) == kBf16;
    if (rounds || exact) attempts.push_back({kBf16, kBf16, written.bias, written.dst});
  }
  attempts.push_back(written);
  attempts.push_back({.bias = written.bias == DataType::kUnknown ? written.bias : kF32});
  return attempts;
}

int BiasArgument(const Epilogue& epilogue) { return PostOpArgument(epilogue.scale != 1 ? 1 : 0); }

int ResidualArgument(const Epilogue& epilogue) {
  const bool activated = epilogue.activation_first && epilogue.activation != Activation::kNone;
  return PostOpArgument((epilogue.scale != 1 ? 1 : 0) + (IsEmpty(epilogue.bias) ? 0 : 1) + (activated ? 1 : 0));
}

absl::StatusOr<Epilogue> EpilogueOf(const Attributes& attributes) {
  Epilogue epilogue;
  epilogue.scale = attributes.Float("scale", 1);
  epilogue.activation_first = attributes.Bool("activation_first", false);
  const std::string word = attributes.String("activation", "");
  if (word.empty()) return epilogue;
  const std::optional<Activation> activation = ActivationFromName(word);
  if (!activation.has_value()) {
    return absl::InvalidArgumentError(
        Concat("attribute activation is \"", word, "\", which is no activation that can be fused"));
  }
  epilogue.activation = *activation;
  const ActivationParameters parameters = ParametersOf(*activation);
  epilogue.alpha = attributes.Float("activation_alpha", parameters.alpha);
  epilogue.beta = attributes.Float("activation_beta", parameters.beta);
  if (*activation == Activation::kClip && !(epilogue.alpha <= epilogue.beta)) {
    return absl::UnimplementedError(
        Concat("a clip to [", epilogue.alpha, ", ", epilogue.beta, "]: no kernel for that"));
  }
  return epilogue;
}

absl::StatusOr<ConvProblem> MakeConvProblem(const Attributes& attributes, std::span<const int64_t> src,
                                            std::span<const int64_t> weights) {
  const size_t rank = src.size();
  if (rank < 3 || rank > 5 || weights.size() != rank) {
    return absl::UnimplementedError(Concat("a convolution of rank ", rank, " with weights of rank ", weights.size()));
  }
  const size_t spatial = rank - 2;
  const std::string layout = attributes.String("weights_layout", "OIHW");
  const int64_t groups = attributes.Int("group", layout == "HWCM" ? weights[spatial] : 1);

  ConvProblem problem;
  problem.channels_last = IsChannelsLast(attributes);
  problem.src = Reordered(src, ChannelsFirstOrder(static_cast<int>(rank), problem.channels_last));

  // [O, I/group, spatial] with the strides of the tensor. HWCM holds O = C * M in this order, with I/group = 1.
  Dims sizes, strides;
  const Dims plain = PlainStrides(weights);
  if (layout == "OIHW") {
    sizes.assign(weights.begin(), weights.end());
    strides = plain;
  } else if (layout == "HWIO" || layout == "HWCM") {
    const bool depthwise = layout == "HWCM";
    const int64_t c = weights[spatial], last = weights[spatial + 1];
    sizes = depthwise ? Dims{c * last, 1} : Dims{last, c};
    strides = depthwise ? Dims{1, c * last} : Dims{1, last};
    sizes.insert(sizes.end(), weights.begin(), weights.begin() + spatial);
    strides.insert(strides.end(), plain.begin(), plain.begin() + spatial);
  } else {
    return absl::InvalidArgumentError(Concat("weights_layout \"", layout, "\"; it must be OIHW, HWIO or HWCM"));
  }
  problem.out_channels = sizes[0];
  if (groups < 1 || sizes[0] % groups != 0 || sizes[1] * groups != problem.src[1]) {
    return absl::InvalidArgumentError(Concat("weights for ", sizes[0], " x ", sizes[1], " channels in ", groups,
                                             " groups do not fit an input of ", problem.src[1], " channels"));
  }
  HALFTONE_ASSIGN_OR_RETURN(const Window window,
                            ResolveWindow(attributes, std::span<const int64_t>(problem.src).subspan(2),
                                          std::span<const int64_t>(sizes).subspan(2)));
  problem.dst = {problem.src[0], sizes[0]};
  problem.dst.insert(problem.dst.end(), window.output.begin(), window.output.end());
  problem.strides = window.strides;
  problem.dilations = window.dilations;
  for (int64_t& dilation : problem.dilations) --dilation;
  problem.pads_begin = window.pads_begin;
  problem.pads_end = window.pads_end;
  if (groups > 1) {
    sizes[0] /= groups;
    strides.insert(strides.begin(), strides[0] * sizes[0]);
    sizes.insert(sizes.begin(), groups);
  }
  problem.weights = std::move(sizes);
  problem.weights_strides = std::move(strides);
  return problem;
}

dnnl::convolution_forward::primitive_desc MakeConv(const ConvProblem& problem, const OperandTypes& types,
                                                   const Epilogue& epilogue, const ConvLayouts& layouts) {
  using Primitive = dnnl::convolution_forward::primitive_desc;
  const dnnl::primitive_attr attributes = AttributesOf(epilogue, layouts.dst, types, problem.dst);
  const Desc weights = AnyDesc(problem.weights, types.weights);
  constexpr auto kKind = dnnl::prop_kind::forward_inference;
  constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
  if (types.bias == DataType::kUnknown) {
    return Primitive(CpuEngine(), kKind, kAlgorithm, layouts.src, weights, layouts.dst, problem.strides,
                     problem.dilations, problem.pads_begin, problem.pads_end, attributes, /*allow_empty=*/true);
  }
  const Desc bias = PlainDesc(Dims{problem.out_channels}, types.bias);
  return Primitive(CpuEngine(), kKind, kAlgorithm, layouts.src, weights, bias, layouts.dst, problem.strides,
                   problem.dilations, problem.pads_begin, problem.pads_end, attributes, /*allow_empty=*/true);
}

dnnl::matmul::primitive_desc MakeMatMul(const MatMulProblem& problem, const OperandTypes& types,
                                        const Epilogue& epilogue, const MatMulLayouts& layouts) {
  using Primitive = dnnl::matmul::primitive_desc;
  const dnnl::primitive_attr attributes = AttributesOf(epilogue, layouts.dst, types, problem.dst);
  if (types.bias == DataType::kUnknown) {
    return Primitive(CpuEngine(), layouts.src, layouts.weights, layouts.dst, attributes, /*allow_empty=*/true);
  }
  Dims bias(problem.dst.size(), 1);
  bias.back() = problem.dst.back();
  return Primitive(CpuEngine(), layouts.src, layouts.weights, PlainDesc(bias, types.bias), layouts.dst, attributes,
                   /*allow_empty=*/true);
}

dnnl::matmul::primitive_desc WithPackedWeights(dnnl::matmul::primitive_desc desc) {
  if (!desc || !IsGemm(ImplementationOf(desc))) return desc;
  constexpr int64_t kLeastRows = 2, kLeastColumns = 16;
  const Dims dst = desc.dst_desc().get_dims();
  if (dst[dst.size() - 2] < kLeastRows || dst.back() < kLeastColumns) return desc;
  dnnl::matmul::primitive_desc first = Frozen(desc);
  while (desc.next_impl()) {
    if (IsBrgemmMatMul(ImplementationOf(desc))) return desc;
  }
  return first;
}

}  // namespace halftone::onednn

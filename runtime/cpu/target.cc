#include "runtime/cpu/target.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "ir/window.h"
#include "runtime/cpu/backend.h"
#include "runtime/cpu/onednn/isa.h"
#include "runtime/cpu/onednn/problem.h"
#include "runtime/cpu/onednn/support.h"
#include "runtime/cpu/quantized_support.h"
#include "runtime/cpu/simd/chain.h"

namespace halftone {
namespace {

using onednn::Dims;

// Dimensions of a value, with numbers for those that are not known: kernels exist for all sizes or for none.
std::optional<Dims> DimsOf(const Graph& graph, ValueId value) {
  if (!value.valid() || !graph.shape(value).has_rank()) return std::nullopt;
  constexpr int64_t kSomeSize = 64;
  Dims dims = graph.shape(value).values();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0) dims[i] = i == 0 ? 1 : kSomeSize;
  }
  return dims;
}

bool IsFloatOrUnknown(DataType type) { return type == DataType::kUnknown || onednn::IsFloat(type); }

class CpuTarget final : public Target {
 public:
  std::string_view name() const override { return "oneDNN"; }
  absl::Status SupportsFused(const Graph& graph, NodeId node, const FusedParts& parts) const override;
  absl::Status SupportsOp(const Graph& graph, OpKind op, std::span<const ValueId> inputs) const override;
  std::vector<Signature> Signatures(const Graph& graph, NodeId node) const override;
  absl::Status SupportsQuantized(const Graph& graph, NodeId node, std::span<const ValueId> inputs,
                                 ValueId output) const override {
    return SupportsQuantizedNode(graph, node, inputs, output);
  }
  bool IsNative(DataType type) const override {
    if (type == DataType::kFloat16) return CurrentIsa().native_f16;
    return type == DataType::kFloat32 || (type == DataType::kBFloat16 && CurrentIsa().native_bf16);
  }
};

// Whether these parts have a place behind what the contraction has.
absl::Status CanFollow(const Graph& graph, NodeId id, const onednn::Epilogue& epilogue, const FusedParts& parts) {
  const bool has_bias = graph.input(id, 2).valid(), has_residual = graph.input(id, 3).valid();
  const bool has_activation = epilogue.activation != Activation::kNone;
  const bool more = parts.bias || parts.residual || parts.scale || parts.activation != Activation::kNone;
  const bool only_behind =
      parts.residual && parts.activation_first && !parts.bias && !parts.scale && parts.activation == Activation::kNone;
  if (has_activation && more && !only_behind) {
    return absl::UnimplementedError(Concat("nothing can follow the activation ", ActivationName(epilogue.activation)));
  }
  if (parts.bias && has_bias) return absl::UnimplementedError("it has a bias already");
  if (parts.residual && has_residual) return absl::UnimplementedError("it has a residual already");
  if (parts.activation_first && !has_activation && parts.activation == Activation::kNone)
    return absl::UnimplementedError("there is no activation that could come first");
  if (graph.op(id) == OpKind::kConv && (parts.scale || parts.broadcast_residual))
    return absl::UnimplementedError("a convolution has no scale and no broadcast residual");
  return absl::OkStatus();
}

// The implementation for a conv, matmul or gemm of these types with whatever shapes; UNIMPLEMENTED if there is none.
absl::StatusOr<std::string> ContractionRuns(const Graph& graph, NodeId id, const onednn::OperandTypes& types,
                                            onednn::Epilogue epilogue, bool broadcast_residual) {
  const Node& node = graph.node(id);
  const std::optional<Dims> src = DimsOf(graph, graph.input(id, 0)), weights = DimsOf(graph, graph.input(id, 1));
  if (!src.has_value() || !weights.has_value()) return absl::UnimplementedError("the rank of an operand is not known");
  if (node.op == OpKind::kConv) {
    Dims image = *src;
    const int rank = static_cast<int>(image.size());
    const int channel = rank >= 2 ? ChannelAxis(node.attributes, rank) : 0;
    if (rank < 3 || static_cast<int>(weights->size()) != rank)
      return absl::UnimplementedError("no kernel for this rank");
    if (!graph.shape(graph.input(id, 0)).dim(channel).known()) {  // as the weights say
      const std::string layout = node.attributes.String("weights_layout", "OIHW");
      const int64_t groups = node.attributes.Int("group", layout == "HWCM" ? (*weights)[rank - 2] : 1);
      image[channel] = layout == "OIHW"   ? (*weights)[1] * groups
                       : layout == "HWIO" ? (*weights)[rank - 2] * groups
                                          : (*weights)[rank - 2];
    }
    const absl::StatusOr<onednn::ConvProblem> problem = onednn::MakeConvProblem(node.attributes, image, *weights);
    if (!problem.ok()) return absl::UnimplementedError(problem.status().message());
    const auto primitive =
        onednn::MakeConv(*problem, types, epilogue,
                         {onednn::AnyDesc(problem->src, types.src), onednn::AnyDesc(problem->dst, types.dst)});
    if (!primitive) return absl::UnimplementedError("oneDNN has no such convolution");
    return onednn::ImplementationName(primitive);
  }
  // matmul: any ranks, folded to batches of matrices; post-ops do not depend on sizes.
  if (src->empty() || weights->empty()) return absl::UnimplementedError("no kernel for scalars");
  if (weights->size() == 1 && types.bias != DataType::kUnknown) {
    return absl::UnimplementedError("no kernel with a bias over the rows of a matmul with a vector");
  }
  const size_t rank = std::max<size_t>({src->size(), weights->size(), 2});
  if (rank > DNNL_MAX_NDIMS) return absl::UnimplementedError("no kernel for this rank");
  constexpr int64_t kSize = 16;
  const onednn::MatMulProblem problem{Dims(rank, kSize), Dims(rank, kSize), Dims(rank, kSize)};
  if (broadcast_residual) {
    Dims columns(rank, 1);
    columns.back() = kSize;
    epilogue.residual_desc = onednn::PlainDesc(columns, types.dst);
  }
  const auto primitive =
      onednn::MakeMatMul(problem, types, epilogue,
                         {onednn::PlainDesc(problem.src, types.src), onednn::PlainDesc(problem.weights, types.weights),
                          onednn::PlainDesc(problem.dst, types.dst)});
  if (!primitive) return absl::UnimplementedError("oneDNN has no such matmul");
  return onednn::ImplementationName(primitive);
}

// OK if the kernel is not slower with these parts, `activation` among them, than with a loop behind it. Without AVX-512
// oneDNN multiplies by its gemm, which is (`dev bench --fusions`: 0.7 to 0.9 times as fast).
absl::Status NotSlowerFused(const Graph& graph, NodeId id, std::string_view kernel, const onednn::Epilogue& epilogue,
                            Activation activation) {
  if (graph.op(id) != OpKind::kMatMul || !kernel.starts_with("gemm:")) return absl::OkStatus();
  if (activation == Activation::kGelu || activation == Activation::kGeluTanh)
    return absl::UnimplementedError(Concat(ActivationName(activation), " after the matmul is faster on this CPU"));
  const bool packed = graph.IsConstant(graph.input(id, 1));  // then it is another kernel
  if (!packed && (epilogue.scale != 1 || epilogue.residual != onednn::ResidualMode::kNone))
    return absl::UnimplementedError("a scale or a sum after a matmul of two computed values is faster on this CPU");
  return absl::OkStatus();
}

absl::Status CpuTarget::SupportsFused(const Graph& graph, NodeId id, const FusedParts& parts) const {
  const Node& node = graph.node(id);
  if (node.op == OpKind::kBatchNorm) {
    if (parts.activation == Activation::kRelu && !node.attributes.Bool("is_training", false)) return absl::OkStatus();
    return absl::UnimplementedError(
        Concat("no kernel with ", ActivationName(parts.activation), " behind a batch norm"));
  }
  if (node.op == OpKind::kSoftmax) {  // runtime/cpu/simd/softmax.cc: scale and addend in front of it
    if (!IsFloatOrUnknown(graph.type(graph.input(id, 0)))) return absl::UnimplementedError("softmax of no floats");
    return absl::OkStatus();
  }
  if (node.op == OpKind::kInstanceNorm) {  // all activations: runtime/cpu/simd/norms.cc, channels_last_norm.cc
    if (!IsFloatOrUnknown(graph.type(graph.input(id, 0))))
      return absl::UnimplementedError("instance norm of no floats");
    return absl::OkStatus();
  }
  if (node.op == OpKind::kSoftplus) {  // all activations: runtime/cpu/simd/softplus.cc
    if (!IsFloatOrUnknown(graph.type(graph.input(id, 0)))) return absl::UnimplementedError("softplus of no floats");
    return absl::OkStatus();
  }
  if (node.op == OpKind::kMatMulIntegerToFloat) {  // all activations: matmul_integer_to_float.cc
    const bool more = parts.bias || parts.residual || parts.broadcast_residual || parts.scale || parts.activation_first;
    return more ? absl::UnimplementedError("nothing but an activation is fused into it") : absl::OkStatus();
  }
  if (node.op != OpKind::kConv && node.op != OpKind::kMatMul) {
    return absl::UnimplementedError(Concat("nothing is fused into ", OpName(node.op)));
  }
  absl::StatusOr<onednn::Epilogue> epilogue = onednn::EpilogueOf(node.attributes);
  if (!epilogue.ok()) return absl::UnimplementedError(epilogue.status().message());
  const bool has_bias = graph.input(id, 2).valid(), has_residual = graph.input(id, 3).valid();
  HALFTONE_RETURN_IF_ERROR(CanFollow(graph, id, *epilogue, parts));
  if (parts.activation != Activation::kNone) epilogue->activation = parts.activation;
  if (parts.activation_first) epilogue->activation_first = true;
  if (parts.scale) epilogue->scale = 0.5f;
  if (has_residual || parts.residual) epilogue->residual = onednn::ResidualMode::kBinary;

  const DataType src_type = graph.type(graph.input(id, 0)), weights_type = graph.type(graph.input(id, 1));
  if (!IsFloatOrUnknown(src_type) || !IsFloatOrUnknown(weights_type)) {
    return absl::UnimplementedError(
        Concat("no kernel for ", DataTypeName(src_type), " x ", DataTypeName(weights_type)));
  }
  // With a constant scalar a and b for clip the kernel is the same; f32 stands for every type, which is the plan's last
  // choice.
  onednn::OperandTypes types;
  if (has_bias || parts.bias) types.bias = DataType::kFloat32;
  HALFTONE_ASSIGN_OR_RETURN(const std::string kernel,
                            ContractionRuns(graph, id, types, *epilogue, parts.broadcast_residual));
  return NotSlowerFused(graph, id, kernel, *epilogue, parts.activation);
}

// matmul_integer_to_float.cc: of bytes and a constant matrix of bytes.
absl::Status MatMulIntegerToFloatRuns(const Graph& graph, std::span<const ValueId> inputs) {
  const auto is_byte = [&graph](ValueId value) {
    return graph.type(value) == DataType::kUInt8 || graph.type(value) == DataType::kInt8;
  };
  if (!is_byte(inputs[0]) || !is_byte(inputs[1]))
    return absl::UnimplementedError("no kernel for other types than int8");
  const Tensor* weights = graph.ConstantTensor(inputs[1]);
  if (weights == nullptr || weights->rank() != 2) return absl::UnimplementedError("no kernel for computed weights");
  const bool fixed_zeros = inputs.size() <= 5 || !inputs[5].valid() || graph.IsConstant(inputs[5]);
  return fixed_zeros ? absl::OkStatus() : absl::UnimplementedError("no kernel with computed zero points of weights");
}

// Ops of floats of our own. None is slower than its parts on the shapes of `dev bench --fusions`: one that is must be
// refused here, with a sentence that says so.
absl::Status CpuTarget::SupportsOp(const Graph& graph, OpKind op, std::span<const ValueId> inputs) const {
  if (CpuBackend().Kernels(op).empty()) return absl::UnimplementedError(Concat("no kernel for ", OpName(op)));
  if (op == OpKind::kMatMulIntegerToFloat) return MatMulIntegerToFloatRuns(graph, inputs);
  if (op != OpKind::kBinaryChain && op != OpKind::kScaledDotProductAttention && op != OpKind::kL2Loss)
    return absl::OkStatus();
  for (const ValueId input : inputs) {
    if (input.valid() && !IsFloatOrUnknown(graph.type(input)))
      return absl::UnimplementedError(Concat("no kernel for ", OpName(op), " of ", DataTypeName(graph.type(input))));
  }
  if (op == OpKind::kBinaryChain && inputs.size() > simd::kMostChainOperands)
    return absl::UnimplementedError(
        Concat("no kernel for a chain of more than ", simd::kMostChainOperands, " operands"));
  return absl::OkStatus();
}

// Whether a result of another type than the operands' is written by the kernel itself, and by a fast one.
bool WritesResult(const Graph& graph, NodeId id, DataType operand, DataType result) {
  const Node& node = graph.node(id);
  const onednn::OperandTypes types{.src = operand, .weights = operand, .dst = result};
  switch (node.op) {
    case OpKind::kConv:
    case OpKind::kMatMul:
    case OpKind::kGemm: {
      const absl::StatusOr<std::string> name = ContractionRuns(graph, id, types, onednn::Epilogue(), false);
      return name.ok() && !onednn::IsSlow(*name);
    }
    case OpKind::kConvTranspose:
      return onednn::DeconvRuns(types);
    case OpKind::kSoftmax:
    case OpKind::kLogSoftmax:
      return onednn::SoftmaxRuns(operand, result);
    case OpKind::kLayerNorm:
      return onednn::LayerNormRuns(operand, result);
    default:  // of the others, binary ones among them, nobody has shown that it is: the cast stays
      return false;
  }
}

bool RoundsOperands(OpKind op) {
  return op == OpKind::kConv || op == OpKind::kMatMul || op == OpKind::kGemm || op == OpKind::kConvTranspose;
}

std::vector<Signature> CpuTarget::Signatures(const Graph& graph, NodeId id) const {
  constexpr DataType kF32 = DataType::kFloat32, kBf16 = DataType::kBFloat16;
  const Node& node = graph.node(id);
  if (node.op == OpKind::kInput || node.op == OpKind::kConstant || CpuBackend().Kernels(node.op).empty()) return {};
  const DataType type = graph.type(graph.input(id, 0));
  if (!IsFloatOrUnknown(type)) return {{type, type, graph.type(graph.output(id))}};
  std::vector<Signature> signatures;
  for (const DataType operand : {kF32, kBf16, DataType::kFloat16}) {
    // Statistics stay f32.
    signatures.push_back({operand, node.op == OpKind::kBatchNorm ? kF32 : operand, operand, IsNative(operand)});
  }
  for (const auto& [operand, result] : {std::pair(kBf16, kF32), std::pair(kF32, kBf16)}) {
    if (WritesResult(graph, id, operand, result)) signatures.push_back({operand, operand, result, IsNative(kBf16)});
  }
  if (RoundsOperands(node.op) && IsNative(kBf16)) signatures.push_back({kF32, kF32, kF32, true, /*bf16_math=*/true});
  return signatures;
}

}  // namespace

std::unique_ptr<Target> MakeCpuTarget() { return std::make_unique<CpuTarget>(); }

EnvironmentInfo DescribeCpu() {
  EnvironmentInfo info;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || line.compare(0, 10, "model name") != 0) continue;
    info.cpu_model = line.substr(std::min(line.size(), colon + 2));
    break;
  }
  info.isa = CurrentIsa().name;
  info.native_int8 = CurrentIsa().native_int8;
  info.native_bf16 = CurrentIsa().native_bf16;
  info.tiles = CurrentIsa().tiles;
  const dnnl::version_t* version = dnnl::version();
  info.onednn_version = Concat(version->major, ".", version->minor, ".", version->patch);
  info.onednn_commit = version->hash;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) info.cores = CPU_COUNT(&set);
  return info;
}

}  // namespace halftone

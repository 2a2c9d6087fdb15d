// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/onednn/contraction_support.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/status.h"
#include "base/strings.h"
#include "ir/window.h"
#include "runtime/cpu/onednn/problem.h"
#include "runtime/cpu/onednn/support.h"

namespace halftone::onednn {
namespace {

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

// Whether these parts can follow what is fused into the contraction already.
absl::Status CanFollow(const Graph& graph, NodeId id, const Epilogue& epilogue, const FusedParts& parts) {
  const bool has_bias = graph.input(id, 2).valid(), has_residual = graph.input(id, 3).valid();
  const bool has_activation = epilogue.activation != Activation::kNone;
  const bool more = parts.bias || parts.residual || parts.scale || parts.activation != Activation::kNone;
  const bool only_residual =
      parts.residual && parts.activation_first && !parts.bias && !parts.scale && parts.activation == Activation::kNone;
  if (has_activation && more && !only_residual) {
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

// The implementation for a conv, matmul or gemm of these types for any shapes; UNIMPLEMENTED if there is none.
absl::StatusOr<Implementation> ContractionRuns(const Graph& graph, NodeId id, const OperandTypes& types,
                                               Epilogue epilogue, bool broadcast_residual) {
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
    const absl::StatusOr<ConvProblem> problem = MakeConvProblem(node.attributes, image, *weights);
    if (!problem.ok()) return absl::UnimplementedError(problem.status().message());
    const auto primitive =
        MakeConv(*problem, types, epilogue, {AnyDesc(problem->src, types.src), AnyDesc(problem->dst, types.dst)});
    if (!primitive) return absl::UnimplementedError("oneDNN has no such convolution");
    return ImplementationOf(primitive);
  }
  // matmul: any ranks, folded to batches of matrices; post-ops do not depend on sizes.
  if (src->empty() || weights->empty()) return absl::UnimplementedError("no kernel for scalars");
  if (weights->size() == 1 && types.bias != DataType::kUnknown) {
    return absl::UnimplementedError("no kernel with a bias over the rows of a matmul with a vector");
  }
  const size_t rank = std::max<size_t>({src->size(), weights->size(), 2});
  if (rank > DNNL_MAX_NDIMS) return absl::UnimplementedError("no kernel for this rank");
  constexpr int64_t kSize = 16;
  const MatMulProblem problem{Dims(rank, kSize), Dims(rank, kSize), Dims(rank, kSize)};
  if (broadcast_residual) {
    Dims columns(rank, 1);
    columns.back() = kSize;
    epilogue.residual_desc = PlainDesc(columns, types.dst);
  }
  const auto primitive = MakeMatMul(problem, types, epilogue,
                                    {PlainDesc(problem.src, types.src), PlainDesc(problem.weights, types.weights),
                                     PlainDesc(problem.dst, types.dst)});
  if (!primitive) return absl::UnimplementedError("oneDNN has no such matmul");
  return ImplementationOf(primitive);
}

// OK if the kernel is not slower with these parts, `activation` among them, than with a loop after it. Without AVX-512
// oneDNN multiplies by its gemm, which is (`dev bench --fusions`: 0.7 to 0.9 times as fast).
absl::Status NotSlowerFused(const Graph& graph, NodeId id, const Implementation& kernel, const Epilogue& epilogue,
                            Activation activation) {
  if (graph.op(id) != OpKind::kMatMul || !IsGemm(kernel)) return absl::OkStatus();
  if (activation == Activation::kGelu || activation == Activation::kGeluTanh)
    return absl::UnimplementedError(Concat(ActivationName(activation), " after the matmul is faster on this CPU"));
  const bool packed = graph.IsConstant(graph.input(id, 1));  // then it is another kernel
  if (!packed && (epilogue.scale != 1 || epilogue.residual != ResidualMode::kNone))
    return absl::UnimplementedError("a scale or a sum after a matmul of two computed values is faster on this CPU");
  return absl::OkStatus();
}

bool IsFloatOrUnknown(DataType type) { return type == DataType::kUnknown || IsFloat(type); }

}  // namespace

absl::Status SupportsFusedContraction(const Graph& graph, NodeId id, const FusedParts& parts) {
  const Node& node = graph.node(id);
  if (node.op == OpKind::kGemm) return absl::UnimplementedError("nothing is fused into gemm");  // alpha a b + beta c
  absl::StatusOr<Epilogue> epilogue = EpilogueOf(node.attributes);
  if (!epilogue.ok()) return absl::UnimplementedError(epilogue.status().message());
  const bool has_bias = graph.input(id, 2).valid(), has_residual = graph.input(id, 3).valid();
  HALFTONE_RETURN_IF_ERROR(CanFollow(graph, id, *epilogue, parts));
  if (parts.activation != Activation::kNone) epilogue->activation = parts.activation;
  if (parts.activation_first) epilogue->activation_first = true;
  if (parts.scale) epilogue->scale = 0.5f;
  if (has_residual || parts.residual) epilogue->residual = ResidualMode::kBinary;

  const DataType weights_type = graph.type(graph.input(id, 1));
  if (!IsFloatOrUnknown(weights_type))
    return absl::UnimplementedError(Concat("no kernel for weights of ", DataTypeName(weights_type)));
  // With a constant scalar a and b for clip the kernel is the same; f32 stands for every type, which is the plan's last
  // choice.
  OperandTypes types;
  if (has_bias || parts.bias) types.bias = DataType::kFloat32;
  HALFTONE_ASSIGN_OR_RETURN(const Implementation kernel,
                            ContractionRuns(graph, id, types, *epilogue, parts.broadcast_residual));
  return NotSlowerFused(graph, id, kernel, *epilogue, parts.activation);
}

bool ContractionWritesType(const Graph& graph, NodeId id, DataType operand, DataType result) {
  const OperandTypes types{.src = operand, .weights = operand, .dst = result};
  const absl::StatusOr<Implementation> kernel =
      ContractionRuns(graph, id, types, Epilogue(), /*broadcast_residual=*/false);
  return kernel.ok() && !kernel->slow;
}

}  // namespace halftone::onednn

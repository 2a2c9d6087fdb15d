// SPDX-License-Identifier: Apache-2.0
#include "optimizer/quantize_for_runtime.h"

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"

namespace halftone {
namespace {

// Everything as `target_` has it, but plain ops where `plain` is set.
class FusionTarget final : public Target {
 public:
  FusionTarget(const Target& target, bool plain, bool operators, bool dynamic)
      : target_(target), plain_(plain), operators_(operators), dynamic_(dynamic) {}

  std::string_view name() const override { return target_.name(); }

  absl::Status SupportsFused(const Graph& graph, NodeId node, const FusedParts& parts) const override {
    const bool contraction = graph.op(node) == OpKind::kConv || graph.op(node) == OpKind::kMatMul;
    if (plain_ && contraction) {
      if (const std::string_view why = WhyNot(graph, node, parts); !why.empty()) {
        return absl::UnimplementedError(AbslView(why));
      }
    }
    if (dynamic_ && graph.op(node) == OpKind::kMatMul && graph.IsConstant(graph.input(node, 1))) {
      const bool more = parts.residual || parts.broadcast_residual || parts.scale || parts.activation_first;
      if (more) return absl::UnimplementedError("dynamically quantized matmuls have a bias and an activation alone");
    }
    return target_.SupportsFused(graph, node, parts);
  }

  absl::Status SupportsOp(const Graph& graph, OpKind op, std::span<const ValueId> inputs) const override {
    if (plain_ && op == OpKind::kBinaryChain) return absl::UnimplementedError("the target runtime has one op per step");
    return target_.SupportsOp(graph, op, inputs);
  }

  std::vector<Signature> Signatures(const Graph& graph, NodeId node) const override {
    return target_.Signatures(graph, node);
  }

  absl::Status SupportsQuantized(const Graph& graph, NodeId node, std::span<const ValueId> inputs,
                                 ValueId output) const override {
    return target_.SupportsQuantized(graph, node, inputs, output);
  }

  bool IsNative(DataType type) const override { return target_.IsNative(type); }

 private:
  std::string_view WhyNot(const Graph& graph, NodeId node, const FusedParts& parts) const {
    if (parts.residual || parts.broadcast_residual) return "the target runtime adds int8 tensors with an op of its own";
    if (parts.scale) return "the target runtime has no int8 matmul with a scale";
    const Activation activation = parts.activation;
    const bool implied = activation == Activation::kNone || activation == Activation::kRelu ||
                         activation == Activation::kRelu6 || activation == Activation::kClip;
    if (!implied) return "the target runtime has no int8 op with this activation";
    const bool product_with_bias = parts.bias && graph.op(node) == OpKind::kMatMul && !IsOfMatrices(graph, node);
    return operators_ && product_with_bias ? "QLinearMatMul has no bias" : "";
  }

  // Written as a Gemm, whose form of integers has a bias.
  static bool IsOfMatrices(const Graph& graph, NodeId matmul) {
    for (const int i : {0, 1}) {
      const Shape& shape = graph.shape(graph.input(matmul, i));
      if (!shape.has_rank() || shape.rank() != 2) return false;
    }
    return true;
  }

  const Target& target_;
  const bool plain_;
  const bool operators_;
  const bool dynamic_;
};

}  // namespace

bool WantsPlainOps(ModelFormat format, TargetRuntime target_runtime, QuantFormat form) {
  return !FormatRow(format).int8.operators_fuse &&
         (target_runtime == TargetRuntime::kOnnxRuntime || form == QuantFormat::kQOperator);
}

QuantizeOptions OptionsFor(ModelFormat format, TargetRuntime target_runtime, QuantFormat form,
                           QuantizeOptions options) {
  const Int8Support& file = FormatRow(format).int8;
  if (WantsPlainOps(format, target_runtime, form)) {
    options.quantize_results = true;
    options.quantize_outputs |= target_runtime == TargetRuntime::kOnnxRuntime;
  }
  options.recurrent &= file.recurrent;
  options.per_channel_dynamic &= file.per_channel_dynamic;
  if (form == QuantFormat::kQOperator) {
    options.symmetric_activations |= !file.operators_have_zero_points;
    options.per_channel_products &= file.operators_per_channel_matmul;
  }
  return options;
}

ExportOptions FileOptionsOf(VariantKind kind, QuantFormat form) {
  return {.integer_operators = kind == VariantKind::kInt8 && form == QuantFormat::kQOperator};
}

std::unique_ptr<const Target> FusionTargetFor(ModelFormat format, TargetRuntime target_runtime,
                                              const Int8Options& options, const Target& target) {
  const bool plain = options.mode == Int8Mode::kStatic && WantsPlainOps(format, target_runtime, options.form);
  const bool dynamic = options.mode == Int8Mode::kDynamic;
  if (!plain && !dynamic) return nullptr;
  return std::make_unique<FusionTarget>(target, plain, options.form == QuantFormat::kQOperator, dynamic);
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// A target that supports everything except the items of a list: for tests and for tools that run without kernels.
#ifndef HALFTONE_PASSES_CORE_PERMISSIVE_TARGET_H_
#define HALFTONE_PASSES_CORE_PERMISSIVE_TARGET_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/target.h"

namespace halftone {

// Immutable, thread-safe.
class PermissiveTarget final : public Target {
 public:
  PermissiveTarget() = default;

  // "without conv+residual, matmul+bias": each item is an op and a combination of fused parts for which it has no
  // kernel: bias, residual, scale, broadcast_residual, activation_first, or the name of an activation. An op without
  // parts has no kernel at all. Other parts: "conv+result_type": no kernel that writes a different type than it reads;
  // "conv+math_mode": none that rounds f32 operands to bf16; "conv+int8": no int8 kernel; "conv+int8_result": none that
  // writes int8; "add+int8_mixed": none with int8 and floating-point inputs; "concat+int8_scales": none with inputs of
  // different scales. INVALID_ARGUMENT names the invalid item.
  static absl::StatusOr<PermissiveTarget> Parse(std::string_view text);

  std::string_view name() const override { return "permissive"; }
  absl::Status SupportsFused(const Graph& graph, NodeId node, const FusedParts& parts) const override;
  absl::Status SupportsOp(const Graph& graph, OpKind op, std::span<const ValueId> inputs) const override;
  // Except for the listed items: OK if both operands of a contraction are int8, or neither.
  absl::Status SupportsQuantized(const Graph& graph, NodeId node, std::span<const ValueId> inputs,
                                 ValueId output) const override;
  std::vector<Signature> Signatures(const Graph& graph, NodeId node) const override;
  bool IsNative(DataType type) const override { return type == DataType::kFloat32 || type == DataType::kBFloat16; }

 private:
  struct Missing {
    OpKind op;
    FusedParts parts;
    std::string text;
    bool result_type = false, math_mode = false;                                      // only for signatures
    bool int8 = false, int8_result = false, int8_mixed = false, int8_scales = false;  // only for int8 kernels
    bool OfSignatures() const { return result_type || math_mode; }
    bool OfIntegers() const { return int8 || int8_result || int8_mixed || int8_scales; }
    bool OfFusion() const { return !OfSignatures() && !OfIntegers(); }
  };
  std::vector<Missing> missing_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_PERMISSIVE_TARGET_H_

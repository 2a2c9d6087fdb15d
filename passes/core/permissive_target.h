// A target that supports everything but what a list says: for tests and for tools that run without kernels.
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

  // "without conv+residual, matmul+bias": each word is an op and the fused parts that it has no kernel for when all of
  // them come together: bias, residual, scale, broadcast_residual, activation_first, or an activation's name; an op
  // alone has none at all. "conv+result_type": none that writes another type than it reads; "conv+math_mode": none that
  // rounds operands of f32; "conv+int8": none of integers; "conv+int8_result": none that writes them; "add+int8_mixed":
  // none that reads some inputs as integers and others not, "concat+int8_scales": none of several scales.
  // INVALID_ARGUMENT names the word that is wrong.
  static absl::StatusOr<PermissiveTarget> Parse(std::string_view text);

  std::string_view name() const override { return "permissive"; }
  absl::Status SupportsFused(const Graph& graph, NodeId node, const FusedParts& parts) const override;
  absl::Status SupportsOp(const Graph& graph, OpKind op, std::span<const ValueId> inputs) const override;
  // But for what is named: whatever reads both operands of a contraction as integers, or neither.
  absl::Status SupportsQuantized(const Graph& graph, NodeId node, std::span<const ValueId> inputs,
                                 ValueId output) const override;
  std::vector<Signature> Signatures(const Graph& graph, NodeId node) const override;
  bool IsNative(DataType type) const override { return type == DataType::kFloat32 || type == DataType::kBFloat16; }

 private:
  struct Missing {
    OpKind op;
    FusedParts parts;
    std::string text;
    bool result_type = false, math_mode = false;                                      // signatures alone
    bool int8 = false, int8_result = false, int8_mixed = false, int8_scales = false;  // kernels of integers alone
    bool OfSignatures() const { return result_type || math_mode; }
    bool OfIntegers() const { return int8 || int8_result || int8_mixed || int8_scales; }
    bool OfFusion() const { return !OfSignatures() && !OfIntegers(); }
  };
  std::vector<Missing> missing_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_PERMISSIVE_TARGET_H_

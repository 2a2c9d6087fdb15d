// SPDX-License-Identifier: Apache-2.0
// A target that caches the replies of another target per kind of node: a network of a thousand equal layers asks once.
#ifndef HALFTONE_PASSES_CORE_MEMO_TARGET_H_
#define HALFTONE_PASSES_CORE_MEMO_TARGET_H_

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/target.h"

namespace halftone {

// Nodes are of one kind if their ops, attributes, and the types, shapes, quantizations and constness of their inputs
// and outputs are equal; a target looks at nothing else. For one fixed point: not thread-safe. `target` must outlive
// it.
class MemoTarget final : public Target {
 public:
  explicit MemoTarget(const Target& target) : target_(target) {}

  std::string_view name() const override { return target_.name(); }
  absl::Status SupportsFused(const Graph& graph, NodeId node, const FusedParts& parts) const override;
  absl::Status SupportsOp(const Graph& graph, OpKind op, std::span<const ValueId> inputs) const override;
  absl::Status SupportsQuantized(const Graph& graph, NodeId node, std::span<const ValueId> inputs,
                                 ValueId output) const override;
  std::vector<Signature> Signatures(const Graph& graph, NodeId node) const override {
    return target_.Signatures(graph, node);
  }
  bool IsNative(DataType type) const override { return target_.IsNative(type); }

 private:
  const Target& target_;
  mutable std::unordered_map<std::string, absl::Status> replies_;
  mutable std::unordered_map<std::string, absl::Status> quantized_replies_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_MEMO_TARGET_H_

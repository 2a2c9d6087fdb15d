// A target that is asked only once for each kind of node: a network of a thousand equal layers asks for one.
#ifndef HALFTONE_PASSES_CORE_MEMO_TARGET_H_
#define HALFTONE_PASSES_CORE_MEMO_TARGET_H_

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/target.h"

namespace halftone {

// Nodes are of one kind where op, attributes and the types, shapes, quantizations and constness of inputs and outputs
// are the same; a target looks at nothing else. For one fixed point: not thread-safe. `target` must outlive it.
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
  mutable std::unordered_map<std::string, absl::Status> answers_;
  mutable std::unordered_map<std::string, absl::Status> quantized_answers_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_MEMO_TARGET_H_

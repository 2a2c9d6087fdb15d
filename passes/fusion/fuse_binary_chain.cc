// SPDX-License-Identifier: Apache-2.0
// (x0 op x1) op x2 ..  =>  binary_chain(x0, x1, x2, ..) {ops}          (add, sub, mul, div, maximum, minimum)
//
// Fuses the elementwise ops that no other rule fused, so that they read and write memory once. Legal for floats, when
// each step has the shape and type of the result and one consumer, and the target has the kernel. Only the last op of a
// chain matches, so that the whole chain becomes one node. Bit-exact in f32: the same steps in the same order; below
// f32 it rounds once where each step rounds.

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/binary_steps.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FuseBinaryChain final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-binary-chain"; }
  std::string_view equation() const override { return "(x0 op x1) op x2 .. => binary_chain(x0, x1, x2, ..) {ops}"; }
  OpSet root() const override { return StepOps(); }
  bool makes_one_node() const override { return true; }

  FindResult Find(const Graph& g, NodeId root, const Target& target) const override {
    const ValueId y = g.output(root);
    if (!IsFloatingPoint(g.type(y))) return No("its type is not floating-point");
    const BinarySteps steps = ReadBinarySteps(g, root);
    if (steps.nodes.size() < 2) return No("no operand is another step");
    if (GoesOn(g, root)) return No("it is not the last step of its chain");
    for (const ValueId input : steps.inputs) {
      if (g.type(input) != g.type(y)) return Kept(DescribeBoth("different types", g, input, y));
      if (!g.shape(input).has_rank()) return Kept(Concat("the rank of an operand is not known: ", Describe(g, input)));
    }
    const std::optional<Shape> first = BroadcastShapes(g.shape(steps.inputs[0]), g.shape(steps.inputs[1]));
    if (!first.has_value() || !SameShape(*first, g.shape(y)))
      return Kept("the first step is not known to have the result's shape");
    const absl::Status supported = target.SupportsOp(g, OpKind::kBinaryChain, steps.inputs);
    if (!supported.ok()) return Kept(Describe(g, root, supported));
    return Match(steps.nodes);
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    BinarySteps steps = ReadBinarySteps(edit.graph(), m.root());
    Node node;
    node.op = OpKind::kBinaryChain;
    node.inputs = std::move(steps.inputs);
    node.attributes.Set("ops", std::move(steps.ops));
    ReplaceByNode(edit, m.root(), std::move(node));
    return absl::OkStatus();
  }

 private:
  // Whether the only consumer of `root` is a step that continues the chain.
  static bool GoesOn(const Graph& g, NodeId root) {
    const ValueId y = g.output(root);
    if (!g.HasOneUser(y)) return false;
    const NodeId user = g.uses(y)[0].node;
    if (!StepOps().has(g.op(user)) || g.HasControlEdges(user) || !IsFloatingPoint(g.type(g.output(user)))) return false;
    const std::vector<NodeId> nodes = ReadBinarySteps(g, user).nodes;
    return nodes.size() > 1 && nodes[1] == root;
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseBinaryChain() { return std::make_unique<FuseBinaryChain>(); }

}  // namespace halftone

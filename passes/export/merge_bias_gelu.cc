// SPDX-License-Identifier: Apache-2.0
// gelu(x + bias)  =>  binary_chain(x, bias) {ops=["add"], activation="gelu"}
//
// For ONNX Runtime's dialect, which says it as BiasGelu, or by tanh as FastGelu. Legal in f32 when bias is a vector
// along x's last dimension. A fused gelu may round elsewhere.

#include <optional>
#include <string>
#include <vector>

#include "passes/export/merges.h"

namespace halftone {
namespace {

bool IsAlongLast(const Graph& g, ValueId vector, ValueId x) {
  const Shape &v = g.shape(vector), &s = g.shape(x);
  if (!v.has_rank() || !s.has_rank() || v.rank() != 1 || s.rank() < 2) return false;
  return v.dim(0) == s.dim(-1) && v.dim(0).known();
}

class MergeBiasGelu final : public RewriteRule {
 public:
  std::string_view name() const override { return "merge-bias-gelu"; }
  std::string_view equation() const override { return "gelu(x + bias) => binary_chain(x, bias)"; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kGelu; }

  FindResult Find(const Graph& g, NodeId gelu, const Target&) const override {
    const NodeId sum = g.producer(g.input(gelu, 0));
    if (g.op(sum) != OpKind::kAdd) return No("its input is no add");
    if (g.type(g.output(gelu)) != DataType::kFloat32) return Kept("there is a fused op in f32 alone");
    const auto [a, b] = g.inputs<2>(sum);
    if (IsAlongLast(g, b, a)) return Match({gelu, sum}, {a, b});
    if (IsAlongLast(g, a, b)) return Match({gelu, sum}, {b, a});
    return Kept("neither operand of the add is a vector along the last dimension");
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const NodeId gelu = m.root();
    const bool tanh = g.node(gelu).attributes.String("approximate", "none") == "tanh";
    Node chain;
    chain.op = OpKind::kBinaryChain;
    chain.inputs = {m.value(0), m.value(1)};
    chain.attributes.Set("ops", std::vector<std::string>{"add"});
    chain.attributes.Set("activation", std::string(ActivationName(tanh ? Activation::kGeluTanh : Activation::kGelu)));
    chain.origin = g.node(gelu).origin;
    const ValueId y = g.output(gelu);
    edit.ReplaceNode(gelu, edit.AddNode(std::move(chain), {{g.type(y), g.shape(y), ""}}));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeMergeBiasGelu() { return std::make_unique<MergeBiasGelu>(); }

}  // namespace halftone

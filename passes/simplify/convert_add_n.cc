// SPDX-License-Identifier: Apache-2.0
// add_n(a, b)  =>  a + b          (TensorFlow's AddN, ONNX's Sum)
//
// Legal for exactly two operands. The fusions then handle only one kind of addition: a residual may be written as AddN.
// Bit-exact.

#include "passes/simplify/rules.h"

namespace halftone {
namespace {

class ConvertAddN final : public RewriteRule {
 public:
  std::string_view name() const override { return "convert-add-n"; }
  std::string_view equation() const override { return "add_n(a, b) => a + b"; }
  float tolerance() const override { return kBitExact; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kAddN; }

  FindResult Find(const Graph& g, NodeId sum, const Target&) const override {
    if (g.node(sum).inputs.size() != 2) return Kept("it does not have two operands");
    return Match({sum});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const Node sum = g.node(m.root());
    Node add;
    add.op = OpKind::kAdd;
    add.inputs = sum.inputs;
    add.device = sum.device;
    add.origin = sum.origin;
    const ValueId y = sum.outputs[0];
    edit.ReplaceNode(m.root(), edit.AddNode(std::move(add), {{g.type(y), g.shape(y), ""}}));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeConvertAddN() { return std::make_unique<ConvertAddN>(); }

}  // namespace halftone

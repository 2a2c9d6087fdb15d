// SPDX-License-Identifier: Apache-2.0
#include "passes/export/split_softmax.h"

#include <string>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/softmax.h"

namespace halftone {
namespace {

// op(x, operand), to be inserted before the softmax.
ValueId Before(GraphEditor& edit, NodeId softmax, OpKind op, ValueId x, ValueId operand) {
  const Graph& g = edit.graph();
  Node node;
  node.op = op;
  node.inputs = {x, operand};
  node.device = g.node(softmax).device;
  node.origin = g.node(softmax).origin;
  node.name = FreshName(g, Concat(g.Label(softmax), "/", OpName(op)));
  return g.output(edit.AddNode(std::move(node), {{g.type(x), g.shape(x), ""}}));
}

}  // namespace

absl::Status SplitSoftmax::Run(GraphEditor& edit, PassContext&) const {
  const Graph& g = edit.graph();
  for (const NodeId id : g.nodes()) {
    if (g.op(id) != OpKind::kSoftmax || file_.Writes(g, id)) continue;
    const float scale = g.node(id).attributes.Float("scale", 1);
    if (scale != 1) {
      const ValueId x = g.input(id, 0);
      HALFTONE_ASSIGN_OR_RETURN(Tensor number, Tensor::Scalar(scale).ConvertTo(g.type(x)));
      const ValueId factor = edit.AddConstant(FreshName(g, Concat(g.Label(id), "/scale")), std::move(number));
      edit.SetInput(id, 0, Before(edit, id, OpKind::kMul, x, factor));
      edit.EraseAttribute(id, "scale");
    }
    const ValueId addend = g.input(id, kSoftmaxAddend);
    if (!addend.valid() || file_.Writes(g, id)) continue;
    edit.SetInputs(id, {Before(edit, id, OpKind::kAdd, g.input(id, 0), addend)});
  }
  return absl::OkStatus();
}

}  // namespace halftone

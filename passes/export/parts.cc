// SPDX-License-Identifier: Apache-2.0
#include "passes/export/parts.h"

#include <utility>

#include "base/strings.h"
#include "passes/fusion/contraction.h"

namespace halftone {

ValueId Parts::Constant(std::string_view word, Tensor tensor) {
  const Graph& g = edit_.graph();
  return edit_.AddConstant(FreshName(g, Concat(g.Label(whole_), "/", word)), std::move(tensor));
}

ValueId Parts::Number(std::string_view word, double number, DataType type) {
  return Constant(word, *Tensor::Scalar(static_cast<float>(number)).ConvertTo(type));  // between floats: cannot fail
}

NodeId Parts::AddNode(Node node, std::vector<ValueSpec> outputs) {
  const Graph& g = edit_.graph();
  node.device = g.node(whole_).device;
  node.origin = g.node(whole_).origin;
  node.name = FreshName(g, Concat(g.Label(whole_), "/", OpName(node.op)));
  return edit_.AddNode(std::move(node), std::move(outputs));
}

ValueId Parts::Apply(OpKind op, std::vector<ValueId> inputs, ValueSpec like, Attributes attributes) {
  Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  return edit_.graph().output(AddNode(std::move(node), {std::move(like)}));
}

ValueId Parts::Activate(ValueId x) {
  const Graph& g = edit_.graph();
  const ActivationSpec spec = FusedActivation(g, whole_);
  if (spec.kind == Activation::kNone) return x;
  return g.output(AddNode(ActivationNode(edit_, x, spec, g.Label(whole_)), {{g.type(x), g.shape(x), ""}}));
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
#include "passes/export/split_activations.h"

#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "passes/fusion/activation.h"
#include "passes/fusion/contraction.h"

namespace halftone {
namespace {

// Writes a formula of the input of one node.
class Formula {
 public:
  Formula(GraphEditor& edit, NodeId node)
      : edit_(edit), node_(node), x_(edit.graph().input(node, 0)), y_(edit.graph().output(node)) {}

  ValueId x() const { return x_; }
  ValueId Number(double number) {
    const Graph& g = edit_.graph();
    Tensor tensor = *Tensor::Scalar(static_cast<float>(number)).ConvertTo(g.type(y_));  // between floats: cannot fail
    return edit_.AddConstant(FreshName(g, Concat(g.Label(node_), "/number")), std::move(tensor));
  }
  ValueId Apply(OpKind op, ValueId a, ValueId b = kNoValue) {
    const Graph& g = edit_.graph();
    Node node;
    node.op = op;
    node.inputs = {a};
    if (b.valid()) node.inputs.push_back(b);
    node.device = g.node(node_).device;
    node.origin = g.node(node_).origin;
    node.name = FreshName(g, Concat(g.Label(node_), "/", OpName(op)));
    return g.output(edit_.AddNode(std::move(node), {{g.type(y_), g.shape(y_), ""}}));
  }
  ValueId Mul(ValueId a, ValueId b) { return Apply(OpKind::kMul, a, b); }
  ValueId Add(ValueId a, ValueId b) { return Apply(OpKind::kAdd, a, b); }

 private:
  GraphEditor& edit_;
  const NodeId node_;
  const ValueId x_, y_;
};

// kNoValue: every file has an op for it.
ValueId Write(Formula& f, const ActivationSpec& spec) {
  const ValueId x = f.x();
  switch (spec.kind) {
    case Activation::kSwish:
      return f.Mul(x, f.Apply(OpKind::kSigmoid, spec.alpha == 1 ? x : f.Mul(x, f.Number(spec.alpha))));
    case Activation::kHardSigmoid: {
      const ValueId line = f.Add(f.Mul(x, f.Number(spec.alpha)), f.Number(spec.beta));
      return f.Apply(OpKind::kMinimum, f.Apply(OpKind::kMaximum, line, f.Number(0)), f.Number(1));
    }
    case Activation::kHardSwish:
      return f.Mul(x, f.Mul(f.Apply(OpKind::kRelu6, f.Add(x, f.Number(3))), f.Number(1.0 / 6)));
    case Activation::kGelu: {
      const ValueId erf = f.Apply(OpKind::kErf, f.Apply(OpKind::kDiv, x, f.Number(std::numbers::sqrt2)));
      return f.Mul(f.Mul(f.Number(0.5), x), f.Add(f.Number(1), erf));
    }
    case Activation::kGeluTanh: {
      const ValueId cube = f.Mul(f.Number(0.044715), f.Mul(x, f.Mul(x, x)));
      const ValueId tanh = f.Apply(OpKind::kTanh, f.Mul(f.Number(std::sqrt(2 / std::numbers::pi)), f.Add(x, cube)));
      return f.Mul(f.Mul(f.Number(0.5), x), f.Add(f.Number(1), tanh));
    }
    case Activation::kMish:
      return f.Mul(x, f.Apply(OpKind::kTanh, f.Apply(OpKind::kSoftplus, x)));
    default:
      return kNoValue;
  }
}

}  // namespace

absl::Status SplitActivations::Run(GraphEditor& edit, PassContext&) const {
  const Graph& g = edit.graph();
  for (const NodeId id : g.nodes()) {
    const std::optional<ActivationSpec> spec = ActivationOps().has(g.op(id)) ? ActivationOf(g, id) : std::nullopt;
    if (!spec.has_value() || file_.Writes(g, id)) continue;
    Formula formula(edit, id);
    if (const ValueId y = Write(formula, *spec); y.valid()) edit.ReplaceNode(id, g.producer(y));
  }
  return absl::OkStatus();
}

}  // namespace halftone

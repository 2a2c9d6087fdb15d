// SPDX-License-Identifier: Apache-2.0
#include "passes/fusion/activation.h"

#include <limits>
#include <vector>

#include "absl/log/check.h"
#include "base/strings.h"
#include "passes/fusion/contraction.h"

namespace halftone {
namespace {

struct Row {
  OpKind op;
  Activation activation;
  std::string_view alpha = "", beta = "";  // attributes of the op
};
constexpr Row kRows[] = {
    {OpKind::kRelu, Activation::kRelu},
    {OpKind::kRelu6, Activation::kRelu6},
    {OpKind::kClip, Activation::kClip},  // its bounds are inputs
    {OpKind::kElu, Activation::kElu, "alpha"},
    {OpKind::kLeakyRelu, Activation::kLeakyRelu, "alpha"},
    {OpKind::kTanh, Activation::kTanh},
    {OpKind::kSigmoid, Activation::kSigmoid},
    {OpKind::kSwish, Activation::kSwish, "alpha"},
    {OpKind::kHardSwish, Activation::kHardSwish},
    {OpKind::kHardSigmoid, Activation::kHardSigmoid, "alpha", "beta"},
    {OpKind::kGelu, Activation::kGelu},
    {OpKind::kGelu, Activation::kGeluTanh},
    {OpKind::kMish, Activation::kMish},
};

bool IsTanhGelu(const Node& node) {
  return node.op == OpKind::kGelu && node.attributes.String("approximate", "none") == "tanh";
}

// nullptr if the node is no activation.
const Row* RowOf(const Node& node) {
  for (const Row& row : kRows) {
    if (row.op == node.op && (row.activation == Activation::kGeluTanh) == IsTanhGelu(node)) return &row;
  }
  return nullptr;
}

}  // namespace

OpSet ActivationOps() {
  OpSet ops = kRows[0].op;
  for (const Row& row : kRows) ops.Add(row.op);
  return ops;
}

std::optional<ActivationSpec> ActivationOf(const Graph& g, NodeId node) {
  const Row* row = RowOf(g.node(node));
  if (row == nullptr) return std::nullopt;
  ActivationSpec spec{row->activation};
  const Attributes& attributes = g.node(node).attributes;
  const ActivationParameters otherwise = ParametersOf(row->activation);
  if (!row->alpha.empty()) spec.alpha = attributes.Float(row->alpha, otherwise.alpha);
  if (!row->beta.empty()) spec.beta = attributes.Float(row->beta, otherwise.beta);
  if (spec.kind != Activation::kClip) return spec;
  spec.alpha = std::numeric_limits<float>::lowest();
  spec.beta = std::numeric_limits<float>::max();
  for (const int i : {1, 2}) {
    if (!g.input(node, i).valid()) continue;
    const std::optional<double> bound = g.ConstantScalar(g.input(node, i));
    if (!bound.has_value()) return std::nullopt;
    (i == 1 ? spec.alpha : spec.beta) = static_cast<float>(*bound);
  }
  return spec;
}

ActivationSpec FusedActivation(const Graph& g, NodeId node) {
  const Attributes& attributes = g.node(node).attributes;
  const Activation kind = ActivationFromName(attributes.String("activation", "")).value_or(Activation::kNone);
  const ActivationParameters otherwise = ParametersOf(kind);
  return {kind, attributes.Float("activation_alpha", otherwise.alpha),
          attributes.Float("activation_beta", otherwise.beta)};
}

void AttachActivation(Attributes& attributes, const ActivationSpec& spec) {
  attributes.Set("activation", std::string(ActivationName(spec.kind)));
  const int parameters = ParametersOf(spec.kind).count;
  if (parameters > 0) attributes.Set("activation_alpha", spec.alpha);
  if (parameters > 1) attributes.Set("activation_beta", spec.beta);
}

void AttachActivation(GraphEditor& edit, NodeId node, const ActivationSpec& spec) {
  Attributes attributes;
  AttachActivation(attributes, spec);
  for (const auto& [name, value] : attributes) edit.SetAttribute(node, name, value);
}

Node ActivationNode(GraphEditor& edit, ValueId x, const ActivationSpec& spec, const std::string& label) {
  const Graph& g = edit.graph();
  Node node;
  for (const Row& row : kRows) {
    if (row.activation != spec.kind) continue;
    node.op = row.op;
    if (!row.alpha.empty()) node.attributes.Set(std::string(row.alpha), spec.alpha);
    if (!row.beta.empty()) node.attributes.Set(std::string(row.beta), spec.beta);
  }
  CHECK(node.op != Node().op) << "no activation";
  if (spec.kind == Activation::kGeluTanh) node.attributes.Set("approximate", std::string("tanh"));
  node.inputs = {x};
  if (spec.kind != Activation::kClip) return node;
  for (const auto& [name, bound] : {std::pair("low", spec.alpha), std::pair("high", spec.beta)}) {
    Tensor tensor = *Tensor::Scalar(bound).ConvertTo(g.type(x));  // f32 to another float cannot fail
    node.inputs.push_back(edit.AddConstant(FreshName(g, Concat(label, "/", name)), std::move(tensor)));
  }
  return node;
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
#include "passes/fusion/recurrent_cell.h"

#include <utility>

#include "absl/log/check.h"
#include "base/strings.h"
#include "ir/recurrent.h"
#include "passes/fusion/contraction.h"

namespace halftone {
namespace {

constexpr size_t kMaxMatMuls = 2;

bool IsColumnAxis(const Graph& g, ValueId axis) {
  const std::optional<double> number = axis.valid() ? g.ConstantScalar(axis) : std::nullopt;
  return number == 1.0 || number == -1.0;
}

// Columns of a value of rank 2; -1: not known.
int64_t Columns(const Graph& g, ValueId x) {
  const Shape& shape = g.shape(x);
  return shape.has_rank() && shape.rank() == 2 && shape.dim(1).known() ? shape.dim(1).value : -1;
}

bool IsBias(const Graph& g, ValueId bias, int64_t columns) {
  return ChannelVector(g, bias, columns, /*axis=*/1, /*rank=*/2).has_value();
}

// The operands of one matmul: x, or the values that are concatenated to x.
bool AddInputs(const Graph& g, NodeId matmul, int64_t rows, Dense& dense) {
  const ValueId x = g.input(matmul, 0);
  if (g.op(x) != OpKind::kConcat) {
    dense.inputs.push_back({x, matmul, 0, rows});
    return Columns(g, x) == rows;
  }
  const NodeId concat = g.producer(x);
  const int parts = static_cast<int>(g.node(concat).inputs.size()) - 1;
  if (!IsColumnAxis(g, g.input(concat, parts))) return false;
  int64_t row = 0;
  for (int i = 0; i < parts; ++i) {
    const int64_t columns = Columns(g, g.input(concat, i));
    if (columns < 1) return false;
    dense.inputs.push_back({g.input(concat, i), matmul, row, columns});
    row += columns;
  }
  dense.nodes.push_back(concat);
  return row == rows;
}

// Adds the matmul with constant weights that computes `y`, and the ops fused into it, to `dense`.
bool AddMatMul(const Graph& g, ValueId y, bool last, std::vector<ValueId>& more, Dense& dense) {
  const NodeId matmul = g.producer(y);
  const Attributes& attributes = g.node(matmul).attributes;
  if (attributes.Bool("transpose_a", false) || attributes.Float("scale", 1) != 1) return false;
  if (HasActivation(g, matmul)) {
    const auto activation = ActivationFromName(attributes.String("activation", ""));
    const bool fits = last && dense.activation == Activation::kNone && !attributes.Bool("activation_first", false) &&
                      (activation == Activation::kSigmoid || activation == Activation::kTanh);
    if (!fits) return false;
    dense.activation = *activation;
  }
  const Tensor* weights = g.ConstantTensor(g.input(matmul, kWeightsInput));
  if (weights == nullptr || weights->type() != DataType::kFloat32 || weights->rank() != 2) return false;
  const bool transposed = attributes.Bool("transpose_b", false);
  const int64_t columns = weights->dims()[transposed ? 0 : 1];
  if (dense.columns != 0 && dense.columns != columns) return false;
  dense.columns = columns;
  if (HasBias(g, matmul)) {
    if (!g.IsConstant(g.input(matmul, kBiasInput))) return false;
    dense.biases.push_back(g.input(matmul, kBiasInput));
  }
  if (HasResidual(g, matmul)) more.push_back(g.input(matmul, kResidualInput));
  dense.nodes.push_back(matmul);
  return AddInputs(g, matmul, weights->dims()[transposed ? 1 : 0], dense);
}

float WeightAt(const Tensor& weights, bool transposed, int64_t row, int64_t column) {
  const std::span<const float> all = weights.data<float>();
  return transposed ? all[column * weights.dims()[1] + row] : all[row * weights.dims()[1] + column];
}

Node Like(const Graph& g, NodeId like, OpKind op, std::vector<ValueId> inputs) {
  Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.device = g.node(like).device;
  node.origin = g.node(like).origin;
  return node;
}

ValueId FirstAxis(GraphEditor& edit) {
  return edit.AddConstant("", Tensor::Ints(std::vector<int64_t>{0}, DataType::kInt64));
}

}  // namespace

std::optional<Dense> FindDense(const Graph& g, ValueId y) {
  Dense dense;
  if (g.op(y) == OpKind::kSigmoid || g.op(y) == OpKind::kTanh) {
    dense.activation = g.op(y) == OpKind::kTanh ? Activation::kTanh : Activation::kSigmoid;
    dense.nodes.push_back(g.producer(y));
    y = g.input(g.producer(y), 0);
  }
  bool last = true;           // no other op is between `y` and the ops that were found
  std::vector<ValueId> sums;  // added constants; once the columns are known, they are checked to be biases
  std::vector<ValueId> terms = {y};
  while (!terms.empty()) {
    const ValueId term = terms.back();
    terms.pop_back();
    const NodeId node = g.producer(term);
    if (g.op(node) == OpKind::kMatMul) {
      if (dense.inputs.size() >= kMaxMatMuls || !AddMatMul(g, term, last, terms, dense)) return std::nullopt;
    } else if (g.op(node) == OpKind::kAdd || g.op(node) == OpKind::kBiasAdd) {
      dense.nodes.push_back(node);
      for (const ValueId input : g.inputs<2>(node)) {
        (g.IsConstant(input) ? sums : terms).push_back(input);
      }
    } else {
      return std::nullopt;
    }
    last = false;
    if (terms.size() > kMaxMatMuls || dense.inputs.size() > kMaxMatMuls) return std::nullopt;
  }
  for (const ValueId sum : sums) {
    if (!IsBias(g, sum, dense.columns)) return std::nullopt;
    dense.biases.push_back(sum);
  }
  return dense;
}

std::optional<Part> FindPart(const Graph& g, ValueId y) {
  const NodeId split = g.producer(y);
  if (g.op(split) != OpKind::kSplit) return std::nullopt;
  const int parts = static_cast<int>(g.node(split).outputs.size());
  const ValueId x = g.input(split, 0), sizes = g.input(split, 1);
  const int64_t columns = Columns(g, x);
  if (!IsColumnAxis(g, g.input(split, 2)) || columns < 0 || columns % parts != 0) return std::nullopt;
  if (sizes.valid()) {
    const std::optional<std::vector<int64_t>> numbers = g.ConstantInts(sizes);
    if (numbers != std::vector<int64_t>(parts, columns / parts)) return std::nullopt;
  }
  return Part{split, x, g.value(y).port, parts};
}

std::array<std::pair<ValueId, ValueId>, 2> OperandOrders(const Graph& g, ValueId y) {
  const auto [a, b] = g.inputs<2>(g.producer(y));
  return {std::pair(a, b), std::pair(b, a)};
}

ValueId OneMinus(const Graph& g, ValueId y) {
  if (g.op(y) != OpKind::kSub) return kNoValue;
  const auto [one, x] = g.inputs<2>(g.producer(y));
  const bool same = g.shape(x).has_rank() ? g.shape(x) == g.shape(y) : g.shape(one) == Shape::Scalar();
  return g.ConstantScalar(one) == 1.0 && same ? x : kNoValue;
}

std::vector<StateMix> StateMixes(const Graph& g, NodeId add) {
  std::vector<StateMix> mixes;
  for (const auto& [left, right] : OperandOrders(g, g.output(add))) {
    if (!left.valid() || !right.valid()) return mixes;
    if (g.op(right) != OpKind::kMul) continue;
    for (const auto& [a, b] : OperandOrders(g, right)) {  // c + u (h - c)
      if (g.op(b) != OpKind::kSub || g.input(g.producer(b), 1) != left) continue;
      mixes.push_back({a, g.input(g.producer(b), 0), left, {add, g.producer(right), g.producer(b)}});
    }
    if (g.op(left) != OpKind::kMul) continue;
    for (const auto& [rest, c] : OperandOrders(g, right)) {  // u h + (1 - u) c
      const ValueId u = OneMinus(g, rest);
      for (const auto& [a, h] : OperandOrders(g, left)) {
        if (!u.valid() || a != u) continue;
        mixes.push_back({u, h, c, {add, g.producer(left), g.producer(right), g.producer(rest)}});
      }
    }
  }
  return mixes;
}

FindResult MatchGruCell(const Graph& g, const GruCell& cell, const Target& target) {
  if (const absl::Status supported = target.SupportsOp(g, OpKind::kGru, std::array{cell.x, cell.h}); !supported.ok())
    return Kept(std::string(supported.message()));
  return Match(cell.nodes, {cell.x, cell.h, cell.attention});
}

Tensor PackGates(const Graph& g, std::span<const GateSource> gates, int input, int64_t hidden) {
  const int64_t rows = gates[0].dense->inputs[input].rows;
  Tensor packed(DataType::kFloat32, {1, static_cast<int64_t>(gates.size()) * hidden, rows});
  float* to = packed.mutable_data<float>().data();
  for (const GateSource& gate : gates) {
    const DenseInput& from = gate.dense->inputs[input];
    CHECK_EQ(from.rows, rows);
    const Tensor& weights = *g.ConstantTensor(g.input(from.matmul, kWeightsInput));
    const bool transposed = g.node(from.matmul).attributes.Bool("transpose_b", false);
    for (int64_t u = 0; u < hidden; ++u) {
      for (int64_t r = 0; r < rows; ++r) *to++ = WeightAt(weights, transposed, from.first_row + r, gate.column + u);
    }
  }
  return packed;
}

Tensor PackBiases(const Graph& g, std::span<const GateSource> gates, int64_t hidden) {
  Tensor packed(DataType::kFloat32, {1, 2 * static_cast<int64_t>(gates.size()) * hidden});
  float* to = packed.mutable_data<float>().data();
  for (const GateSource& gate : gates) {
    std::vector<double> sum(hidden, gate.more);
    for (const ValueId bias : gate.dense->biases) {
      const std::vector<double> all = ChannelVector(g, bias, gate.dense->columns, 1, 2)->ToDoubles();
      for (int64_t u = 0; u < hidden; ++u) sum[u] += all[gate.column + u];
    }
    for (const double number : sum) *to++ = static_cast<float>(number);
  }
  return packed;
}

ValueId SharedConstant(GraphEditor& edit, const std::string& name, Tensor tensor) {
  std::string wish = name;
  for (int i = 1;; ++i) {
    const ValueId there = edit.graph().FindValue(wish);
    if (!there.valid()) break;
    const Tensor* constant = edit.graph().ConstantTensor(there);
    if (constant != nullptr && constant->SameBytes(tensor)) return there;
    wish = Concat(name, "_", i);
  }
  return edit.AddConstant(FreshName(edit.graph(), wish), std::move(tensor));
}

ValueId AsSteps(GraphEditor& edit, ValueId x, NodeId like) {
  const Graph& g = edit.graph();
  const ValueSpec spec{g.type(x), Shape({Dim::Of(1), g.shape(x).dim(0), g.shape(x).dim(1)}), ""};
  return g.output(edit.AddNode(Like(g, like, OpKind::kUnsqueeze, {x, FirstAxis(edit)}), {spec}));
}

NodeId FromSteps(GraphEditor& edit, ValueId x, NodeId like) {
  const Graph& g = edit.graph();
  const ValueSpec spec{g.type(x), Shape({g.shape(x).dim(1), g.shape(x).dim(2)}), ""};
  return edit.AddNode(Like(g, like, OpKind::kSqueeze, {x, FirstAxis(edit)}), {spec});
}

Tensor JoinGates(const Tensor& a, const Tensor& b) {
  std::vector<float> all(a.data<float>().begin(), a.data<float>().end());
  all.insert(all.end(), b.data<float>().begin(), b.data<float>().end());
  return Tensor::Of<float>({1, a.dims()[1] + b.dims()[1], a.dims()[2]}, all);
}

void ReplaceByGru(GraphEditor& edit, NodeId root, GruStep step, const std::string& label) {
  const Graph& g = edit.graph();
  Node gru = Like(g, root, OpKind::kGru, {});
  gru.attributes.Set("hidden_size", step.hidden);
  if (step.linear_before_reset) gru.attributes.Set("linear_before_reset", true);
  gru.inputs = {AsSteps(edit, step.x, root),
                SharedConstant(edit, label + "/w", std::move(step.w)),
                SharedConstant(edit, label + "/r", std::move(step.r)),
                SharedConstant(edit, label + "/b", std::move(step.b)),
                kNoValue,
                AsSteps(edit, step.h, root)};
  if (step.attention.valid()) gru.inputs.push_back(AsSteps(edit, step.attention, root));
  const ValueSpec state{g.type(step.x), g.shape(gru.inputs[kRecurrentH]), ""};
  const NodeId id = edit.AddNode(std::move(gru), {{}, state});
  edit.DropAbsentOutputs(id, {true});
  edit.ReplaceNode(root, FromSteps(edit, g.output(id, 1), root));
}

bool IsRows(const Graph& g, ValueId x, const Dim& rows, int64_t columns) {
  const Shape& shape = g.shape(x);
  return shape.has_rank() && shape.rank() == 2 && shape.dim(0) == rows && (rows.known() || !rows.symbol.empty()) &&
         shape.dim(1).value == columns;
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// r, u = sigmoid(x w + h v + b);   c = tanh(x w' + b' + r (h v' + d'));   h' = u h + (1 - u) c
//   =>  gru of one step {linear_before_reset}: h' = gru(x, w, r, b, h)
//
// PyTorch's GRUCell, Keras' GRU (reset_after) and tf2onnx's conversion of both write a cell this way. The reset gate is
// applied after the matmul, so that all gates may be parts of one matmul of x and one of h. Gates may also be parts of
// one matmul of both, with the sigmoid before or after the split, and h' may be written as c + u (h - c). Legal when
// weights and biases are constant, all parts are equal, x and h have the same number of rows, and the target has the
// kernel. The gates are reordered to ONNX's order (u, r, c). Not bit-exact: the order of the sums differs.

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "passes/fusion/contraction.h"
#include "passes/fusion/recurrent_cell.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

// `width` columns of a Dense without activation, starting at `column`.
struct Columns {
  Dense dense;
  int64_t column = 0, width = 0;
};

// The terms that are added before an activation.
using Sum = std::vector<Columns>;

// An operand of a Columns.
struct Operand {
  const Columns* columns = nullptr;
  int input = 0;

  const DenseInput& dense_input() const { return columns->dense.inputs[input]; }
};

struct Cell : GruCell {
  Sum update, reset;
  Columns of_x, of_h;  // the candidate's
};

std::optional<Columns> FindColumns(const Graph& g, ValueId y, std::vector<NodeId>& nodes) {
  const std::optional<Part> part = FindPart(g, y);
  std::optional<Dense> dense = FindDense(g, part.has_value() ? part->x : y);
  if (!dense.has_value() || dense->activation != Activation::kNone) return std::nullopt;
  nodes.insert(nodes.end(), dense->nodes.begin(), dense->nodes.end());
  Columns columns{*std::move(dense)};
  columns.width = columns.dense.columns;
  if (!part.has_value()) return columns;
  nodes.push_back(part->split);
  columns.width /= part->parts;
  columns.column = part->port * columns.width;
  return columns;
}

// One Dense, or the two that are added; empty if the value is neither.
Sum FindSum(const Graph& g, ValueId y, std::vector<NodeId>& nodes) {
  std::vector<NodeId> of_one;
  if (std::optional<Columns> one = FindColumns(g, y, of_one); one.has_value()) {
    nodes.insert(nodes.end(), of_one.begin(), of_one.end());
    return {*std::move(one)};
  }
  if (g.op(y) != OpKind::kAdd) return {};
  Sum sum;
  for (const ValueId term : g.inputs<2>(g.producer(y))) {
    std::optional<Columns> one = FindColumns(g, term, nodes);
    if (!one.has_value() || (!sum.empty() && sum[0].width != one->width)) return {};
    sum.push_back(*std::move(one));
  }
  nodes.push_back(g.producer(y));
  return sum;
}

// sigmoid(sum), or a part of it.
Sum FindGate(const Graph& g, ValueId y, std::vector<NodeId>& nodes) {
  const std::optional<Part> part = FindPart(g, y);
  const ValueId folded = part.has_value() ? part->x : y;
  if (g.op(folded) != OpKind::kSigmoid) return {};
  Sum sum = FindSum(g, g.input(g.producer(folded), 0), nodes);
  nodes.push_back(g.producer(folded));
  if (!part.has_value()) return sum;
  nodes.push_back(part->split);
  for (Columns& columns : sum) {
    columns.width /= part->parts;
    columns.column += part->port * columns.width;
  }
  return sum;
}

// The only operand of `sum` that reads `value`; the columns are nullptr if there is none.
Operand OperandOf(const Sum& sum, ValueId value) {
  Operand found;
  for (const Columns& columns : sum) {
    for (size_t i = 0; i < columns.dense.inputs.size(); ++i) {
      if (columns.dense.inputs[i].x == value) found = {&columns, static_cast<int>(i)};
    }
  }
  return found;
}

size_t Operands(const Sum& sum) {
  size_t count = 0;
  for (const Columns& columns : sum) count += columns.dense.inputs.size();
  return count;
}

// c = tanh(x w' + b' + r (h v' + d'))
bool FindCandidate(const Graph& g, ValueId c, Cell& cell) {
  if (g.op(c) != OpKind::kTanh) return false;
  const ValueId sum = g.input(g.producer(c), 0);
  if (!sum.valid() || g.op(sum) != OpKind::kAdd) return false;
  for (const auto& [from_x, product] : OperandOrders(g, sum)) {
    if (!product.valid() || g.op(product) != OpKind::kMul) continue;
    for (const auto& [r, from_h] : OperandOrders(g, product)) {
      std::vector<NodeId> nodes = {g.producer(c), g.producer(sum), g.producer(product)};
      Sum reset = FindGate(g, r, nodes);
      if (reset.empty()) continue;
      std::optional<Columns> of_x = FindColumns(g, from_x, nodes), of_h = FindColumns(g, from_h, nodes);
      if (!of_x.has_value() || !of_h.has_value()) continue;
      if (of_x->dense.inputs.size() != 1 || of_h->dense.inputs.size() != 1 || of_h->dense.inputs[0].x != cell.h)
        continue;
      cell.x = of_x->dense.inputs[0].x;
      cell.reset = std::move(reset);
      cell.of_x = *std::move(of_x);
      cell.of_h = *std::move(of_h);
      cell.nodes.insert(cell.nodes.end(), nodes.begin(), nodes.end());
      return true;
    }
  }
  return false;
}

// "" if the parts form one cell, else the reason.
std::string Misfit(const Graph& g, const Cell& cell) {
  const int64_t hidden = cell.of_x.width;
  if (cell.x == cell.h) return "input and state are the same";
  for (const Sum* gate : {&cell.update, &cell.reset}) {
    const Operand x = OperandOf(*gate, cell.x), h = OperandOf(*gate, cell.h);
    if (x.columns == nullptr || h.columns == nullptr || Operands(*gate) != 2)
      return "gates and candidate read different inputs";
    if (x.columns->width != hidden || h.columns->width != hidden)
      return "the size of the gates differs from that of the candidate";
    if (h.dense_input().rows != hidden) return "the size of the state differs from that of the candidate";
    if (x.dense_input().rows != cell.of_x.dense.inputs[0].rows) return "the gates read a different part of the input";
  }
  if (cell.of_h.width != hidden || cell.of_h.dense.inputs[0].rows != hidden)
    return "the size of the state differs from that of the candidate";
  const Shape& rows = g.shape(cell.x);
  if (!rows.has_rank() || rows.rank() != 2 || !IsRows(g, cell.h, rows.dim(0), hidden))
    return "input and state are not known to have the same number of rows";
  return "";
}

std::optional<std::string> ReadCell(const Graph& g, const StateMix& mix, Cell& cell) {
  cell.update = FindGate(g, mix.u, cell.nodes);
  if (cell.update.empty() || !FindCandidate(g, mix.c, cell)) return std::nullopt;
  return Misfit(g, cell);
}

std::variant<Cell, Refusal> FindCell(const Graph& g, NodeId root) { return FindGruCell<Cell>(g, root, ReadCell); }

class FuseLinearGruCell final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-linear-gru-cell"; }
  std::string_view equation() const override {
    return "u h + (1 - u) tanh(x w + r (h v)), u and r sigmoids of x and h => gru(x, h) {linear_before_reset}";
  }
  OpSet root() const override { return OpKind::kAdd; }

  FindResult Find(const Graph& g, NodeId root, const Target& target) const override {
    return MatchGruCell(g, FindCell(g, root), target);
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const Cell cell = std::get<Cell>(FindCell(g, m.root()));
    const std::string label = g.Label(g.producer(g.input(cell.of_x.dense.inputs[0].matmul, kWeightsInput)));
    GruStep step;
    step.x = cell.x;
    step.h = cell.h;
    step.w = Weights(g, cell, cell.x, cell.of_x);
    step.r = Weights(g, cell, cell.h, cell.of_h);
    step.b = Biases(g, cell);
    step.hidden = cell.of_x.width;
    step.linear_before_reset = true;
    ReplaceByGru(edit, m.root(), std::move(step), label);
    return absl::OkStatus();
  }

 private:
  static Tensor Weights(const Graph& g, const Cell& cell, ValueId operand, const Columns& of_candidate) {
    const auto pack = [&](const Operand& from) {
      return PackGates(g, std::array{GateSource{&from.columns->dense, from.columns->column}}, from.input,
                       of_candidate.width);
    };
    return JoinGates(JoinGates(pack(OperandOf(cell.update, operand)), pack(OperandOf(cell.reset, operand))),
                     pack({&of_candidate, 0}));
  }

  // The matmuls of x have the columns of both gates and of the candidate's x; those of h have the columns of the
  // candidate's h.
  static Tensor Biases(const Graph& g, const Cell& cell) {
    const int64_t hidden = cell.of_x.width;
    Tensor biases(DataType::kFloat32, {1, 6 * hidden});
    const std::span<float> to = biases.mutable_data<float>();
    std::fill(to.begin(), to.end(), 0.0f);
    const auto add = [&](int64_t gate, const Columns& columns) {
      const Tensor bias = PackBiases(g, std::array{GateSource{&columns.dense, columns.column}}, hidden);
      for (int64_t i = 0; i < hidden; ++i) to[gate * hidden + i] += bias.data<float>()[i];
    };
    for (const Columns& columns : cell.update) add(0, columns);
    for (const Columns& columns : cell.reset) add(1, columns);
    add(2, cell.of_x);
    add(5, cell.of_h);
    return biases;
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseLinearGruCell() { return std::make_unique<FuseLinearGruCell>(); }

}  // namespace halftone

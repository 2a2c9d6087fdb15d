// SPDX-License-Identifier: Apache-2.0
// r, u = sigmoid(split(x w + h v + b));   c = tanh(x w' + (r h) v' + b');   h' = u h + (1 - u) c
//   =>  gru of one step: h' = gru(x, w, r, b, h)
//
// TensorFlow's GRUCell writes a cell this way. An augmented GRU has u' = (1 - a) u in place of u in h'; its attention
// a, one number per row, becomes the attention input of the gru. h' may also be written as c + u (h - c), and the
// sigmoid may be before or after the split. Legal when weights and biases are constant, both parts are equal, x and h
// have the same number of rows, and the target has the kernel. The gates are reordered to ONNX's order (u, r, c). Not
// bit-exact: the order of the sums differs.

#include <array>
#include <utility>

#include "base/strings.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/recurrent_cell.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

constexpr int kGates = 2;  // of one matmul; the candidate has its own

struct Gate {
  Part part;
  Dense dense;
};

struct Cell : GruCell {
  Gate update, reset;
  Dense candidate;
  int x_of_gates = 0, x_of_candidate = 0;  // which inputs of the Denses are x
};

// Part of sigmoid(dense), or sigmoid(part of dense).
std::optional<Gate> FindGate(const Graph& g, ValueId y, std::vector<NodeId>& nodes) {
  const bool last = g.op(y) == OpKind::kSigmoid;
  if (last) nodes.push_back(g.producer(y));
  const std::optional<Part> part = FindPart(g, last ? g.input(g.producer(y), 0) : y);
  if (!part.has_value() || part->parts != kGates) return std::nullopt;
  std::optional<Dense> dense = FindDense(g, part->x);
  if (!dense.has_value() || dense->inputs.size() != 2) return std::nullopt;
  if (dense->activation != (last ? Activation::kNone : Activation::kSigmoid)) return std::nullopt;
  nodes.push_back(part->split);
  nodes.insert(nodes.end(), dense->nodes.begin(), dense->nodes.end());
  return Gate{*part, *std::move(dense)};
}

// u, or (1 - a) u with one a per row.
bool FindUpdate(const Graph& g, ValueId y, Cell& cell) {
  std::vector<NodeId> nodes;
  if (std::optional<Gate> gate = FindGate(g, y, nodes); gate.has_value()) {
    cell.update = *std::move(gate);
    cell.nodes.insert(cell.nodes.end(), nodes.begin(), nodes.end());
    return true;
  }
  if (g.op(y) != OpKind::kMul) return false;
  for (const auto& [rest, u] : OperandOrders(g, y)) {
    const ValueId attention = OneMinus(g, rest);
    nodes = {g.producer(y), g.producer(rest)};
    if (!attention.valid()) continue;
    std::optional<Gate> gate = FindGate(g, u, nodes);
    if (!gate.has_value()) continue;
    cell.update = *std::move(gate);
    cell.attention = attention;
    cell.nodes.insert(cell.nodes.end(), nodes.begin(), nodes.end());
    return true;
  }
  return false;
}

// c = tanh(x w + (r h) v + b)
bool FindCandidate(const Graph& g, ValueId c, Cell& cell) {
  std::optional<Dense> dense = FindDense(g, c);
  if (!dense.has_value() || dense->activation != Activation::kTanh || dense->inputs.size() != 2) return false;
  for (const int of_x : {0, 1}) {
    const ValueId reset = dense->inputs[1 - of_x].x;
    if (g.op(reset) != OpKind::kMul) continue;
    for (const auto& [r, h] : OperandOrders(g, reset)) {
      std::vector<NodeId> nodes = {g.producer(reset)};
      if (h != cell.h) continue;
      std::optional<Gate> gate = FindGate(g, r, nodes);
      if (!gate.has_value()) continue;
      cell.reset = *std::move(gate);
      cell.x = dense->inputs[of_x].x;
      cell.x_of_candidate = of_x;
      cell.nodes.insert(cell.nodes.end(), nodes.begin(), nodes.end());
      cell.nodes.insert(cell.nodes.end(), dense->nodes.begin(), dense->nodes.end());
      cell.candidate = *std::move(dense);
      return true;
    }
  }
  return false;
}

bool IsConcatenated(const Dense& dense) { return dense.inputs[0].matmul == dense.inputs[1].matmul; }

// "" if the parts form one cell, else the reason.
std::string Misfit(const Graph& g, Cell& cell) {
  if (cell.update.part.split != cell.reset.part.split) return "the gates are computed by different matmuls";
  if (cell.update.part.port == cell.reset.part.port) return "both gates are the same";
  const std::vector<DenseInput>& inputs = cell.update.dense.inputs;
  cell.x_of_gates = inputs[0].x == cell.x && inputs[1].x == cell.h ? 0 : 1;
  if (inputs[cell.x_of_gates].x != cell.x || inputs[1 - cell.x_of_gates].x != cell.h)
    return "gates and candidate read different inputs";
  const int64_t hidden = cell.candidate.columns;
  const Shape& rows = g.shape(cell.x);
  if (!rows.has_rank() || rows.rank() != 2 || cell.update.dense.columns != kGates * hidden)
    return "the size of the gates differs from that of the candidate";
  // Concatenated values have the same number of rows; two matmuls might be broadcast.
  const bool together = IsConcatenated(cell.update.dense) && IsConcatenated(cell.candidate);
  if (!together && !IsRows(g, cell.h, rows.dim(0), hidden))
    return "input and state are not known to have the same number of rows";
  if (inputs[1 - cell.x_of_gates].rows != hidden) return "the size of the state differs from that of the candidate";
  if (cell.attention.valid() && !IsRows(g, cell.attention, rows.dim(0), 1))
    return "the attention does not have one element per row";
  return "";
}

std::optional<std::string> ReadCell(const Graph& g, const StateMix& mix, Cell& cell) {
  if (!FindUpdate(g, mix.u, cell) || !FindCandidate(g, mix.c, cell)) return std::nullopt;
  return Misfit(g, cell);
}

std::variant<Cell, Refusal> FindCell(const Graph& g, NodeId root) { return FindGruCell<Cell>(g, root, ReadCell); }

class FuseGruCell final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-gru-cell"; }
  std::string_view equation() const override {
    return "u h + (1 - u) tanh(x w + (r h) v), u and r sigmoids of x and h => gru(x, h)";
  }
  OpSet root() const override { return OpKind::kAdd; }

  FindResult Find(const Graph& g, NodeId root, const Target& target) const override {
    return MatchGruCell(g, FindCell(g, root), target);
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const Cell cell = std::get<Cell>(FindCell(g, m.root()));
    const int64_t hidden = cell.candidate.columns;
    const GateSource update{&cell.update.dense, cell.update.part.port * hidden};
    const GateSource reset{&cell.update.dense, cell.reset.part.port * hidden};
    const GateSource candidate{&cell.candidate, 0};
    const std::array gates = {update, reset};
    const std::string label = g.Label(g.producer(g.input(cell.update.dense.inputs[0].matmul, kWeightsInput)));
    const auto weights = [&](bool of_x) {
      const Tensor of_gates = PackGates(g, gates, of_x ? cell.x_of_gates : 1 - cell.x_of_gates, hidden);
      const Tensor rest =
          PackGates(g, std::array{candidate}, of_x ? cell.x_of_candidate : 1 - cell.x_of_candidate, hidden);
      return JoinGates(of_gates, rest);
    };
    GruStep step;
    step.x = m.value(0);
    step.h = m.value(1);
    step.attention = m.value(2);
    step.w = weights(/*of_x=*/true);
    step.r = weights(/*of_x=*/false);
    step.b = PackBiases(g, std::array{update, reset, candidate}, hidden);
    step.hidden = hidden;
    ReplaceByGru(edit, m.root(), std::move(step), label);
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseGruCell() { return std::make_unique<FuseGruCell>(); }

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// i, j, f, o = split(x w + h r + b);   c' = c sigmoid(f + forget) + sigmoid(i) tanh(j);   h' = tanh(c') sigmoid(o)
//   =>  lstm of one step: h', c' = lstm(x, w', r', b', h, c)
//
// TensorFlow's BasicLSTMCell and LSTMCell write a cell this way (matmul(concat(x, h), w)), also Keras an unrolled one
// and PyTorch its LSTMCell (two matmuls), with the gates in any order. Legal when weights and biases are constant, the
// four parts are equal, x, h and c have the same number of rows, and the target has the kernel. The gates are reordered
// to ONNX's order (i, o, f, c), and the forget bias is added to b. Not bit-exact: the order of the sums differs.

#include <array>
#include <utility>

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/numbers.h"
#include "passes/fusion/recurrent_cell.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

constexpr int kGates = 4;

struct Gate {
  Part part;
  float more = 0;  // the forget bias
};

struct Cell {
  std::vector<NodeId> nodes;  // of the match: h', c', the others
  Gate input, candidate, forget, output;
  ValueId c;
  Dense dense;
  int h = 1;  // which input of `dense` is the state
};

using FoundCell = std::variant<Cell, Refusal>;

// activation(part + number?)
std::optional<Gate> FindGate(const Graph& g, ValueId y, OpKind activation, std::vector<NodeId>& nodes) {
  if (g.op(y) != activation) return std::nullopt;
  nodes.push_back(g.producer(y));
  ValueId x = g.input(g.producer(y), 0);
  Gate gate;
  if (const auto sum = NumberOperand(g, x, OpKind::kAdd); sum.has_value() && g.shape(sum->x) == g.shape(x)) {
    nodes.push_back(sum->node);
    gate.more = static_cast<float>(sum->number);
    x = sum->x;
  }
  const std::optional<Part> part = FindPart(g, x);
  if (!part.has_value() || part->parts != kGates) return std::nullopt;
  gate.part = *part;
  return gate;
}

// c' = c sigmoid(f) + sigmoid(i) tanh(j)
bool FindState(const Graph& g, NodeId add, Cell& cell) {
  for (const auto& [old_part, new_part] : OperandOrders(g, g.output(add))) {
    if (g.op(old_part) != OpKind::kMul || g.op(new_part) != OpKind::kMul) return false;
    for (const auto& [i, j] : OperandOrders(g, new_part)) {
      for (const auto& [c, f] : OperandOrders(g, old_part)) {
        std::vector<NodeId> nodes = {g.producer(old_part), g.producer(new_part)};
        const auto input = FindGate(g, i, OpKind::kSigmoid, nodes), candidate = FindGate(g, j, OpKind::kTanh, nodes);
        const auto forget = FindGate(g, f, OpKind::kSigmoid, nodes);
        if (!input.has_value() || !candidate.has_value() || !forget.has_value()) continue;
        cell.input = *input;
        cell.candidate = *candidate;
        cell.forget = *forget;
        cell.c = c;
        cell.nodes.insert(cell.nodes.end(), nodes.begin(), nodes.end());
        return true;
      }
    }
  }
  return false;
}

FoundCell FindCell(const Graph& g, NodeId root) {
  for (const auto& [folded, o] : OperandOrders(g, g.output(root))) {
    if (!folded.valid() || !o.valid() || g.op(folded) != OpKind::kTanh) continue;
    const ValueId state = g.input(g.producer(folded), 0);
    if (!state.valid() || g.op(state) != OpKind::kAdd) continue;
    Cell cell;
    cell.nodes = {root, g.producer(state), g.producer(folded)};
    const std::optional<Gate> output = FindGate(g, o, OpKind::kSigmoid, cell.nodes);
    if (!output.has_value() || !FindState(g, g.producer(state), cell)) continue;
    cell.output = *output;
    bool seen[kGates] = {};
    for (const Gate* gate : {&cell.input, &cell.candidate, &cell.forget, &cell.output}) {
      const NodeId split = gate->part.split;
      if (split != cell.input.part.split)
        return Kept(Concat("the gates are computed by different matmuls: split '", g.Label(cell.input.part.split),
                           "' and '", g.Label(split), "'"));
      if (std::exchange(seen[gate->part.port], true))
        return Kept(Concat("two gates are the same: output ", gate->part.port, " of '", g.Label(split), "'"));
    }
    cell.nodes.push_back(cell.input.part.split);
    std::optional<Dense> dense = FindDense(g, cell.input.part.x);
    if (!dense.has_value() || dense->activation != Activation::kNone)
      return Kept(
          Concat("the gates are not a matmul of rows with constant f32 weights: ", Describe(g, cell.input.part.x)));
    if (dense->inputs.size() != 2)
      return Kept(Concat("the gates do not read an input and a state: the number of multiplied values is ",
                         dense->inputs.size()));
    const int64_t hidden = dense->columns / kGates;
    cell.h = dense->inputs[1].rows == hidden ? 1 : 0;
    const Shape& rows = g.shape(dense->inputs[1 - cell.h].x);
    for (const ValueId value : {dense->inputs[cell.h].x, cell.c, state}) {
      if (!rows.has_rank() || rows.rank() != 2 || !IsRows(g, value, rows.dim(0), hidden))
        return Kept(Concat(
            DescribeBoth("input and states are not known to have as many rows", g, dense->inputs[1 - cell.h].x, value),
            ", of ", hidden, " columns"));
    }
    cell.nodes.insert(cell.nodes.end(), dense->nodes.begin(), dense->nodes.end());
    cell.dense = *std::move(dense);
    return cell;
  }
  return No("it is not the tanh of a state times a gate");
}

class FuseLstmCell final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-lstm-cell"; }
  std::string_view equation() const override {
    return "c' = c sigmoid(f) + sigmoid(i) tanh(j), h' = tanh(c') sigmoid(o) => h', c' = lstm(x, h, c)";
  }
  OpSet root() const override { return OpKind::kMul; }

  FindResult Find(const Graph& g, NodeId root, const Target& target) const override {
    FoundCell found = FindCell(g, root);
    if (Refusal* refusal = std::get_if<Refusal>(&found)) return std::move(*refusal);
    const Cell& cell = std::get<Cell>(found);
    const ValueId x = cell.dense.inputs[1 - cell.h].x, h = cell.dense.inputs[cell.h].x;
    if (const absl::Status supported = target.SupportsOp(g, OpKind::kLstm, std::array{x, h, cell.c}); !supported.ok())
      return Kept(Describe(g, root, supported));
    return Match(cell.nodes, {x, h, cell.c}, /*results=*/2);
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const Cell cell = std::get<Cell>(FindCell(g, m.root()));
    const int64_t hidden = cell.dense.columns / kGates;
    std::vector<GateSource> gates;
    for (const Gate* gate : {&cell.input, &cell.output, &cell.forget, &cell.candidate}) {
      gates.push_back({&cell.dense, gate->part.port * hidden, gate->more});
    }
    const std::string label = g.Label(g.producer(g.input(cell.dense.inputs[0].matmul, kWeightsInput)));
    Node lstm;
    lstm.op = OpKind::kLstm;
    lstm.device = g.node(m.root()).device;
    lstm.origin = g.node(m.root()).origin;
    lstm.attributes.Set("hidden_size", hidden);
    lstm.inputs = {AsSteps(edit, m.value(0), m.root()),
                   SharedConstant(edit, label + "/w", PackGates(g, gates, 1 - cell.h, hidden)),
                   SharedConstant(edit, label + "/r", PackGates(g, gates, cell.h, hidden)),
                   SharedConstant(edit, label + "/b", PackBiases(g, gates, hidden)),
                   kNoValue,
                   AsSteps(edit, m.value(1), m.root()),
                   AsSteps(edit, m.value(2), m.root())};
    const ValueSpec state{g.type(m.value(0)), g.shape(lstm.inputs[5]), ""};
    const NodeId id = edit.AddNode(std::move(lstm), {{}, state, state});
    edit.DropAbsentOutputs(id, {true});
    edit.ReplaceNode(m.nodes()[1], FromSteps(edit, g.output(id, 2), m.root()));
    edit.ReplaceNode(m.root(), FromSteps(edit, g.output(id, 1), m.root()));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseLstmCell() { return std::make_unique<FuseLstmCell>(); }

}  // namespace halftone

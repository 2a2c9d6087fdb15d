// SPDX-License-Identifier: Apache-2.0
// The parts of recurrent cells that a framework writes as separate ops: matmuls of rows with constant weights, split
// into gates.
#ifndef HALFTONE_PASSES_FUSION_RECURRENT_CELL_H_
#define HALFTONE_PASSES_FUSION_RECURRENT_CELL_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ir/editor.h"
#include "ir/graph.h"
#include "ir/ops.h"
#include "ir/target.h"
#include "passes/core/rewrite_rule.h"

namespace halftone {

// One operand of a Dense: x is multiplied by `rows` rows of the weights of `matmul`, starting at `first_row`.
struct DenseInput {
  ValueId x;
  NodeId matmul;
  int64_t first_row = 0;
  int64_t rows = 0;
};

// activation?(x0 w0 + x1 w1 + b), written as matmul(concat(x0, x1), w) or as two matmuls, with biases after any of
// them.
struct Dense {
  std::vector<DenseInput> inputs;
  std::vector<ValueId> biases;  // constants along the columns
  int64_t columns = 0;
  Activation activation = Activation::kNone;  // none, sigmoid or tanh
  std::vector<NodeId> nodes;
};

// The Dense with f32 weights that computes `y`, of rank 2; nullopt if `y` is computed differently.
std::optional<Dense> FindDense(const Graph& g, ValueId y);

// Part `port` of x, of rank 2, split into `parts` equal parts along the last dimension.
struct Part {
  NodeId split;
  ValueId x;
  int port = 0;
  int parts = 0;
};
std::optional<Part> FindPart(const Graph& g, ValueId y);

// The operands of the binary op that computes `y`, in both orders.
std::array<std::pair<ValueId, ValueId>, 2> OperandOrders(const Graph& g, ValueId y);

// x if y = 1 - x with the shape of x; else kNoValue.
ValueId OneMinus(const Graph& g, ValueId y);

// One way to read an addition as u h + (1 - u) c, which may also be written as c + u (h - c).
struct StateMix {
  ValueId u, h, c;
  std::vector<NodeId> nodes;
};
std::vector<StateMix> StateMixes(const Graph& g, NodeId add);

// The common part of all spellings of a gru cell: the nodes of the match, root first, and values of rank 2.
struct GruCell {
  std::vector<NodeId> nodes;
  ValueId x, h, attention;  // the last may be kNoValue
};

// The cell, derived from GruCell, whose new state the addition `root` makes. For each way to read `root` as a mix of a
// state and a candidate, `read` is called with a Cell that has the nodes and the state of the mix, and completes it. It
// returns nullopt if this is not such a cell, "" if it is one, else the reason why its parts do not form one cell.
template <typename Cell>
std::variant<Cell, Refusal> FindGruCell(const Graph& g, NodeId root,
                                        std::optional<std::string> (*read)(const Graph&, const StateMix&, Cell&)) {
  Refusal refusal = No("it is not a mix of a state and a candidate by one gate");
  for (const StateMix& mix : StateMixes(g, root)) {
    Cell cell;
    cell.nodes = mix.nodes;
    cell.h = mix.h;
    std::optional<std::string> misfit = read(g, mix, cell);
    if (!misfit.has_value()) continue;
    if (misfit->empty()) return cell;
    refusal = Kept(*std::move(misfit));
  }
  return refusal;
}

// The match of a cell for which the target has a kernel; its values are x, h and the attention.
FindResult MatchGruCell(const Graph& g, const GruCell& cell, const Target& target);

template <typename Cell>
FindResult MatchGruCell(const Graph& g, const std::variant<Cell, Refusal>& found, const Target& target) {
  if (const Refusal* refusal = std::get_if<Refusal>(&found)) return *refusal;
  return MatchGruCell(g, std::get<Cell>(found), target);
}

// One gate of the recurrent op's weights: the columns of input `input` of a Dense, starting at `column`; `more` is
// added to its bias.
struct GateSource {
  const Dense* dense;
  int64_t column = 0;
  float more = 0;
};

// Weights of the recurrent ops: [1, gates * hidden, rows of the input], and the bias [1, 2 * gates * hidden], whose
// second half is 0. REQUIRES: the gates' Denses have input `input`, all with the same number of rows
Tensor PackGates(const Graph& g, std::span<const GateSource> gates, int input, int64_t hidden);
Tensor PackBiases(const Graph& g, std::span<const GateSource> gates, int64_t hidden);

// A constant with this name, or the name with a numeric suffix. A constant with equal contents is reused, so that cells
// keep sharing weights.
ValueId SharedConstant(GraphEditor& edit, const std::string& name, Tensor tensor);

// Reshapes x of rank 2 to [1, rows, columns], and back. The nodes get the device and origin of `like`.
ValueId AsSteps(GraphEditor& edit, ValueId x, NodeId like);
NodeId FromSteps(GraphEditor& edit, ValueId x, NodeId like);

// Concatenates [1, m, columns] and [1, n, columns] to [1, m + n, columns], f32.
Tensor JoinGates(const Tensor& a, const Tensor& b);

// Replaces `root`, whose value is the new state [rows, hidden], with a gru of one step. Weights are in the layout of
// the op; constants are named LABEL/w, LABEL/r, LABEL/b.
struct GruStep {
  ValueId x, h, attention;  // of rank 2; the last may be kNoValue
  Tensor w, r, b;
  int64_t hidden = 0;
  bool linear_before_reset = false;
};
void ReplaceByGru(GraphEditor& edit, NodeId root, GruStep step, const std::string& label);

// Whether the value is known to have rank 2, this number of rows and this number of columns.
bool IsRows(const Graph& g, ValueId x, const Dim& rows, int64_t columns);

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_RECURRENT_CELL_H_

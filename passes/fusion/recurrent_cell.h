// What the cells of recurrent networks are made of when a framework writes them out: products of rows with constant
// weights, cut into gates.
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

// One operand of a Dense: rows of x times `rows` rows of the weights of `matmul`, from `first_row` on.
struct DenseInput {
  ValueId x;
  NodeId matmul;
  int64_t first_row = 0;
  int64_t rows = 0;
};

// activation?(x0 w0 + x1 w1 + b), written as matmul(concat(x0, x1), w) or as two products, with the biases behind any
// of them.
struct Dense {
  std::vector<DenseInput> inputs;
  std::vector<ValueId> biases;  // constants over the columns
  int64_t columns = 0;
  Activation activation = Activation::kNone;  // none, sigmoid or tanh
  std::vector<NodeId> nodes;
};

// What makes `y`, of rank 2, if it is a Dense of f32 weights.
std::optional<Dense> FindDense(const Graph& g, ValueId y);

// Part `port` of `parts` equal ones along the last dimension of x, of rank 2.
struct Part {
  NodeId split;
  ValueId x;
  int port = 0;
  int parts = 0;
};
std::optional<Part> FindPart(const Graph& g, ValueId y);

// The operands of the op of two that makes `y`, in both orders.
std::array<std::pair<ValueId, ValueId>, 2> OperandOrders(const Graph& g, ValueId y);

// x of y = 1 - x with x's shape; else kNoValue.
ValueId OneMinus(const Graph& g, ValueId y);

// One way to read an addition as u h + (1 - u) c, which may be written as c + u (h - c), too.
struct StateMix {
  ValueId u, h, c;
  std::vector<NodeId> nodes;
};
std::vector<StateMix> StateMixes(const Graph& g, NodeId add);

// What every way to write a gru cell has: the nodes of the match, root first, and values of rank 2.
struct GruCell {
  std::vector<NodeId> nodes;
  ValueId x, h, attention;  // the last may be kNoValue
};

// The cell, derived from GruCell, whose new state the addition `root` makes. For each way to read `root` as a mix of a
// state and a candidate `read` is given a Cell that has the mix's nodes and state, and fills the rest: nullopt if it is
// no such cell, "" if it is one, else why its parts do not belong together.
template <typename Cell>
std::variant<Cell, Refusal> FindGruCell(const Graph& g, NodeId root,
                                        std::optional<std::string> (*read)(const Graph&, const StateMix&, Cell&)) {
  Refusal refusal = No("it is no mix of a state and a candidate by one gate");
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

// Of a cell for which the target has a kernel; the values are x, h and the attention.
FindResult MatchGruCell(const Graph& g, const GruCell& cell, const Target& target);

template <typename Cell>
FindResult MatchGruCell(const Graph& g, const std::variant<Cell, Refusal>& found, const Target& target) {
  if (const Refusal* refusal = std::get_if<Refusal>(&found)) return *refusal;
  return MatchGruCell(g, std::get<Cell>(found), target);
}

// The rows of a gate: the columns of input `input` of a Dense from `column` on; `more` is added to its bias.
struct GateSource {
  const Dense* dense;
  int64_t column = 0;
  float more = 0;
};

// Weights of the recurrent ops: [1, gates * hidden, rows of the input], and [1, 2 * gates * hidden] of which the second
// half is 0. REQUIRES: the gates' Denses have input `input`, all with as many rows
Tensor PackGates(const Graph& g, std::span<const GateSource> gates, int input, int64_t hidden);
Tensor PackBiases(const Graph& g, std::span<const GateSource> gates, int64_t hidden);

// A constant of this name, or of the name with a number behind it; one with the same bytes is used again, so that cells
// that share weights still do.
ValueId SharedConstant(GraphEditor& edit, const std::string& name, Tensor tensor);

// x of rank 2 as [1, rows, columns], and back; nodes of the device and origin of `like`.
ValueId AsSteps(GraphEditor& edit, ValueId x, NodeId like);
NodeId FromSteps(GraphEditor& edit, ValueId x, NodeId like);

// [1, m, columns] and [1, n, columns] as [1, m + n, columns], of f32.
Tensor JoinGates(const Tensor& a, const Tensor& b);

// A gru of one step in the place of `root`, whose value is the new state [rows, hidden]. Weights as the op has them;
// constants are called LABEL/w, LABEL/r, LABEL/b.
struct GruStep {
  ValueId x, h, attention;  // of rank 2; the last may be kNoValue
  Tensor w, r, b;
  int64_t hidden = 0;
  bool linear_before_reset = false;
};
void ReplaceByGru(GraphEditor& edit, NodeId root, GruStep step, const std::string& label);

// Of rank 2 with as many rows, as far as can be known, and this many columns.
bool IsRows(const Graph& g, ValueId x, const Dim& rows, int64_t columns);

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_RECURRENT_CELL_H_

// What the tables of the dialects ask of a node. Inside this folder only: dialect.h is the interface.
#ifndef HALFTONE_IR_DIALECT_PARTS_INTERNAL_H_
#define HALFTONE_IR_DIALECT_PARTS_INTERNAL_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/graph.h"

namespace halftone::dialects {

// What an op of TensorFlow's kind contracts.
enum class Contraction : uint8_t { kConv2D, kDepthwise, kConv3D, kMatMul, kBatchMatMul };

// nullopt: no op of TensorFlow's says it (groups of several channels, weights that must be rearranged and are no
// constant, padding SAME_LOWER, vectors), or not enough of its shapes is known.
std::optional<Contraction> ContractionOf(const Graph& graph, NodeId node);

// The parts of a conv or matmul beside the contraction, in the order in which they are computed: 's' scale, 'b' bias,
// 'r' residual, 'a' activation.
std::string PartsOf(const Graph& graph, NodeId node);

// The fused activation, a clip to 0 and 6 as relu6; kNone where a word cannot say its parameters: elu and swish with an
// alpha other than 1, other clips, hard_sigmoid. Leaky relus have an attribute for theirs.
Activation PlainActivation(const Graph& graph, NodeId node);

// A row says that `op` does such a contraction with these parts, the activation one of `activations`.
struct ContractionRow {
  Contraction contraction;
  std::string_view op;
  std::string_view parts;
  std::span<const Activation> activations = {};
};
// The first row that says the node; nullptr: none.
const ContractionRow* FindRow(std::span<const ContractionRow> rows, const Graph& graph, NodeId node);

// --- Facts of types and shapes.
bool HasType(const Graph& graph, ValueId value, std::initializer_list<DataType> types);
// Every input and output that is there has the type of the first output, which is one of these.
bool AllHaveType(const Graph& graph, NodeId node, std::initializer_list<DataType> types);
// Known dimension by dimension: the same numbers or the same symbols.
bool SameShape(const Graph& graph, ValueId a, ValueId b);
std::optional<int> RankOf(const Graph& graph, ValueId value);
// Pads in numbers, not all of them zero.
bool HasPads(const Graph& graph, NodeId conv);
// Nobody reads an output but the first.
bool OnlyFirstIsRead(const Graph& graph, NodeId node);

}  // namespace halftone::dialects

#endif  // HALFTONE_IR_DIALECT_PARTS_INTERNAL_H_

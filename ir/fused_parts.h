// SPDX-License-Identifier: Apache-2.0
// The parts of a fused node and its types and shapes: what the tables of dialects (ir/file_dialect.h) ask of a node.
#ifndef HALFTONE_IR_FUSED_PARTS_H_
#define HALFTONE_IR_FUSED_PARTS_H_

#include <initializer_list>
#include <optional>
#include <string>

#include "ir/graph.h"

namespace halftone::dialects {

// The parts of a conv or matmul beside the contraction, in the order in which they are computed: 's' scale, 'b' bias,
// 'r' residual, 'a' activation.
std::string PartsOf(const Graph& graph, NodeId node);

// The fused activation, a clip to 0 and 6 as relu6; kNone where a word cannot say its parameters: elu and swish with an
// alpha other than 1, other clips, hard_sigmoid. Leaky relus have an attribute for theirs.
Activation PlainActivation(const Graph& graph, NodeId node);

// --- Facts of types and shapes.
bool HasType(const Graph& graph, ValueId value, std::initializer_list<DataType> types);
// Every input and output that is there has the type of the first output, which is one of these.
bool AllHaveType(const Graph& graph, NodeId node, std::initializer_list<DataType> types);
// Known dimension by dimension: the same numbers or the same symbols.
bool SameShape(const Graph& graph, ValueId a, ValueId b);
std::optional<int> RankOf(const Graph& graph, ValueId value);
// Pads in numbers, not all of them zero.
bool HasPads(const Graph& graph, NodeId conv);
// No output but the first is read.
bool OnlyFirstIsRead(const Graph& graph, NodeId node);

}  // namespace halftone::dialects

#endif  // HALFTONE_IR_FUSED_PARTS_H_

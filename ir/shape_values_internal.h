// SPDX-License-Identifier: Apache-2.0
// The functions of ShapeValues: what a node makes of elements that are known or have a name.
#ifndef HALFTONE_IR_SHAPE_VALUES_INTERNAL_H_
#define HALFTONE_IR_SHAPE_VALUES_INTERNAL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph.h"
#include "ir/shape_values.h"

namespace halftone::shape_values {

inline constexpr size_t kMaxElements = 4096;

using Result = std::optional<KnownTensor>;  // nullopt: nothing is known, not even the dimensions
using Function = Result (*)(const struct Operands& node);

// One node and what is known of its inputs.
struct Operands {
  const Graph& graph;
  const Node& node;
  std::vector<const KnownTensor*> inputs;  // null: absent, or nothing is known
  int output = 0;                          // the one that is asked for

  const KnownTensor* in(size_t i) const { return i < inputs.size() ? inputs[i] : nullptr; }
  bool has(size_t i) const { return i < node.inputs.size() && node.inputs[i].valid(); }
  DataType type() const { return graph.type(node.outputs[output]); }
};

// The function of an op, nullptr where it has none.
Function FunctionOf(OpKind op);

inline KnownElement Number(int64_t integer) { return {.known = true, .integer = integer}; }
inline KnownElement Real(double real) { return {.known = true, .real = real}; }
KnownTensor Vector(std::vector<KnownElement> elements);
// Every element of an integer tensor, if all are known.
std::optional<std::vector<int64_t>> AllInts(const KnownTensor* tensor);
// The only element, if it is a known integer.
std::optional<int64_t> OnlyInt(const KnownTensor* tensor);
// Product of dims; nullopt above kMaxElements.
std::optional<int64_t> SmallCount(const std::vector<int64_t>& dims);
std::vector<int64_t> StridesOf(const std::vector<int64_t>& dims);
// The elements of x at start + the sum of index[i] * strides[i], row-major in `dims`.
Result Taken(const KnownTensor& x, std::vector<int64_t> dims, const std::vector<int64_t>& strides, int64_t start = 0);
// Strides that read x as if it were broadcast to `dims`; nullopt where numpy does not allow it.
std::optional<std::vector<int64_t>> BroadcastTo(const KnownTensor& x, const std::vector<int64_t>& dims);

// shape_values_arithmetic.cc
Result OfArithmetic(const Operands& node);  // tells the op from the node
Result OfReduce(const Operands& node);
Result OfRange(const Operands& node);
Result OfCast(const Operands& node);
// shape_values_move.cc
Result OfIdentity(const Operands& node);
Result OfRearranged(const Operands& node);  // squeeze, unsqueeze, reshape, flatten
Result OfTranspose(const Operands& node);
Result OfReverse(const Operands& node);
Result OfSlice(const Operands& node);
Result OfStridedSlice(const Operands& node);
Result OfSplit(const Operands& node);
Result OfUnstack(const Operands& node);
Result OfExpand(const Operands& node);
Result OfTile(const Operands& node);
Result OfConcat(const Operands& node);
Result OfStack(const Operands& node);
// shape_values_index.cc
Result OfShape(const Operands& node);
Result OfSize(const Operands& node);
Result OfRank(const Operands& node);
Result OfFill(const Operands& node);
Result OfGather(const Operands& node);
Result OfGatherElements(const Operands& node);
Result OfGatherNd(const Operands& node);
Result OfScatterElements(const Operands& node);
Result OfScatterNd(const Operands& node);
Result OfNonZero(const Operands& node);
Result OfInvertPermutation(const Operands& node);

}  // namespace halftone::shape_values

#endif  // HALFTONE_IR_SHAPE_VALUES_INTERNAL_H_

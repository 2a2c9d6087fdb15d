// SPDX-License-Identifier: Apache-2.0
// What is known of the elements of small tensors that hold shapes: constants, and arithmetic over the shapes of values.
#ifndef HALFTONE_IR_SHAPE_VALUES_H_
#define HALFTONE_IR_SHAPE_VALUES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace halftone {

// One element: a number, or the name of an unknown one. Integer tensors use `integer`, floating-point ones `real`.
struct KnownElement {
  bool known = false;
  int64_t integer = 0;
  double real = 0;
  std::string symbol;  // only where unknown, may be empty. "?..." stands for an unnamed dimension of a certain value
};

// Of any rank, row-major.
struct KnownTensor {
  bool floating = false;
  std::vector<int64_t> dims;
  std::vector<KnownElement> elements;
};

// The name under which dimension `axis` of `value` is known where it is neither a number nor has a symbol.
std::string UnnamedDimension(ValueId value, int axis);

// Remembers what it found: ask again with a new object after shapes have changed. Not thread-safe.
class ShapeValues {
 public:
  explicit ShapeValues(const Graph& graph) : graph_(graph) {}

  // What is known of a value from elsewhere (an input of a nested graph). Before anything is asked.
  void Set(ValueId value, KnownTensor known) { found_[value] = std::move(known); }
  // nullptr if nothing is known, not even the number of elements. The pointer lives as long as this object.
  const KnownTensor* Find(ValueId value);
  // Every element of an integer tensor, if all are known.
  std::optional<std::vector<int64_t>> Ints(ValueId value);
  // The whole tensor in the value's type, if all its elements are known (s64, s32, bool, f32 and f64 only).
  std::optional<Tensor> Known(ValueId value);

 private:
  std::optional<KnownTensor> Compute(ValueId value);

  const Graph& graph_;
  std::map<ValueId, std::optional<KnownTensor>> found_;
};

}  // namespace halftone

#endif  // HALFTONE_IR_SHAPE_VALUES_H_

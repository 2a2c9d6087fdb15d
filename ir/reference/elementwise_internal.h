// SPDX-License-Identifier: Apache-2.0
// Numpy broadcasting for the elementwise functions with two or more operands.
#ifndef HALFTONE_IR_REFERENCE_ELEMENTWISE_INTERNAL_H_
#define HALFTONE_IR_REFERENCE_ELEMENTWISE_INTERNAL_H_

#include <utility>
#include <vector>

#include "ir/reference/arrays_internal.h"

namespace halftone::reference {

// The elements of x, broadcast to `dims`.
template <typename T>
std::vector<T> BroadcastElements(const Tensor& x, const Dims& dims) {
  std::vector<T> elements = Elements<T>(x);
  if (x.dims() == dims) return elements;
  const std::vector<int64_t> at = Offsets(dims, BroadcastStrides(x.dims(), dims));
  std::vector<T> result(at.size());
  for (size_t i = 0; i < result.size(); ++i) result[i] = elements[at[i]];
  return result;
}

// combine(a, b) over the broadcast dims.
template <typename T, typename Combine>
std::vector<T> CombineAll(const Tensor& a, const Tensor& b, const Dims& dims, Combine combine) {
  std::vector<T> left = BroadcastElements<T>(a, dims);
  const std::vector<T> right = BroadcastElements<T>(b, dims);
  for (size_t i = 0; i < left.size(); ++i) left[i] = combine(left[i], right[i]);
  return left;
}

}  // namespace halftone::reference

#endif  // HALFTONE_IR_REFERENCE_ELEMENTWISE_INTERNAL_H_

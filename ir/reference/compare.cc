// SPDX-License-Identifier: Apache-2.0
// Seeded inputs and the comparison of two tensors.

#include <cmath>

#include "absl/log/check.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/strings.h"
#include "ir/reference/arrays_internal.h"
#include "ir/reference/reference.h"

namespace halftone::reference {
namespace {

// SplitMix64: the same numbers on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double Uniform() { return static_cast<double>(Next() >> 40) * 0x1p-24; }  // [0, 1), exact in f32

 private:
  uint64_t state_;
};

std::string Position(int64_t offset, const Dims& dims) {
  const Dims strides = RowMajorStrides(dims);
  Dims index;
  for (size_t i = 0; i < dims.size(); ++i) index.push_back(offset / strides[i] % dims[i]);
  return Concat("[", absl::StrJoin(index, ","), "]");
}

}  // namespace

std::vector<Tensor> RandomInputs(const Graph& graph, uint64_t seed) {
  Random random(seed);
  std::vector<Tensor> inputs;
  for (const NodeId id : graph.inputs()) {
    const ValueId value = graph.output(id);
    CHECK(graph.shape(value).fully_known())
        << "specialize the graph first: input '" << graph.Label(id) << "' is " << graph.shape(value).ToString();
    const Dims dims = graph.shape(value).values();
    const DataType type = graph.type(value);
    if (!IsFloatingPoint(type) && !IsInteger(type) && type != DataType::kBool) {
      inputs.emplace_back();  // no random strings: an op that reads it returns an error
      continue;
    }
    std::vector<double> numbers(Count(dims));
    for (double& number : numbers) {
      number = IsFloatingPoint(type) ? 2 * random.Uniform() - 1 : static_cast<double>(random.Next() >> 61);
    }
    if (type == DataType::kBool) {
      for (double& number : numbers) number = number >= 4 ? 1 : 0;
    }
    inputs.push_back(FromDoubles(type, dims, numbers));
  }
  return inputs;
}

std::string Compare(const Tensor& actual, const Tensor& expected, float relative, float absolute) {
  if (actual.dims() != expected.dims()) {
    return Concat("dims ", actual.shape().ToString(), " against ", expected.shape().ToString());
  }
  if (ElementSize(actual.type()) == 0 || ElementSize(expected.type()) == 0) {
    return actual.SameBytes(expected) ? "" : Concat(DataTypeName(actual.type()), " tensors differ");
  }
  const std::vector<double> left = actual.ToDoubles(), right = expected.ToDoubles();
  for (size_t i = 0; i < left.size(); ++i) {
    const double a = left[i], b = right[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (std::abs(a - b) <= absolute + relative * std::abs(b) && std::isfinite(b)) continue;
    return absl::StrFormat("%s: %.9g against %.9g", Position(static_cast<int64_t>(i), actual.dims()), a, b);
  }
  return "";
}

}  // namespace halftone::reference

// SPDX-License-Identifier: Apache-2.0
// Makes one random graph, node by node. The reference functions compute every value at once, so that the next node can
// choose inputs in its domain.
#ifndef HALFTONE_TESTS_FUZZ_MAKER_H_
#define HALFTONE_TESTS_FUZZ_MAKER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ir/editor.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace halftone::fuzz {

using Dims = std::vector<int64_t>;

// A graph with its inputs, and every value as the reference functions compute it.
struct Case {
  Graph graph;
  std::map<ValueId, Tensor> tensors;  // including inputs and constants

  std::vector<Tensor> inputs() const;  // in the order of graph.inputs()
};

// What a node requires of an input.
struct Want {
  int min_rank = 0;
  int max_rank = 4;
  double low = -32;  // new values are between -4 and 4 where these limits are not changed
  double high = 32;
  // Only values that no rounding affected. Discontinuous ops (floor, comparisons, arg_max, ...) need them: otherwise
  // two correct roundings of the input would give different outputs.
  bool exact = false;
  // New values may contain infinities, negative zero, denormals and numbers near the largest; later nodes do not read
  // them. No NaN, which oneDNN's max, min, clip and exp do not propagate (docs/reference/numerics.md).
  bool special = false;
  DataType type = DataType::kFloat32;
};

// Not thread-safe. The same seed makes the same graph on every machine.
class Maker {
 public:
  explicit Maker(uint64_t seed) : state_(seed) {}

  // --- Random choices.
  uint64_t Next();
  int64_t Int(int64_t low, int64_t high);  // both included
  double Real(double low, double high);
  bool Chance(int percent) { return Int(1, 100) <= percent; }
  template <typename T>
  const T& OneOf(const std::vector<T>& choices) {
    return choices[static_cast<size_t>(Int(0, static_cast<int64_t>(choices.size()) - 1))];
  }
  Dims RandomDims(int min_rank, int max_rank);  // small, rarely 1, sometimes longer than a vector register

  // --- Values.
  ValueId Any(const Want& want);  // an existing value or a new one
  // A new value: a constant in `constants` of 100 cases, else an input of the graph. Floats are multiples of 1/64; in
  // one of ten tensors they lie close to -1, 0 and 1 instead.
  ValueId Fresh(DataType type, const Dims& dims, double low, double high, int constants = 30);
  ValueId Weights(const Dims& dims, double low = -1, double high = 1) {
    return Fresh(DataType::kFloat32, dims, low, high, 80);
  }
  ValueId Constant(Tensor tensor);
  ValueId Ints(const std::vector<int64_t>& values) { return Constant(Tensor::Ints(values)); }
  ValueId IntScalar(int64_t value) { return Constant(Tensor::IntScalar(value)); }
  // Dims that broadcast to `dims`: some are 1, and some leading ones are missing.
  Dims Broadcastable(const Dims& dims);

  const Dims& dims(ValueId value) const { return made_.tensors.at(value).dims(); }
  int rank(ValueId value) const { return static_cast<int>(dims(value).size()); }
  int64_t dim(ValueId value, int i) const { return dims(value)[static_cast<size_t>(i < 0 ? i + rank(value) : i)]; }
  DataType type(ValueId value) const { return made_.tensors.at(value).type(); }
  const Tensor& tensor(ValueId value) const { return made_.tensors.at(value); }
  int64_t Axis(ValueId value);                             // of -rank to rank - 1
  std::vector<int64_t> Axes(ValueId value, int at_least);  // distinct, ascending, all >= 0

  // --- Nodes. `types`: one per output, kUnknown where type inference knows it. Returns the first output. Does nothing
  // after a failure.
  ValueId Add(OpKind op, std::vector<ValueId> inputs, Attributes attributes = {},
              std::vector<DataType> types = {DataType::kUnknown});

  // OK, or why the last node could not be added: a bug of a generator, a shape rule or a reference function.
  const absl::Status& status() const { return status_; }
  void Fail(absl::Status status) { status_.Update(status); }
  // All values without a consumer become outputs.
  Case Finish();

 private:
  absl::Status Evaluate(NodeId node);
  std::vector<double> Numbers(DataType type, int64_t count, double low, double high);
  bool Suits(ValueId value, const Want& want) const;

  uint64_t state_;
  Case made_;
  GraphEditor edit_{made_.graph};
  std::map<ValueId, bool> exact_;
  std::vector<ValueId> computed_;  // values and inputs that Any chooses from
  absl::Status status_;
};

}  // namespace halftone::fuzz

#endif  // HALFTONE_TESTS_FUZZ_MAKER_H_

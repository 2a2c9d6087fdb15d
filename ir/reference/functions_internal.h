// What a reference function sees, and the list of them. evaluate.cc has the table.
#ifndef HALFTONE_IR_REFERENCE_FUNCTIONS_INTERNAL_H_
#define HALFTONE_IR_REFERENCE_FUNCTIONS_INTERNAL_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace halftone::reference {

// One node and the tensors that go into it. Required inputs are there; all have elements of a fixed size.
struct Call {
  const Graph& graph;
  const Node& node;
  const std::vector<Tensor>& inputs;
  const std::vector<DataType>& types;  // of the outputs; kUnknown: this output is absent

  const Attributes& attributes() const { return node.attributes; }
  bool has(size_t i) const { return i < inputs.size() && inputs[i].type() != DataType::kUnknown; }
  const Tensor& in(size_t i) const { return inputs[i]; }  // REQUIRES: has(i)
  bool wants(size_t i) const { return i < types.size() && types[i] != DataType::kUnknown; }
  DataType type() const { return types[0]; }
};

// The outputs, all of those that are wanted; fewer or kUnknown ones are absent. Errors have no node's name.
using Outputs = absl::StatusOr<std::vector<Tensor>>;
using Function = Outputs (*)(const Call&);

template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(Concat(parts...));
}

// contraction.cc, convolution.cc
Outputs Conv(const Call& call);
Outputs MatMul(const Call& call);
Outputs Gemm(const Call& call);
// elementwise.cc
Outputs Binary(const Call& call);  // tells the op from the node
Outputs BiasAdd(const Call& call);
Outputs Unary(const Call& call);  // tells the op from the node
Outputs Clip(const Call& call);
// normalize.cc
Outputs Softmax(const Call& call);
Outputs BatchNorm(const Call& call);
// pool.cc
Outputs MaxPool(const Call& call);
Outputs AveragePool(const Call& call);
Outputs GlobalAveragePool(const Call& call);
// reduce.cc
Outputs Reduce(const Call& call);  // tells the op from the node
// reshape.cc
Outputs Constant(const Call& call);
Outputs Identity(const Call& call);
Outputs Dropout(const Call& call);
Outputs Reshape(const Call& call);
Outputs Flatten(const Call& call);
Outputs Squeeze(const Call& call);
Outputs Unsqueeze(const Call& call);
Outputs ShapeOf(const Call& call);
Outputs Cast(const Call& call);
// move.cc
Outputs Transpose(const Call& call);
Outputs ConcatAlong(const Call& call);
Outputs Pad(const Call& call);
Outputs Slice(const Call& call);
Outputs Gather(const Call& call);
Outputs DepthToSpace(const Call& call);
// resize.cc
Outputs Resize(const Call& call);

}  // namespace halftone::reference

#endif  // HALFTONE_IR_REFERENCE_FUNCTIONS_INTERNAL_H_

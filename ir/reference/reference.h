// SPDX-License-Identifier: Apache-2.0
// One readable function per op, which defines the op. Used as reference in tests, for constant folding, and as fallback
// kernel.
#ifndef HALFTONE_IR_REFERENCE_REFERENCE_H_
#define HALFTONE_IR_REFERENCE_REFERENCE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/nested.h"
#include "ir/tensor.h"

namespace halftone::reference {

// Whether EvaluateNode can compute this op (false for inputs, opaque and structural nodes).
bool HasReference(OpKind op);

// Whether EvaluateNode supports the types of the node's inputs and outputs; UNIMPLEMENTED names one that it does not.
// Types that are not known yet are not checked, nor are those inside of nested graphs.
absl::Status CheckTypes(const Graph& graph, NodeId node);

// Limits for runs whose loops do not end.
struct RunLimits {
  int64_t body_runs = kMaxBodyRuns;
  // Called before each run of a loop's body: a status that is not OK ends the run with that status.
  std::function<absl::Status()> interrupted = nullptr;
};

// The node's outputs. `inputs` has one tensor per input of the node; an absent one has type kUnknown. Output types are
// those of the node's output values. Computes in f64 or f32 for every floating-point type, and rounds once at the end
// to the output's type (bf16: nearest even). Absent outputs are kUnknown tensors. Values with a quantization are
// integers that represent real numbers (quantization.h). Errors: INVALID_ARGUMENT (invalid shapes or values; names the
// node), UNIMPLEMENTED; RESOURCE_EXHAUSTED if loops exceed the limits.
absl::StatusOr<std::vector<Tensor>> EvaluateNode(const Graph& graph, NodeId node, const std::vector<Tensor>& inputs,
                                                 const RunLimits& limits = {});

// The whole graph, node by node. `inputs` in the order of graph.inputs(). Result in the order of graph.outputs().
absl::StatusOr<std::vector<Tensor>> EvaluateGraph(const Graph& graph, const std::vector<Tensor>& inputs,
                                                  const RunLimits& limits = {});

// Seeded inputs for a graph whose input shapes are known: floats uniform in [-1, 1), integers in [0, 8), bools.
std::vector<Tensor> RandomInputs(const Graph& graph, uint64_t seed);

// Empty if every element is within the tolerance (NaN equals NaN), else where and how far: "output y[3,0]: 1.5 against
// 1.2".
std::string Compare(const Tensor& actual, const Tensor& expected, float relative, float absolute);

}  // namespace halftone::reference

#endif  // HALFTONE_IR_REFERENCE_REFERENCE_H_

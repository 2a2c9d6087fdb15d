// One readable function per op: what the op means. Oracle of the tests, constant folder, last-resort kernel.
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

// What stops a run whose loops do not end.
struct RunLimits {
  int64_t body_runs = kMaxBodyRuns;
  // Asked before each run of a loop's body: a status that is not OK ends the run with it.
  std::function<absl::Status()> interrupted = nullptr;
};

// The node's outputs. `inputs` has one tensor an input of the node; an absent one has type kUnknown. Output types are those
// of the node's output values. Computes in f64 or f32 whatever the type, and rounds once at the end to the output's type
// (bf16: nearest even). Absent outputs come back as kUnknown tensors.
// Values with a quantization are integers, computed with as quantization.h says.
// Errors: INVALID_ARGUMENT (shapes or values that do not fit, names the node), UNIMPLEMENTED; RESOURCE_EXHAUSTED where
// loops take more than the limits.
absl::StatusOr<std::vector<Tensor>> EvaluateNode(const Graph& graph, NodeId node, const std::vector<Tensor>& inputs,
                                                 const RunLimits& limits = {});

// The whole graph, node by node. `inputs` in the order of graph.inputs(). Result in the order of graph.outputs().
absl::StatusOr<std::vector<Tensor>> EvaluateGraph(const Graph& graph, const std::vector<Tensor>& inputs,
                                                  const RunLimits& limits = {});

// Seeded inputs for a graph whose input shapes are known: floats uniform in [-1, 1), integers in [0, 8), bools.
std::vector<Tensor> RandomInputs(const Graph& graph, uint64_t seed);

// Empty if every element is within the tolerance (NaN equals NaN), else where and how far: "output y[3,0]: 1.5 against 1.2".
std::string Compare(const Tensor& actual, const Tensor& expected, float relative, float absolute);

}  // namespace halftone::reference

#endif  // HALFTONE_IR_REFERENCE_REFERENCE_H_

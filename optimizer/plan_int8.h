// SPDX-License-Identifier: Apache-2.0
// Which nodes of a fused graph become int8, and why the others do not.
//
// Convolutions and matmuls are quantized. A pool, a sum, a concat or another op that computes on the values of others is
// quantized where it lies between such nodes: there its pair of quantize_linear and dequantize_linear saves a conversion
// instead of being one. Then the target is asked: nodes without an int8 kernel in this graph fall back, and so do the
// nodes that lay between them.
//
// In the modes without ranges (int8_options.h) every node that can be quantized that way is chosen, and the target is not
// asked: it has kernels for all of these (passes/quantize/quantize_dynamically.h), or computes as before.
#ifndef HALFTONE_OPTIMIZER_PLAN_INT8_H_
#define HALFTONE_OPTIMIZER_PLAN_INT8_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/target.h"
#include "ir/value_ranges.h"
#include "optimizer/explain.h"
#include "optimizer/options.h"
#include "passes/precision/policy_rules.h"

namespace halftone {

// options.int8 for the passes. Where this CPU adds pairs of products in 16 bits, weights whose pairs might not fit have a
// reduced range (passes/quantize/saturation.h). Adds what the target runtime and the format of the file need
// (quantize_for_runtime.h).
QuantizeOptions QuantizeOptionsOf(const OptimizeOptions& options, ModelFormat format);

struct Int8Plan {
  std::set<NodeId> nodes;             // become int8
  std::map<NodeId, Reason> reasons;   // of these and of all others but inputs and constants
  std::vector<std::string> warnings;  // rules that match nothing, or cannot be had
};

// `graph` is fused; its nodes are not changed. `ancestry`: rules find a node also by its name and op in the imported
// model. `samples`: dimensions of the arrays that the model will be run with (BindShapes), by which kernels are asked
// for. Rules of reasons:
//   int8.contraction   a convolution or matmul
//   int8.recurrent     LSTM, GRU or RNN: x, both matrices and the hidden state are int8
//   int8.between       its inputs and its consumers are int8
//   int8.no-form       the op has no int8 version
//   int8.not-between   it would be an additional conversion
//   int8.no-range      one of its inputs has no range
//   int8.no-kernel     the target has no int8 kernel for it here
//   int8.dynamic       a matmul that finds the range of its input in each run (mode kDynamic)
//   int8.no-dynamic-form  it has no such version, or a slow one
//   int8.weights       its weights are int8, and it computes as before (mode kWeightOnly)
//   int8.accuracy      falls back for the accuracy goal (excluded)
//   policy.*           as in ir/precision_plan.h
// `excluded`: nodes that the accuracy control keeps, with its reasons.
// Errors: INVALID_ARGUMENT for a rule that makes no sense.
absl::StatusOr<Int8Plan> PlanInt8(const Graph& graph, const ValueRanges& ranges, const Target& target,
                                  const OptimizeOptions& options, const Ancestry& ancestry, const InputDims& samples,
                                  const std::map<NodeId, Reason>& excluded = {});

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_PLAN_INT8_H_

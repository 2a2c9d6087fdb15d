// Which nodes of a fused graph become int8, and why the others do not.
//
// Convolutions and products are what int8 is for. A pool, a sum, a concat or what else only has the numbers of others
// is int8 where it lies between such nodes: there its pair of quantize_linear and dequantize_linear saves a conversion
// instead of being one. Then the target is asked: what has no kernel of integers in this graph stays as it is, and what
// lay between follows.
//
// Of the modes without ranges (int8_options.h) every node that has the form is chosen, and the target is not asked: the
// forms are those that it has kernels for (passes/quantize/quantize_dynamically.h), or computes as before.
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

// options.int8 as the passes ask for it. Where this CPU adds pairs of products in 16 bits, weights whose pairs might
// not fit get 7 bits (passes/quantize/saturation.h).
// What the target runtime and format of the file need is added (quantize_for_runtime.h).
QuantizeOptions QuantizeOptionsOf(const OptimizeOptions& options, ModelFormat format);

struct Int8Plan {
  std::set<NodeId> nodes;             // become int8
  std::map<NodeId, Reason> reasons;   // of these and of all others but inputs and constants
  std::vector<std::string> warnings;  // rules that match nothing, or cannot be had
};

// `graph` is fused; its nodes are not changed. `ancestry`: rules find a node also by its name and op in the imported
// model. `samples`: dimensions of the arrays that the model will be run with (BindShapes), by which kernels are asked
// for. Rules of reasons:
//   int8.contraction   a convolution or product
//   int8.recurrent     LSTM, GRU or RNN: x, both matrices and the state between two steps are bytes
//   int8.between       what it reads and who reads it are int8
//   int8.no-form       the op has no form of integers
//   int8.not-between   it would be a conversion more
//   int8.no-range      nothing is known of a value that it reads
//   int8.no-kernel     the target has none for it here
//   int8.dynamic       a product that finds the range of what it reads as it runs (mode kDynamic)
//   int8.no-dynamic-form  it has no such form, or a slow one
//   int8.weights       its weights are bytes, and it computes as before (mode kWeights)
//   int8.accuracy      raised by the accuracy control (excluded)
//   policy.*           as in ir/precision_plan.h
// `excluded`: nodes that the accuracy control keeps, with its reasons.
// Errors: INVALID_ARGUMENT for a rule that makes no sense.
absl::StatusOr<Int8Plan> PlanInt8(const Graph& graph, const ValueRanges& ranges, const Target& target,
                                  const OptimizeOptions& options, const Ancestry& ancestry, const InputDims& samples,
                                  const std::map<NodeId, Reason>& excluded = {});

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_PLAN_INT8_H_

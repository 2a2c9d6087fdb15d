// SPDX-License-Identifier: Apache-2.0
// matmul(x, w) + b  =>  matmul_integer_to_float(q, w8, s, sw, z, b)   where   q, s, z = dynamic_quantize_linear(x)
//
// for the nodes that are named, with the activation that they have: ranges are found by each run, so that nothing has to be
// calibrated. What several products read is quantized once. The export pipeline writes MatMulInteger, Cast, Mul and Add,
// as other tools do; in a GraphDef QuantizeV2 by Min and Max, QuantizedMatMulWithBias and Dequantize.
#ifndef HALFTONE_PASSES_QUANTIZE_QUANTIZE_DYNAMICALLY_H_
#define HALFTONE_PASSES_QUANTIZE_QUANTIZE_DYNAMICALLY_H_

#include <set>
#include <string>
#include <utility>

#include "ir/graph.h"
#include "passes/core/pass.h"
#include "passes/quantize/quantize_options.h"

namespace halftone {

// "" where the node has this form: a matmul of f32 with a constant matrix of finite numbers, with a bias and an activation
// and nothing else fused into it; else what stands against it. Convolutions have none: those of integers are slower than of f32 where
// ranges are found by the run, here and in other runtimes.
std::string WhyNotDynamic(const Graph& graph, NodeId id);

// Weights are symmetric, from -127 to 127, or of 7 bits where options.reduce_range wants it; one scale a column, or one where
// options.per_channel_dynamic is false, as for GraphDefs.
class QuantizeDynamically final : public Pass {
 public:
  // Of `options`: per_channel_weights, per_channel_dynamic, reduce_range. REQUIRES: WhyNotDynamic is "" for each of `nodes`
  QuantizeDynamically(std::set<NodeId> nodes, QuantizeOptions options)
      : nodes_(std::move(nodes)), options_(std::move(options)) {}

  std::string_view name() const override { return "quantize-dynamically"; }
  float tolerance() const override { return 0.05f; }
  bool enters_nested() const override { return false; }  // the nodes are those of the outermost graph
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;

 private:
  const std::set<NodeId> nodes_;
  const QuantizeOptions options_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_QUANTIZE_QUANTIZE_DYNAMICALLY_H_

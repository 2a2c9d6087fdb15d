// SPDX-License-Identifier: Apache-2.0
// op(x, w)  =>  op(x, dequantize_linear(constant of s8))
//
// for the named nodes: weight-only quantization, which needs no ranges. Everything is computed in the type that it had;
// the file has a fourth of the size, and the plan of the file folds the weights back to f32.
#ifndef HALFTONE_PASSES_QUANTIZE_QUANTIZE_WEIGHTS_H_
#define HALFTONE_PASSES_QUANTIZE_QUANTIZE_WEIGHTS_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

// A constant of f32 that a node multiplies with, or picks rows from.
struct WeightInput {
  int input = 0;
  int axis = -1;  // of the scales: output channels, rows of a table; -1: one scale
};

// Of conv, matmul, gemm, conv_transpose: the weights; of gather: a table of rows; of lstm, gru, rnn: both matrices, with
// one scale per row of a gate for all directions. Constants of finite f32 and rank 2 or more; empty where there is none.
std::vector<WeightInput> WeightInputsOf(const Graph& graph, NodeId id);

// Symmetric, from -127 to 127.
class QuantizeWeights final : public Pass {
 public:
  QuantizeWeights(std::set<NodeId> nodes, bool per_channel) : nodes_(std::move(nodes)), per_channel_(per_channel) {}

  std::string_view name() const override { return "quantize-weights"; }
  float tolerance() const override { return 0.05f; }
  bool enters_nested() const override { return false; }  // the nodes are those of the outermost graph
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;

 private:
  const std::set<NodeId> nodes_;
  const bool per_channel_;  // else one scale for a constant
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_QUANTIZE_QUANTIZE_WEIGHTS_H_

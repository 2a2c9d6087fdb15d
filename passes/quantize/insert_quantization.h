// SPDX-License-Identifier: Apache-2.0
// op(x, w, b)  =>  op(dequantize(quantize(x)), dequantize(constant of s8), dequantize(constant of s32))
//
// for the nodes that are named, in a graph of f32: quantize_linear and dequantize_linear are how a graph and its
// file express int8. Nodes that compute with integers are made of it when the file is planned
// (fold_quantization.h).
//
//   activations   one scale, from the range of the value; one pair for all quantized nodes that read it
//   weights       symmetric s8 from -127 on, one scale per output channel; a channel of zeros has scale 1
//   bias          s32 at scale of x times scale of the weights; real where that does not fit into 32 bits. Before
//                 that it takes up the mean error of the weights, where asked for (correct_bias.h)
//   movers        one range before and after, of concat for all that is joined: integers pass as they are
//
// A node is left alone, with the reason in the log, where a value that it reads has no range, weights are not finite,
// or there is nothing that could be integers. Constants of sums and products stay real.
#ifndef HALFTONE_PASSES_QUANTIZE_INSERT_QUANTIZATION_H_
#define HALFTONE_PASSES_QUANTIZE_INSERT_QUANTIZATION_H_

#include <set>

#include "ir/value_ranges.h"
#include "passes/core/pass.h"
#include "passes/quantize/quantize_options.h"

namespace halftone {

// `nodes` are ids of the graph that is edited; of ops without a row in quantizable_ops.h they are left alone. `ranges`
// must outlive the pass.
class InsertQuantization final : public Pass {
 public:
  InsertQuantization(const ValueRanges& ranges, std::set<NodeId> nodes, QuantizeOptions options)
      : ranges_(ranges), nodes_(std::move(nodes)), options_(std::move(options)) {}

  std::string_view name() const override { return "insert-quantization"; }
  float tolerance() const override { return 0.05f; }     // steps of 8 bits, a few of them
  bool enters_nested() const override { return false; }  // ranges are those of the outermost graph
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;

 private:
  const ValueRanges& ranges_;
  const std::set<NodeId> nodes_;
  const QuantizeOptions options_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_QUANTIZE_INSERT_QUANTIZATION_H_

// SPDX-License-Identifier: Apache-2.0
// How a graph is quantized: what the accuracy control and policies decide.
#ifndef HALFTONE_PASSES_QUANTIZE_QUANTIZE_OPTIONS_H_
#define HALFTONE_PASSES_QUANTIZE_QUANTIZE_OPTIONS_H_

#include <set>

#include "ir/graph.h"
#include "ir/types.h"

namespace halftone {

struct QuantizeOptions {
  DataType activations = DataType::kUInt8;  // kUInt8 or kInt8
  bool symmetric_activations = false;       // the zero point is 0, of u8 that holds negative numbers 128
  bool per_channel_weights = true;          // a scale for each output channel; else one for all
  bool per_channel_products = true;         // the same of products alone: TensorFlow's kernels of them take one scale
  bool per_channel_dynamic = true;          // the same of matmuls whose activations are quantized by the run
  // Both operands of a sum get one range, as concat's always do. Costs accuracy; for engines that need it.
  bool common_range_of_sums = false;
  // The result of every quantized node that has a range is quantized, whoever reads it: engines without kernels that
  // read integers and write numbers need it. Else only what a quantized node reads.
  bool quantize_results = false;
  // With that, results that are outputs of the graph are quantized, too: engines that fuse what has pairs on both sides
  // compute the last op in real numbers otherwise.
  bool quantize_outputs = false;
  // The range of each scale of weights is the one of several with the least error (weight_clipping.h), not all of it.
  bool clip_weights = false;
  // Weights of 7 bits, -63 to 63: where pairs of products might not fit into 16 bits on CPUs without VNNI.
  std::set<NodeId> narrow_weights = {};
  // The same of every contraction of which that cannot be proved (ir/pair_sums.h); saturation.h says what was found.
  bool reduce_range = false;
  // LSTM, GRU and RNN, which a GraphDef has no op for, may be quantized.
  bool recurrent = true;
  // The bias of a contraction takes up the mean error of its rounded weights (correct_bias.h). Where means of channels
  // are not known it stays as it is; the log says which did ("correct-bias").
  bool correct_bias = false;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_QUANTIZE_QUANTIZE_OPTIONS_H_

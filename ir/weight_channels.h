// SPDX-License-Identifier: Apache-2.0
// Which channels of the input and of the result the weights of a contraction (input 1 of conv, conv_transpose, matmul,
// gemm) stand between.
#ifndef HALFTONE_IR_WEIGHT_CHANNELS_H_
#define HALFTONE_IR_WEIGHT_CHANNELS_H_

#include <cstdint>
#include <optional>
#include <span>

#include "ir/graph.h"

namespace halftone {

// result[o] sums weights[IndexOf(o, i, t)] * input[InputOf(o, i)] over the inputs i of o's group and the taps t of the
// window, which are row-major over its spatial dimensions. Plain data.
struct WeightChannels {
  int64_t outputs = 0;  // channels of the result, of all groups
  int64_t inputs = 0;   // channels of the input, of all groups
  int64_t taps = 1;
  int64_t groups = 1;  // divides both
  // Distances between elements.
  int64_t group_stride = 0, output_stride = 0, input_stride = 0, tap_stride = 0;

  int64_t outputs_per_group() const { return outputs / groups; }
  int64_t inputs_per_group() const { return inputs / groups; }
  int64_t InputOf(int64_t output, int64_t i) const { return output / outputs_per_group() * inputs_per_group() + i; }
  int64_t IndexOf(int64_t output, int64_t i, int64_t tap) const {
    return output / outputs_per_group() * group_stride + output % outputs_per_group() * output_stride +
           i * input_stride + tap * tap_stride;
  }
};

// nullopt: another op, weights whose shape is not known or has no elements, more than one matrix.
std::optional<WeightChannels> WeightChannelsOf(const Graph& graph, NodeId contraction);
// Of weights with these dimensions; of recurrent ops either matrix.
std::optional<WeightChannels> WeightChannelsOf(const Node& node, std::span<const int64_t> weight_dims);

// The dimension of input 0 that runs over input channels; -1 where its rank is not known or below 2.
int InputChannelAxis(const Graph& graph, NodeId contraction);

}  // namespace halftone

#endif  // HALFTONE_IR_WEIGHT_CHANNELS_H_

// SPDX-License-Identifier: Apache-2.0
// Which ops may read and write integers in the place of real numbers, and by which inputs. Whether the machine has a
// kernel for it, the target decides (Target::SupportsQuantized); the rows say what would be right.
#ifndef HALFTONE_PASSES_QUANTIZE_QUANTIZABLE_OPS_H_
#define HALFTONE_PASSES_QUANTIZE_QUANTIZABLE_OPS_H_

#include <vector>

#include "ir/graph.h"

namespace halftone {

enum class QuantizedRole : uint8_t {
  kNone,         // real numbers alone
  kContraction,  // data, weights and a residual; the bias stays real
  kRecurrent,    // data, weights of the data and of the state: two constants; bias and given states stay real
  kCompute,      // makes new numbers: a scale for each input, one for the result
  kMove,         // moves or picks numbers: integers pass as they are, with one scale and zero point before and after
};

// The op's row; of a resize by its mode, of a pool by its outputs.
QuantizedRole QuantizedRoleOf(const Graph& graph, NodeId id);

// The inputs of the node that may be integers, in order, those that are absent left out. Of kMove: all its data.
std::vector<int> QuantizableInputs(const Graph& graph, NodeId id);

// Whether the node multiplies data by weights, as int8 plans start from and shares of multiply-adds are made of.
bool MultipliesWeights(QuantizedRole role);

// Whether the input may be weights: a constant with a scale for each output channel.
bool TakesWeights(QuantizedRole role, int input);

// The dimension of the weights (of recurrent ops of both) that runs over output channels; -1 where none does alone
// (grouped transposed convolutions, depthwise weights with a multiplier). REQUIRES: kContraction or kRecurrent
int OutputChannelAxis(const Graph& graph, NodeId id);

}  // namespace halftone

#endif  // HALFTONE_PASSES_QUANTIZE_QUANTIZABLE_OPS_H_

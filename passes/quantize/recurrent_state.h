// SPDX-License-Identifier: Apache-2.0
// The state of lstm, gru and rnn in bytes: no format has a word for how it is rounded between two steps. In files the
// initial state is what says it, as NNCF has it (a FakeQuantize before LSTMSequence's initial_hidden_state): whoever
// brings that to bytes and back wants each later state to be brought there, too.
#ifndef HALFTONE_PASSES_QUANTIZE_RECURRENT_STATE_H_
#define HALFTONE_PASSES_QUANTIZE_RECURRENT_STATE_H_

#include <string>

#include "ir/editor.h"
#include "ir/value_ranges.h"
#include "passes/core/pass.h"

namespace halftone {

// Why the state has no range that is known without running the model; "" if it has one: activations keep it between -1
// and 1, and so do the given states, or their range is known. `id`: lstm, gru or rnn.
std::string WhyNoStateRange(const Graph& graph, NodeId id, const ValueRanges& ranges);

// That range. REQUIRES: WhyNoStateRange is ""
struct StateRange {
  float min = -1;
  float max = 1;
};
StateRange StateRangeOf(const Graph& graph, NodeId id, const ValueRanges& ranges);

// The node's initial state is quantized and dequantized; where it has none it gets zeros. REQUIRES: WhyNoStateRange is ""
void QuantizeState(GraphEditor& edit, NodeId id, DataType type, const Quantization& quantization);

// lstm(dequantize(x), dequantize(w), dequantize(r), b, lengths, dequantize(h))
//     => lstm(x, w, r, b, lengths, dequantize(h)) {state_scale, state_zero_point}
//
// and of gru and rnn. x, h: one scale; w, r: constants of s8 without zero points, one scale or one a row. Not exact: in
// the file the states are numbers. Runs before FoldQuantization, which does the same with what writes x and reads y.
class FoldRecurrentQuantization final : public Pass {
 public:
  std::string_view name() const override { return "fold-recurrent-quantization"; }
  float tolerance() const override { return 0.05f; }  // steps of 8 bits, a few of them
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_QUANTIZE_RECURRENT_STATE_H_

// SPDX-License-Identifier: Apache-2.0
// What is done to a row between two matmuls: the elementwise part of a step of lstm, gru or rnn, the softmax of
// attention. In f32, vectorized for the CPU at hand.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_GATES_H_
#define HALFTONE_RUNTIME_CPU_SIMD_GATES_H_

#include <cstdint>

#include "ir/recurrent.h"

namespace halftone::simd {

// Rows one after another, one per sequence of the batch.
struct GateRows {
  int64_t count = 0;
  int64_t hidden = 0;
  const GateActivation* activations = nullptr;  // as RecurrentOptions has them for this direction
  float clip = 0;                               // 0: none
  bool input_forget = false;
  float* gates = nullptr;            // [gates * hidden], from the input and, but for gru_linear, the state; overwritten
  const float* recurrent = nullptr;  // gru_linear: [3 * hidden], from the state
  const float* peepholes = nullptr;  // lstm: [3 * hidden] of all rows, or null
  const float* attention = nullptr;  // gru: one per row, how much of the update is left out, or null
  int64_t attention_stride = 1;      // from row to row
  float* h = nullptr;                // [hidden], old to new
  float* c = nullptr;                // lstm: [hidden], old to new
  float* reset_h = nullptr;          // gru: [hidden], what the last product is made of
};

// All for one kind of CPU.
struct GateFunctions {
  void (*lstm)(const GateRows& rows);
  void (*gru_linear)(const GateRows& rows);  // linear_before_reset
  void (*gru_reset)(
      const GateRows& rows);  // z and r; fills reset_h. Then its product is added to the third gate, then:
  void (*gru_finish)(const GateRows& rows);
  void (*rnn)(const GateRows& rows);
  void (*to_bf16)(const float* from, uint16_t* to, int64_t count);
  void (*from_bf16)(const uint16_t* from, float* to, int64_t count);
  // x = softmax(scale * x + first + second); what is added may be null. count > 0
  void (*softmax)(float* x, int64_t count, float scale, const float* first, const float* second);
};
const GateFunctions& GateFunctionsForThisCpu();

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_GATES_H_

// SPDX-License-Identifier: Apache-2.0
// The running of lstm, gru and rnn: recurrent.cc makes ready what they need.
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_RECURRENT_STEP_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_RECURRENT_STEP_H_

#include <memory>
#include <vector>

#include "ir/recurrent.h"
#include "runtime/cpu/onednn/prepacked_matmul.h"
#include "runtime/cpu/onednn/support.h"
#include "runtime/cpu/simd/int8_finish.h"

namespace halftone::onednn {

struct RecurrentProblem {
  OpKind op = OpKind::kRnn;
  RecurrentOptions options;
  int64_t steps = 0, batch = 0, input = 0, hidden = 0;
  DataType x_type = DataType::kFloat32;             // f32, bf16, u8 or s8
  DataType h_type = DataType::kFloat32;             // f32, bf16 or u8: as the products with r read the state
  DataType state_type = DataType::kFloat32;         // f32 or bf16: of the states given and of those returned
  simd::Int8Finish h_quantization, y_quantization;  // of u8; of y where that is bytes
  DataType y_type = DataType::kFloat32;             // as state_type, or u8 or s8
  int64_t piece = 1;                                // steps whose products with x are made at once
  int gates = 1;

  bool linear_gru() const { return op == OpKind::kGru && options.linear_before_reset; }
  bool plain_gru() const { return op == OpKind::kGru && !options.linear_before_reset; }
};

// One direction made ready.
struct RecurrentDirection {
  std::vector<float> peepholes;
  PrepackedMatMul from_x, from_x_rest;  // a whole piece; the last one
  PrepackedMatMul from_h;               // of gru without linear_before_reset: of z and r
  PrepackedMatMul from_reset;           // of it: of the third gate
};

// Which of Prepared::inputs holds what; -1: absent.
struct RecurrentNeeds {
  int x = -1, lengths = -1, h = -1, c = -1, attention = -1;
};

// Fills prepared.step and prepared.scratch_bytes.
void SetRecurrentStep(RecurrentProblem problem, std::vector<RecurrentDirection> directions, RecurrentNeeds needs,
                      Prepared& prepared);

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_RECURRENT_STEP_H_

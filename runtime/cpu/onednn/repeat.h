// SPDX-License-Identifier: Apache-2.0
// Does again what a line of oneDNN's verbose output says, and times it.
//
// Covered: convolution, deconvolution, matmul, inner_product, eltwise, softmax, layer_normalization, batch_normalization,
// pooling, reorder, binary, concat, reduction, resampling, prelu and rnn (lstm, gru, rnn), with post-ops of sum, eltwise
// and binary. Not covered, and refused with the reason: lrn, sum, shuffle, group_normalization, scales and zero points,
// other attributes, training, and layouts that oneDNN has no name for (pieces of larger tensors with inner blocks).
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_REPEAT_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_REPEAT_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace halftone {

struct RepeatedPrimitive {
  std::string kernel;  // that ran
  std::string wanted;  // that the line names
  double line_us = 0;  // as the line says
  double best_us = 0, median_us = 0;
  int runs = 0;
};

// On memory of its own, warm. INVALID_ARGUMENT: no such line; UNIMPLEMENTED: not covered.
absl::StatusOr<RepeatedPrimitive> RepeatPrimitive(std::string_view line, int threads, double seconds = 0.5);

// Whether RepeatPrimitive would do it.
absl::Status CanRepeat(std::string_view line);

// "benchdnn --mode=P --conv ..."; empty where it cannot be said.
std::string BenchdnnCommandOf(std::string_view line);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_REPEAT_H_

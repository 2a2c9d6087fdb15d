// SPDX-License-Identifier: Apache-2.0
// Activations over numbers that a loop has at hand, before it writes them: after a chain of elementwise functions, a
// normalization.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_ROW_ACTIVATION_H_
#define HALFTONE_RUNTIME_CPU_SIMD_ROW_ACTIVATION_H_

#include <cstdint>
#include <optional>

#include "ir/ops.h"

namespace halftone::simd {

// y[i] = activation(x[i]); y may be x. Parameters as ir/ops.h says.
using ActivateRow = void (*)(const float* x, float* y, int64_t count, float alpha, float beta);

// For this CPU; null for kNone.
ActivateRow RowActivation(Activation activation);

// relu, relu6 and clip as what they are, for loops that clamp themselves; nullopt for the others. NaN stays NaN.
struct ActivationClamp {
  float low = 0, high = 0;
};
std::optional<ActivationClamp> ClampOf(Activation activation, float alpha, float beta);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_ROW_ACTIVATION_H_

// SPDX-License-Identifier: Apache-2.0
// Activations by SIMD loops where those are faster than oneDNN's: after a convolution, over the result as it was
// written, where oneDNN's post-op computes an exponential (0.22 ns an element there, 0.13 here, 0.09 in bf16); and
// alone.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_ACTIVATION_H_
#define HALFTONE_RUNTIME_CPU_SIMD_ACTIVATION_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ir/ops.h"
#include "ir/types.h"
#include "runtime/plan/kernel.h"

namespace halftone::simd {

// y[i] = activation(x[i]) + residual[i] for `count` elements; no residual where that is null. y may be x.
using Activate = void (*)(const std::byte* x, const std::byte* residual, std::byte* y, int64_t count, float alpha,
                          float beta);

// After a convolution. nullptr: there is none that is faster than oneDNN's. All of them take 0 to 0, so padding stays
// what it is.
Activate ActivationAfter(Activation activation, DataType type);

// Of an operation alone. More of them without AVX-512, where oneDNN takes a vector at a time, 1.5 to 2 times as long as
// memory does, and a table for tanh, 10 times as long (Zen 3). Not all take 0 to 0.
Activate ActivationAlone(Activation activation, DataType type);

// Activates `count` elements of the first input into the output, which may be the same, and adds the second input if
// there is one.
std::unique_ptr<Step> MakeActivateStep(Activate activate, int64_t count, float alpha, float beta);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_ACTIVATION_H_

// SPDX-License-Identifier: Apache-2.0
// f32 to bf16 or f16. Private to runtime/cpu/onednn.
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_ROUNDING_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_ROUNDING_H_

#include <optional>
#include <span>

#include "runtime/plan/kernel.h"

namespace halftone::onednn {

// Where the numbers stay in their places they are rounded by a SIMD loop (runtime/cpu/simd/round_floats.h): oneDNN's
// reorders make denormals zeros. nullopt: something else is converted, or the layout changes, which takes a reorder
// anyway.
std::optional<Prepared> MakeRounding(std::span<const int64_t> dims, const Placement& from, const Placement& to);

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_ROUNDING_H_

// SPDX-License-Identifier: Apache-2.0
// Steps that make a measurement unreliable: reference functions, and kernels for a smaller instruction set than the
// CPU's.
#ifndef HALFTONE_OPTIMIZER_SUSPECT_STEPS_H_
#define HALFTONE_OPTIMIZER_SUSPECT_STEPS_H_

#include <string>
#include <vector>

#include "optimizer/variant_child.h"

namespace halftone {

// A share of the time up to this is not reported.
inline constexpr double kSuspectShare = 0.02;

// Why a measurement of these steps is not reliable, one sentence each. `vector_bits`: of the instruction set that oneDNN
// uses; 0: not known.
std::vector<std::string> SuspectSteps(const std::vector<StepReport>& steps, int vector_bits);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_SUSPECT_STEPS_H_

// SPDX-License-Identifier: Apache-2.0
// The backend of a Plan: oneDNN's kernels, or the reference functions alone.
#ifndef HALFTONE_RUNTIME_CPU_BACKEND_H_
#define HALFTONE_RUNTIME_CPU_BACKEND_H_

#include "runtime/plan/kernel.h"

namespace halftone {

// Live as long as the program. Thread-safe.
const Backend& CpuBackend();
const Backend& ReferenceBackend();

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_CPU_BACKEND_H_

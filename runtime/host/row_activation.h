// Activations over numbers that a loop has at hand, before it writes them: behind a chain of elementwise functions, a
// normalization.
#ifndef HALFTONE_RUNTIME_HOST_ROW_ACTIVATION_H_
#define HALFTONE_RUNTIME_HOST_ROW_ACTIVATION_H_

#include <cstdint>

#include "ir/ops.h"

namespace halftone::host {

// numbers[i] = activation(numbers[i]). Parameters as ir/ops.h says.
using ActivateRow = void (*)(float* numbers, int64_t count, float alpha, float beta);

// For this CPU; null for kNone.
ActivateRow RowActivation(Activation activation);

}  // namespace halftone::host

#endif  // HALFTONE_RUNTIME_HOST_ROW_ACTIVATION_H_

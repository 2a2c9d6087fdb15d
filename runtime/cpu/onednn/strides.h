// SPDX-License-Identifier: Apache-2.0
// How operands lie and how a result is wanted, as strides: for kernels that read and write matrices wherever they are.
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_STRIDES_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_STRIDES_H_

#include <optional>

#include "runtime/cpu/onednn/support.h"

namespace halftone::onednn {

// The present strides of input `i`; nullopt where it lies in blocks or has another type than the node reads.
std::optional<Dims> StridesAsItLies(const NodeContext& context, int i);

// Plain strides of the result, in the order of memory that its only reader, a transpose, wants; nullopt if there is no
// such reader or the last dimension would not be the innermost.
std::optional<Dims> StridesForTranspose(const NodeContext& context, const Dims& dst);

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_STRIDES_H_

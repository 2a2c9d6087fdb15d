// SPDX-License-Identifier: Apache-2.0
// Which variants of a model there are.
#ifndef HALFTONE_OPTIMIZER_VARIANT_KIND_H_
#define HALFTONE_OPTIMIZER_VARIANT_KIND_H_

#include <cstdint>
#include <string_view>

#include "ir/types.h"

namespace halftone {

// kOriginal: the unmodified file, not fused. kFp32: fused, the baseline. The others have reduced precision.
enum class VariantKind : uint8_t { kOriginal, kFp32, kBf16, kFp16, kInt8 };

// "original", "fp32", "bf16", "fp16", "int8": the word in file names.
std::string_view VariantName(VariantKind kind);
DataType TypeOf(VariantKind kind);  // to which it is converted; kFloat32 of the first two, kInt8 of kInt8

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_VARIANT_KIND_H_

// SPDX-License-Identifier: Apache-2.0
#include "optimizer/variant_kind.h"

namespace halftone {

std::string_view VariantName(VariantKind kind) {
  switch (kind) {
    case VariantKind::kOriginal:
      return "original";
    case VariantKind::kFp32:
      return "fp32";
    case VariantKind::kBf16:
      return "bf16";
    case VariantKind::kFp16:
      return "fp16";
    case VariantKind::kInt8:
      return "int8";
  }
  return "";
}

DataType TypeOf(VariantKind kind) {
  switch (kind) {
    case VariantKind::kBf16:
      return DataType::kBFloat16;
    case VariantKind::kFp16:
      return DataType::kFloat16;
    case VariantKind::kInt8:
      return DataType::kInt8;
    case VariantKind::kOriginal:
    case VariantKind::kFp32:
      break;
  }
  return DataType::kFloat32;
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// Element types of tensors.
#ifndef HALFTONE_IR_TYPES_H_
#define HALFTONE_IR_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace halftone {

// kUnknown: the format did not say and it could not be inferred (outputs of opaque nodes, mostly).
enum class DataType : uint8_t {
  kUnknown,
  kFloat32,
  kBFloat16,
  kFloat16,
  kFloat64,
  kInt8,
  kUInt8,
  kInt16,
  kUInt16,
  kInt32,
  kUInt32,
  kInt64,
  kUInt64,
  kBool,
  kString,
  kComplex64,
  kComplex128,
  kResource,
  kVariant,
};
inline constexpr int kNumDataTypes = static_cast<int>(DataType::kVariant) + 1;

// "f32", "bf16", "f16", "f64", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "bool", "string", "c64", "c128",
// "resource", "variant"; "?" for kUnknown. These are the words of the text form and of reports.
std::string_view DataTypeName(DataType type);
std::optional<DataType> DataTypeFromName(std::string_view name);

// Bytes of one element; 0 for types without a fixed size (kUnknown, kString, kResource, kVariant).
size_t ElementSize(DataType type);

bool IsFloatingPoint(DataType type);  // f32, bf16, f16, f64
bool IsInteger(DataType type);        // s8 ... u64, not bool

// f32 -> bf16: nearest, ties to even; NaN stays NaN and becomes quiet; infinities, denormals and signed zero are kept.
// (TensorFlow and Paddle truncate; AVX512_BF16 rounds like this, but flushes denormals.)
uint16_t BFloat16FromFloat(float value);
float FloatFromBFloat16(uint16_t bits);  // exact

// IEEE 754 binary16, nearest even.
uint16_t Float16FromFloat(float value);
float FloatFromFloat16(uint16_t bits);  // exact

}  // namespace halftone

#endif  // HALFTONE_IR_TYPES_H_

// SPDX-License-Identifier: Apache-2.0
#include "ir/types.h"

#include <array>
#include <bit>
#include <cmath>

namespace halftone {
namespace {

enum class Family : uint8_t { kOther, kFloat, kInteger };

struct TypeRow {
  DataType type;
  std::string_view name;
  size_t size;
  Family family;
};

constexpr TypeRow kTypes[] = {
    {DataType::kUnknown, "?", 0, Family::kOther},        {DataType::kFloat32, "f32", 4, Family::kFloat},
    {DataType::kBFloat16, "bf16", 2, Family::kFloat},    {DataType::kFloat16, "f16", 2, Family::kFloat},
    {DataType::kFloat64, "f64", 8, Family::kFloat},      {DataType::kInt8, "s8", 1, Family::kInteger},
    {DataType::kUInt8, "u8", 1, Family::kInteger},       {DataType::kInt16, "s16", 2, Family::kInteger},
    {DataType::kUInt16, "u16", 2, Family::kInteger},     {DataType::kInt32, "s32", 4, Family::kInteger},
    {DataType::kUInt32, "u32", 4, Family::kInteger},     {DataType::kInt64, "s64", 8, Family::kInteger},
    {DataType::kUInt64, "u64", 8, Family::kInteger},     {DataType::kBool, "bool", 1, Family::kOther},
    {DataType::kString, "string", 0, Family::kOther},    {DataType::kComplex64, "c64", 8, Family::kOther},
    {DataType::kComplex128, "c128", 16, Family::kOther}, {DataType::kResource, "resource", 0, Family::kOther},
    {DataType::kVariant, "variant", 0, Family::kOther},
};

constexpr bool EveryTypeHasOneRow() {
  if (std::size(kTypes) != kNumDataTypes) return false;
  for (int i = 0; i < kNumDataTypes; ++i) {
    if (static_cast<int>(kTypes[i].type) != i) return false;
  }
  return true;
}
static_assert(EveryTypeHasOneRow(), "add the new type to kTypes, in the order of DataType");

const TypeRow& Row(DataType type) { return kTypes[static_cast<int>(type)]; }

}  // namespace

std::string_view DataTypeName(DataType type) { return Row(type).name; }

std::optional<DataType> DataTypeFromName(std::string_view name) {
  for (const TypeRow& row : kTypes) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

size_t ElementSize(DataType type) { return Row(type).size; }
bool IsFloatingPoint(DataType type) { return Row(type).family == Family::kFloat; }
bool IsInteger(DataType type) { return Row(type).family == Family::kInteger; }

uint16_t BFloat16FromFloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return static_cast<uint16_t>((bits >> 16) | 0x0040u);  // NaN: quiet, sign kept
  const uint32_t half = 0x7fffu + ((bits >> 16) & 1u);  // just under one half of the last kept bit; a tie goes to even
  return static_cast<uint16_t>((bits + half) >> 16);
}

float FloatFromBFloat16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t Float16FromFloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | ((bits >> 13) & 0x3ffu));
  if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65536 and above, infinity
  if (magnitude < 0x38800000u) {                                         // below 2^-14: a denormal, a multiple of 2^-24
    const float scaled = std::bit_cast<float>(magnitude) * 16777216.0f;  // exact
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::nearbyint(scaled)));
  }
  const uint32_t rebased = magnitude - 0x38000000u;  // exponent bias 127 -> 15
  const uint32_t half = 0xfffu + ((rebased >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rebased + half) >> 13));  // 65520 and above carries into infinity
}

float FloatFromFloat16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) / 16777216.0f;
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
}

}  // namespace halftone

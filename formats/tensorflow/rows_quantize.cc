// SPDX-License-Identifier: Apache-2.0
// Quantization: what says a scale and a zero point by constants is pairs of quantize_linear and dequantize_linear, or
// the dequantization of constants; other ranges keep an op of their own.

#include "formats/tensorflow/row_parts.h"

namespace halftone::graphdef {
namespace {

using enum OpKind;
using enum AttrForm;

constexpr AttrRow kBits{.name = "num_bits", .form = kByRule};
constexpr AttrRow kNarrow{.name = "narrow_range", .form = kByRule};
constexpr AttrRow kPairAttrs[] = {kBits, kNarrow};
constexpr AttrRow kScaledAttrs[] = {{.name = "mode", .form = kByRule},
                                    kNarrow,
                                    {.name = "axis", .form = kByRule},
                                    {.name = "dtype", .form = kMustBe, .tf_default = 1}};

constexpr AttrRow kNumBits{
    .name = "num_bits", .form = kInt, .canonical = "num_bits", .tf_default = 8, .canonical_default = 8};
constexpr AttrRow kNarrowRange{.name = "narrow_range", .form = kBool, .canonical = "narrow_range"};
constexpr double kNoAxis = 1000;  // absent
constexpr AttrRow kFakeQuantAttrs[] = {
    kNumBits,
    kNarrowRange,
    {.form = kImpliedInt, .canonical = "axis", .tf_default = kNoAxis, .canonical_default = kNoAxis}};
constexpr AttrRow kFakeQuantChannelAttrs[] = {
    kNumBits, kNarrowRange, {.form = kImpliedInt, .canonical = "axis", .tf_default = -1, .canonical_default = kNoAxis}};
constexpr AttrRow kDequantizeAttrs[] = {
    {.name = "mode", .form = kString, .canonical = "mode", .text = "MIN_COMBINED"},
    kNarrowRange,
    {.name = "axis", .form = kAnyInt, .canonical = "axis", .tf_default = -1, .canonical_default = -1},
    {.name = "dtype", .form = kMustBe, .tf_default = 1}};

// The first that fits an op is what it is read as.
constexpr OpRow kRows[] = {
    {"FakeQuantWithMinMaxVars", kDequantizeLinear, "f32,f32,f32", "f32", kNoTypes, kPairAttrs, "", 0, ReadFakeQuant,
     WriteRanges},
    {"FakeQuantWithMinMaxVarsPerChannel", kDequantizeLinear, "f32,f32,f32", "f32", kNoTypes, kPairAttrs, "", 0,
     ReadFakeQuant, WriteRanges},
    {"FakeQuantWithMinMaxArgs", kDequantizeLinear, "f32", "f32", kNoTypes, kPairAttrs, "", 0, ReadFakeQuant,
     WriteRanges},
    {"Dequantize", kDequantizeLinear, "T,f32,f32", "f32", kT, kScaledAttrs, "", 0, ReadDequantize, WriteRanges},
    {"FakeQuantWithMinMaxVars", kFakeQuant, "f32,f32,f32", "f32", kNoTypes, kFakeQuantAttrs},
    {"FakeQuantWithMinMaxVarsPerChannel", kFakeQuant, "f32,f32,f32", "f32", kNoTypes, kFakeQuantChannelAttrs},
    {"FakeQuantWithMinMaxArgs", kFakeQuant, "f32", "f32", kNoTypes, kFakeQuantAttrs, "", 0, ReadFakeQuantArgs,
     WriteFakeQuantArgs},
    {"Dequantize", kDequantizeRange, "T,f32,f32", "f32", kT, kDequantizeAttrs},
};

}  // namespace

std::span<const OpRow> QuantizeRows() { return kRows; }

}  // namespace halftone::graphdef

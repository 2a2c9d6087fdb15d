// SPDX-License-Identifier: Apache-2.0
// How TensorFlow's ops express a scale and a zero point: by the two ends of a range, in f32 arithmetic.
#ifndef HALFTONE_FORMATS_TENSORFLOW_QUANTIZED_RANGES_H_
#define HALFTONE_FORMATS_TENSORFLOW_QUANTIZED_RANGES_H_

#include <optional>

#include "ir/quantization.h"
#include "ir/types.h"
#include "ir/value_ranges.h"

namespace halftone::graphdef {

struct EndsOfRange {
  float low = 0;
  float high = 0;
  bool operator==(const EndsOfRange&) const = default;
};

// FakeQuantWithMinMax*, 8 bits (fake_quant_ops_functor.h): the steps are first to 255, where first is 0, or 1 of a
// narrow range; scale = (high - low) / (255 - first), zero point = first - low / scale, rounded half away from 0 and
// held to the steps. nullopt: the ends are not finite or in the wrong order, or the scale is no normal f32.
std::optional<QuantizationParameters> FakeQuantParameters(EndsOfRange ends, bool narrow);

// A range, not narrow, of which that makes just these parameters; zero point 0 to 255. About one scale in 250 is made
// of no range of f32: then the range of a neighbour of it. nullopt where the range is not finite.
std::optional<EndsOfRange> FakeQuantRange(const QuantizationParameters& parameters);

// Dequantize with mode SCALED: y = q * scale, where
//   scale = high / highest                              of u8
//   scale = max(low / lowest, high / highest)           of s8 and s32; lowest is one more where the range is narrow
// nullopt where that is no normal f32 or the type is another.
std::optional<float> DequantizeScale(EndsOfRange ends, DataType type, bool narrow);

// A range, not narrow, of which that makes just this scale: of s8 and s32 low is the scale times a power of two, which
// is exact. nullopt where the range is not finite, or, of u8, where no range makes this scale.
std::optional<EndsOfRange> DequantizeRangeOf(float scale, DataType type);

// The end of so many steps, such that a division by `steps` makes the scale again if a number of f32 does.
float EndOfSteps(float scale, float steps);

// Whether both are the same but for roundings of the scale: readers find it anew from the ends that the writer gave.
// Where they are, the reader's are to be the writer's, bit for bit, or integers could not pass from one to the other.
bool SameButForRounding(const QuantizationParameters& a, const QuantizationParameters& b);

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_QUANTIZED_RANGES_H_

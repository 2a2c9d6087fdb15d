// SPDX-License-Identifier: Apache-2.0
// What the integers of a value stand for. Graphs as files hold them know quantize_linear and dequantize_linear alone;
// values with a Quantization are made when a graph is planned for running (passes/quantize/fold_quantization.h), and
// not exported.
//
// A value of type u8, s8 or s32 with a Quantization stands for the real numbers (q - zero_point) * scale. A node that
// reads or writes one computes with real numbers in f32: what it reads is dequantized first; what it writes is
// saturate(round half to even(y / scale) + zero_point). So every op has an int8 form, and none has an attribute for it.
// Nodes of which PassesIntegers is true read and write the integers themselves.
#ifndef HALFTONE_IR_QUANTIZATION_H_
#define HALFTONE_IR_QUANTIZATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/ops.h"
#include "ir/types.h"

namespace halftone {

class Shape;
class Tensor;

// Immutable once it belongs to a value; values share it.
struct Quantization {
  std::vector<float> scales;         // one, or one for each index along `axis`; finite and > 0
  std::vector<int32_t> zero_points;  // as many, each a number of the value's type
  int axis = 0;                      // >= 0; 0 where there is one scale

  bool per_tensor() const { return scales.size() == 1; }
  bool symmetric() const;  // every zero point is 0
  bool operator==(const Quantization&) const = default;

  static Quantization PerTensor(float scale, int32_t zero_point);
  std::string ToString() const;  // "{0.5, 128}", "{[0.5, 0.25], [0, 0], axis=1}": as the text form has it
};

// The integers that a value with a Quantization may hold; nullopt for other types.
struct IntegerRange {
  int64_t low = 0;
  int64_t high = 0;
};
std::optional<IntegerRange> QuantizedRange(DataType type);  // u8, s8, s32

// Whether two values stand for the same numbers by the same integers; null: a value without. Both null is the same.
bool SameQuantization(const Quantization* a, const Quantization* b);

// "" if a value of this type and shape may have this quantization, else what is wrong: "scale 2 is nan, must be finite
// and > 0". Unknown dimensions fit any number of scales.
std::string WrongQuantization(const Quantization& quantization, DataType type, const Shape& shape);

// Inputs, constants, quantize_linear and its like, matmul_integer and its like, conv_integer, opaque nodes, control
// flow, and what asks for shapes alone: they read and write integers as they are, whatever these stand for.
bool PassesIntegers(OpKind op);

// The tensor of real numbers (f32), and back: saturated, of type u8, s8 or s32. REQUIRES: WrongQuantization is "" for
// it
Tensor Dequantized(const Tensor& integers, const Quantization& quantization);
Tensor Quantized(const Tensor& numbers, DataType type, const Quantization& quantization);

}  // namespace halftone

#endif  // HALFTONE_IR_QUANTIZATION_H_

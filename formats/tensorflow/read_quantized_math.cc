// SPDX-License-Identifier: Apache-2.0
// TensorFlow's other ops on quantized tensors as what they compute on real numbers (quantized_chain.h): sums and
// elementwise products, activations, pools, ops that move elements.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/extra.h"
#include "formats/tensorflow/quantized_chain.h"
#include "formats/tensorflow/row_parts.h"

namespace halftone::graphdef {

// Two of 8 bits to one of 32. (quantized_add_op.cc and quantized_mul_op.cc: the steps of 32 bits are far finer than 8
// bits are.)
absl::StatusOr<bool> ReadQuantizedBinary(const RuleInput& input, ConvertedNode& result) {
  Chain chain(input, result);
  HALFTONE_ASSIGN_OR_RETURN(const int x, chain.Real(0, 2, 3, Reading::kAffine));
  HALFTONE_ASSIGN_OR_RETURN(const int y, chain.Real(1, 4, 5, Reading::kAffine));
  const bool adds_bias = Says(input, "BiasAdd");
  Attributes attributes;
  if (adds_bias) attributes.Set("layout", std::string("NHWC"));
  const OpKind op = adds_bias ? OpKind::kBiasAdd : Says(input, "Mul") ? OpKind::kMul : OpKind::kAdd;
  chain.Then(op, {x, y}, std::move(attributes));
  return chain.FinishReal({kAnyRange});
}

// One input, whose range the result has, too.
absl::StatusOr<bool> ReadQuantizedUnary(const RuleInput& input, ConvertedNode& result) {
  Chain chain(input, result);
  const bool reshapes = Says(input, "Reshape"), max_pools = Says(input, "MaxPool");
  const int low = reshapes ? 2 : 1;
  const bool is_real = chain.IsReal(0), is_rounded = chain.IsRounded(0);
  const DataType type = result.input_types[0];
  std::vector<EndsOfRange> ends = {kAnyRange};
  if (!is_real) {
    HALFTONE_ASSIGN_OR_RETURN(ends, chain.Ends(low, low + 1));
  }
  if (reshapes || max_pools) {  // integers as they are
    if (is_real) result.input_types[0] = DataType::kUnknown;
    if (reshapes) {
      Attributes literal;  // a dimension of 0 is 0
      literal.Set("allowzero", true);
      chain.Then(OpKind::kReshape, {0, 1}, std::move(literal));
    }
    if (max_pools) chain.Then(OpKind::kMaxPool, {0}, chain.attributes());
    if (is_rounded) return chain.FinishRounded(low, low + 1);
    return is_real ? chain.FinishReal(ends) : chain.FinishIntegers(ends);
  }
  const bool is_relu = Says(input, "Relu");
  const Reading reading = is_relu || chain.IsU8(0) ? Reading::kAffine : Reading::kScaled;
  HALFTONE_ASSIGN_OR_RETURN(const int x, chain.Real(0, low, low + 1, reading));
  chain.Then(!is_relu               ? OpKind::kAveragePool
             : Says(input, "Relu6") ? OpKind::kRelu6
                                    : OpKind::kRelu,
             {x}, is_relu ? Attributes() : chain.attributes());
  if (is_rounded) {
    if (!is_relu || Says(input, "Relu6")) chain.Round(Chain::kPrevious, low, low + 1, type, reading);
    return chain.FinishRounded(low, low + 1);
  }
  return is_real ? chain.FinishReal(ends) : chain.FinishQuantized(ends, reading);
}

// The result has the range of the image. (quantized_resize_bilinear_op.cc)
absl::StatusOr<bool> ReadQuantizedResize(const RuleInput& input, ConvertedNode& result) {
  Chain chain(input, result);
  if (chain.IsRounded(0)) return absl::UnimplementedError("a resize of integers whose range the run finds");
  const bool is_real = chain.IsReal(0);
  std::vector<EndsOfRange> ends = {kAnyRange};
  if (!is_real) {
    HALFTONE_ASSIGN_OR_RETURN(ends, chain.Ends(2, 3));
  }
  HALFTONE_ASSIGN_OR_RETURN(const int x, chain.Real(0, 2, 3, Reading::kAffine));
  HALFTONE_ASSIGN_OR_RETURN(Attributes attributes, ResizeAttributes(input));
  chain.Then(OpKind::kResize, {x, kAbsentInput, kAbsentInput, 1}, std::move(attributes));
  HALFTONE_ASSIGN_OR_RETURN(const bool read,
                            is_real ? chain.FinishReal(ends) : chain.FinishQuantized(ends, Reading::kAffine));
  // Is written again as the op of numbers, whose name and attributes say what it does.
  Node& resize = is_real ? result.node : result.made.back().node;
  resize.spelling = "ResizeBilinear";
  resize.extra.Set(std::string(kExtraOp), resize.spelling);
  for (const char* name : {"align_corners", "half_pixel_centers"}) {
    HALFTONE_ASSIGN_OR_RETURN(const bool is_set, input.Bool(name, false));
    if (is_set) resize.extra.Set(name, true);
  }
  return read;
}

namespace {

// The range of all parts, of u8, whose numbers are rounded to its steps.
absl::StatusOr<bool> ReadConcatByRun(Chain& chain, ConvertedNode& result, int first, int n, int axis) {
  const int lows = n + 1;
  int low = chain.Number(0), high = low;
  std::vector<int> inputs;
  for (int i = 0; i < n; ++i) {
    if (result.input_types[first + i] != DataType::kUInt8)
      return absl::UnimplementedError(
          Concat("input ", first + i, " of other than u8 beside a range that the run finds"));
    low = chain.Helper(OpKind::kMinimum, {low, lows + i});
    high = chain.Helper(OpKind::kMaximum, {high, lows + n + i});
    HALFTONE_ASSIGN_OR_RETURN(const int part, chain.Real(first + i, lows + i, lows + n + i, Reading::kAffine));
    inputs.push_back(part);
  }
  inputs.push_back(axis);
  chain.Then(OpKind::kConcat, inputs);
  chain.RoundAffine(Chain::kPrevious, low, high);
  return chain.FinishRounded(low, high);
}

}  // namespace

// Of one range for all, the integers are joined as they are. Else the result's range holds those of all parts and 0,
// and of s8 is as wide on both sides. (quantized_concat_op.cc, mkl_concat_op.cc)
absl::StatusOr<bool> ReadQuantizedConcat(const RuleInput& input, ConvertedNode& result) {
  Chain chain(input, result);
  HALFTONE_ASSIGN_OR_RETURN(const int64_t count, input.Int("N", 0));
  const int n = static_cast<int>(count);
  const bool axis_is_last = Says(input, "V2");  // of the values, before the ranges
  const int first = axis_is_last ? 0 : 1, lows = n + 1;
  bool any_is_rounded = false;
  for (int i = 0; i < n; ++i) any_is_rounded = any_is_rounded || chain.IsRounded(first + i);
  if (any_is_rounded) return ReadConcatByRun(chain, result, first, n, axis_is_last ? n : 0);
  std::vector<EndsOfRange> parts;
  EndsOfRange all;
  for (int i = 0; i < n; ++i) {
    if (chain.IsReal(first + i)) return absl::UnimplementedError(Concat("input ", first + i, " of 32 bits"));
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<EndsOfRange> ends, chain.Ends(lows + i, lows + n + i));
    if (ends.size() != 1)
      return absl::UnimplementedError(Concat("input ", first + i, " with a range for each channel"));
    parts.push_back(ends[0]);
    all = {std::min(all.low, ends[0].low), std::max(all.high, ends[0].high)};
  }
  const bool is_u8 = chain.IsU8(first);
  if (!is_u8) all.low = std::min(all.low, -all.high);
  if (!is_u8) all.high = -all.low;
  const bool one_range = std::all_of(parts.begin(), parts.end(), [&](const EndsOfRange& part) { return part == all; });
  const Reading reading = is_u8 || !one_range ? Reading::kAffine : Reading::kScaled;
  std::vector<int> inputs;
  for (int i = 0; i < n; ++i) {
    HALFTONE_ASSIGN_OR_RETURN(const Steps steps, chain.StepsOf({parts[i]}, result.input_types[first + i], reading));
    inputs.push_back(chain.Real(first + i, steps));
  }
  inputs.push_back(axis_is_last ? n : 0);
  chain.Then(OpKind::kConcat, inputs);
  HALFTONE_ASSIGN_OR_RETURN(Steps steps, chain.StepsOf({all}, chain.out_type(), reading));
  if (one_range) steps = chain.AsMade(first, std::move(steps));
  return chain.FinishQuantized({all}, steps);
}

}  // namespace halftone::graphdef

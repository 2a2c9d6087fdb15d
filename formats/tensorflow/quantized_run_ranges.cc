// SPDX-License-Identifier: Apache-2.0
// Ranges that are computed at run time, as in the unfrozen stage of quantize_graph.py: Min, Max and QuantizeV2 of a
// value, RequantizationRange and Requantize after sums. A value with such a range is a float here, rounded as
// TensorFlow rounds it: dequantize(dynamic_quantize(x)) where the range is that of x itself, which kernels of integers
// read (fuse-dynamic-matmul); else arithmetic. (quantize_op.cc, requantize.cc, requantization_range_op.cc.)

#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/quantized_chain.h"
#include "formats/tensorflow/row_parts.h"

namespace halftone::graphdef {
namespace {

using enum OpKind;

constexpr float kLastStep = 255;
constexpr float kLeastStep = std::numeric_limits<float>::min();
// Of a range that is a point far from 0: the steps must not be so small that there are too many up to it.
constexpr float kLeastShare = 1e-7f;
// ensure_minimum_range up to which QuantizeV2's range is read as that of its input: narrower ones have finer steps.
constexpr float kUsualLeastRange = 0.01f;

// The least or largest of all elements of input `k`.
int Extreme(Chain& chain, OpKind reduce, int k) {
  const auto one = [&chain](int64_t number) {
    return chain.result().AddConstant(Tensor::Ints(std::vector<int64_t>{number}, DataType::kInt32));
  };
  const int all = chain.Helper(kReshape, {k, one(-1)});
  Attributes attributes;
  attributes.Set("keepdims", false);
  return chain.Helper(reduce, {all, one(0)}, std::move(attributes));
}

// Rounds floats to multiples of number `scale`, from steps.low to steps.high of them.
void RoundScaled(Chain& chain, int x, int scale, IntegerRange steps) {
  const int step = chain.Helper(kMaximum, {scale, chain.Number(kLeastStep)});
  chain.Then(kDiv, {x, step});
  chain.Then(kRound, {Chain::kPrevious});
  chain.Then(kMaximum, {Chain::kPrevious, chain.Number(static_cast<float>(steps.low))});
  chain.Then(kMinimum, {Chain::kPrevious, chain.Number(static_cast<float>(steps.high))});
  chain.Then(kMul, {Chain::kPrevious, step});
}

// Rounds floats to the steps of the range of `x` itself, widened to hold 0: what a kernel reads as integers.
void RoundToOwnRange(Chain& chain, int x) {
  ConvertedNode& result = chain.result();
  const int integers = result.AddHelper(kDynamicQuantizeLinear, {x}, DataType::kUInt8);
  result.made.back().more_outputs = {{DataType::kFloat32, Shape(), ""}, {DataType::kUInt8, Shape(), ""}};
  const int scale = result.AddPort(integers, 1), zero = result.AddPort(integers, 2);
  chain.Then(kDequantizeLinear, {integers, scale, zero});
}

}  // namespace

// (clip(round(x / step) - first, 0, 255) + first) * step   where   step = (high - low) / 255, first = round(low / step)
void Chain::RoundAffine(int x, int low, int high) {
  const int least = Helper(kMul, {Helper(kAbs, {low}), Number(kLeastShare)});
  int step = Helper(kDiv, {Helper(kSub, {high, low}), Number(kLastStep)});
  step = Helper(kMaximum, {Helper(kMaximum, {step, least}), Number(kLeastStep)});
  const int first = Helper(kRound, {Helper(kDiv, {low, step})});
  Then(kDiv, {x, step});
  Then(kRound, {kPrevious});
  Then(kSub, {kPrevious, first});
  Then(kMaximum, {kPrevious, Number(0)});
  Then(kMinimum, {kPrevious, Number(kLastStep)});
  Then(kAdd, {kPrevious, first});
  Then(kMul, {kPrevious, step});
}

void Chain::Round(int x, int low, int high, DataType type, Reading reading) {
  if (reading == Reading::kAffine) return RoundAffine(x, low, high);
  const IntegerRange steps = *QuantizedRange(type);
  const int magnitude = Helper(kMaximum, {Helper(kAbs, {low}), Helper(kAbs, {high})});
  RoundScaled(*this, x, Helper(kDiv, {magnitude, Number(static_cast<float>(steps.high))}), steps);
}

namespace {

bool IsOfBytes(DataType type) { return type == DataType::kUInt8 || type == DataType::kInt8; }

// The ends that QuantizeV2 makes of those that are asked for: with 0 between them, and some width.
std::pair<int, int> Widened(Chain& chain, int low, int high, float least) {
  const int lower = chain.Helper(kMinimum, {low, chain.Number(0)});
  const int larger = chain.Helper(kMaximum, {chain.Helper(kAbs, {low}), chain.Helper(kAbs, {high})});
  const int width = chain.Helper(kMul, {chain.Helper(kMaximum, {larger, chain.Number(1)}), chain.Number(least)});
  const int higher = chain.Helper(kMaximum, {high, chain.Helper(kAdd, {lower, width})});
  return {lower, chain.Helper(kMaximum, {higher, chain.Number(0)})};
}

}  // namespace

// Halves are rounded to even, TensorFlow's modes but SCALED round them away from 0.
absl::StatusOr<bool> ReadQuantizeByRun(const RuleInput& input, Chain& chain, std::string_view mode, bool narrow,
                                       int64_t axis) {
  const DataType type = chain.out_type();
  if (!IsOfBytes(type)) return absl::UnimplementedError("a quantization to other than 8 bits");
  if (axis != -1) return absl::UnimplementedError("ranges of channels that are computed when the model runs");
  HALFTONE_ASSIGN_OR_RETURN(const float least, input.Float("ensure_minimum_range", kUsualLeastRange));
  const auto [low, high] = Widened(chain, 1, 2, least);
  if (mode == "MIN_FIRST") {
    const bool own = type == DataType::kUInt8 && least <= kUsualLeastRange && input.context.is_range_of(1, 2, 0);
    if (own) {
      RoundToOwnRange(chain, 0);
    } else {
      chain.RoundAffine(0, low, high);
    }
    return chain.FinishRounded(low, high);
  }
  if (mode != "SCALED")
    return absl::UnimplementedError(
        Concat("mode ", mode, " with a range that is computed when the model runs; MIN_FIRST and SCALED have 0 as a ",
               "step"));
  IntegerRange steps = *QuantizedRange(type);
  if (narrow && steps.low != 0) ++steps.low;
  int scale = chain.Helper(kDiv, {high, chain.Number(static_cast<float>(steps.high))});
  if (steps.low != 0) {
    const int by_low = chain.Helper(kDiv, {low, chain.Number(static_cast<float>(steps.low))});
    scale = chain.Helper(kMaximum, {scale, by_low});
  }
  RoundScaled(chain, 0, scale, steps);
  const int end = chain.Helper(kMul, {scale, chain.Number(static_cast<float>(steps.high))});
  return chain.FinishRounded(steps.low == 0 ? chain.Number(0) : chain.Helper(kNeg, {end}), end);
}

// Where values are not negative, their own range begins at 0, as RequantizationRange's does.
absl::StatusOr<bool> ReadRequantizeByRun(const RuleInput& input, Chain& chain, Reading reading) {
  if (!IsOfBytes(chain.out_type())) return absl::UnimplementedError("a requantization to other than 8 bits");
  const OpKind maker = input.context.input_op(0);
  const bool own = reading == Reading::kAffine && chain.IsReal(0) && chain.out_type() == DataType::kUInt8 &&
                   (maker == kRelu || maker == kRelu6) && input.context.is_range_of(3, 4, 0);
  HALFTONE_ASSIGN_OR_RETURN(const int x, chain.Real(0, 1, 2, reading));
  if (own) {
    RoundToOwnRange(chain, x);
  } else {
    chain.Round(x, 3, 4, chain.out_type(), reading);
  }
  return chain.FinishRounded(3, 4);
}

// From the least sum, or 0, to the largest. Of channels: from the largest magnitude below 0 to that above, or from 0
// where no sum is negative; clip_value_max holds it. (mkl_requantization_range_per_channel_op.cc)
absl::StatusOr<bool> ReadRequantizationRange(const RuleInput& input, ConvertedNode& result) {
  Chain chain(input, result);
  if (!chain.IsReal(0) || chain.IsRounded(0))
    return absl::UnimplementedError("the range of other than sums of 32 bits");
  result.input_types[0] = DataType::kUnknown;
  const int least = Extreme(chain, kReduceMin, 0);
  int high = Extreme(chain, kReduceMax, 0);
  if (Says(input, "PerChannel")) {
    HALFTONE_ASSIGN_OR_RETURN(const float clip, input.Float("clip_value_max", 0));
    const int magnitude = chain.Helper(kMaximum, {chain.Helper(kAbs, {least}), chain.Helper(kAbs, {high})});
    high = chain.Helper(kMinimum, {magnitude, chain.Number(clip)});
    const int below = result.AddHelper(kLess, {least, chain.Number(0)}, DataType::kBool);
    chain.Then(kWhere, {below, chain.Helper(kNeg, {high}), chain.Number(0)});
  } else {
    chain.Then(kMinimum, {chain.Number(0), least});
  }
  HALFTONE_RETURN_IF_ERROR(chain.FinishReal({}).status());
  result.value_ports = {{1, high}};
  return true;
}

}  // namespace halftone::graphdef

// SPDX-License-Identifier: Apache-2.0
// TensorFlow's ops that quantize, and its convolutions and matmuls of quantized tensors, as what they compute on real
// numbers (quantized_chain.h).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/quantized_chain.h"
#include "formats/tensorflow/row_parts.h"

namespace halftone::graphdef {
namespace {

std::string StringOf(const RuleInput& input, std::string_view name, std::string_view otherwise) {
  const tf::AttrValue* value = input.Find(name);
  return value == nullptr ? std::string(otherwise) : value->s();
}

// The range that the op's kernel makes of the one that is asked for, with 0 in it and of some width.
absl::StatusOr<EndsOfRange> Widened(const RuleInput& input, EndsOfRange asked) {
  HALFTONE_ASSIGN_OR_RETURN(const float least, input.Float("ensure_minimum_range", 0.01f));
  const float low = std::min(0.0f, asked.low);
  const float width = std::max(1.0f, std::max(std::abs(asked.low), std::abs(asked.high))) * least;
  return EndsOfRange{low, std::max(0.0f, std::max(asked.high, low + width))};
}

}  // namespace

// MIN_FIRST is affine; SCALED has the smaller of the scales of both ends; MIN_COMBINED, where 0 may lie between two
// steps, is read where it is (nearly) one.
absl::StatusOr<bool> ReadQuantizeV2(const RuleInput& input, ConvertedNode& result) {
  Chain chain(input, result);
  HALFTONE_ASSIGN_OR_RETURN(const bool narrow, input.Bool("narrow_range", false));
  HALFTONE_ASSIGN_OR_RETURN(const int64_t axis, input.Int("axis", -1));
  const std::string mode = StringOf(input, "mode", "MIN_COMBINED");
  if (chain.FindsEnds(1, 2)) return ReadQuantizeByRun(input, chain, mode, narrow, axis);
  HALFTONE_ASSIGN_OR_RETURN(std::vector<EndsOfRange> ends, chain.Ends(1, 2));
  if (axis == -1 && ends.size() != 1) return absl::InvalidArgumentError("several ranges, but no attribute 'axis'");
  for (EndsOfRange& range : ends) {
    HALFTONE_ASSIGN_OR_RETURN(range, Widened(input, range));
  }
  const DataType type = chain.out_type();
  const std::optional<IntegerRange> limits = QuantizedRange(type);
  if (!limits.has_value() || type == DataType::kInt32)
    return absl::UnimplementedError("a quantization to other than 8 bits");
  Steps steps;
  if (mode == "SCALED") {
    for (EndsOfRange& range : ends) {
      const std::optional<float> scale = DequantizeScale(range, type, narrow);
      if (!scale.has_value()) return absl::UnimplementedError("a range whose steps are no normal f32");
      steps.scales.push_back(*scale);
      steps.zeros.push_back(0);
      const float high = *scale * static_cast<float>(limits->high);  // kernels of oneDNN find the scale again from it
      range = {type == DataType::kInt8 ? -high : 0.0f, high};
    }
  } else {
    if (mode != "MIN_FIRST" && mode != "MIN_COMBINED")
      return absl::InvalidArgumentError(
          Concat("attribute 'mode' is '", mode, "'; it must be MIN_COMBINED, MIN_FIRST or SCALED"));
    if (ends.size() != 1) return absl::UnimplementedError(Concat("ranges of channels with mode ", mode));
    HALFTONE_ASSIGN_OR_RETURN(steps, chain.StepsOf(ends, type, Reading::kAffine));
    const double from_low = -static_cast<double>(ends[0].low) / steps.scales[0];
    if (mode == "MIN_COMBINED" && std::abs(from_low - std::round(from_low)) > 1e-3)
      return absl::UnimplementedError(
          "mode MIN_COMBINED with a range whose 0 lies between two steps; MIN_FIRST and SCALED have 0 as a step");
  }
  const int scale = chain.ScaleOf(steps), zero = chain.ZeroOf(steps, type);
  int x = 0;
  if (narrow && type == DataType::kInt8 && steps.scales.size() == 1) {  // integers end at -127
    const int low = result.AddConstant(Tensor::Scalar(ends[0].low));
    const int high = result.AddConstant(Tensor::Scalar(ends[0].high));
    x = result.AddHelper(OpKind::kClip, {0, low, high}, DataType::kFloat32);
  }
  Attributes attributes;
  if (steps.scales.size() > 1) attributes.Set("axis", axis);
  chain.Then(OpKind::kQuantizeLinear, {x, scale, zero}, std::move(attributes));
  return chain.FinishIntegers(ends);
}

absl::StatusOr<bool> ReadRequantize(const RuleInput& input, ConvertedNode& result) {
  Chain chain(input, result);
  const Reading reading = Says(input, "PerChannel") ? Reading::kScaled : Reading::kAffine;
  if (chain.FindsEnds(3, 4)) return ReadRequantizeByRun(input, chain, reading);
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<EndsOfRange> ends, chain.Ends(3, 4));
  HALFTONE_ASSIGN_OR_RETURN(const int x, chain.Real(0, 1, 2, reading));
  chain.Then(OpKind::kIdentity, {x});
  return chain.FinishQuantized(ends, reading);
}

namespace {

// Where a contraction has its inputs, which its op name tells (QuantizedConv2DWithBiasSumAndReluAndRequantize).
struct Places {
  int bias = -1, x_low, w_low, out_low = -1, summand = -1;
  explicit Places(const RuleInput& input) {
    const bool requantizes = Says(input, "AndRequantize");
    int next = 2;
    if (Says(input, "WithBias")) bias = next++;
    x_low = next;
    w_low = next + 2;
    next += 4;
    if (requantizes) out_low = std::exchange(next, next + 2);
    if (Says(input, "Sum")) summand = next;
  }
};

// The node's attributes for a convolution; false where it is of a kind that no canonical one is.
absl::StatusOr<bool> FinishConvAttributes(const RuleInput& input, Attributes& attributes) {
  const bool depthwise = Says(input, "Depthwise");
  attributes.Set("weights_layout", std::string(depthwise ? "HWCM" : "HWIO"));
  const Shape weights = input.context.input_shape(1);
  if (depthwise && weights.has_rank() && weights.rank() == 4 && weights.dim(2).value > 0)
    attributes.Set("group", weights.dim(2).value);
  const tf::AttrValue* list = input.Find("padding_list");
  if (list == nullptr || list->list().i().empty()) return true;
  const auto& pads = list->list().i();
  if (pads.size() != 8 || attributes.String("auto_pad", "") != "VALID") return false;
  for (const int64_t pad : pads) {
    if (pad < 0 || pad > INT32_MAX)
      return absl::InvalidArgumentError(Concat("attribute 'padding_list' has ", pad, "; pads must not be negative"));
  }
  attributes.Set("pads", std::vector<int64_t>{pads[2], pads[4], pads[3], pads[5]});
  attributes.Set("auto_pad", std::string("NOTSET"));
  return true;
}

// One float per step of the sums, and the ends of their 32-bit range.
std::vector<EndsOfRange> ProductEnds(const Steps& x, const Steps& w) {
  std::vector<EndsOfRange> ends;
  for (const float scale : w.scales) {
    const float step = x.scales[0] * scale;
    ends.push_back({step * static_cast<float>(INT32_MIN), step * static_cast<float>(INT32_MAX)});
  }
  return ends;
}

// Kernels that read x with a zero point (MIN_FIRST) add a bias of 32 bits unchanged: the tool that made the file has
// put the zero point's share into it, -zero times the sum of each column of weights. The bias without that, of
// constants.
absl::StatusOr<Tensor> WithoutZeroPoint(const Tensor* bias, const Tensor* weights, int32_t zero, bool transposed) {
  if (bias == nullptr || weights == nullptr || weights->type() != DataType::kInt8 || weights->rank() != 2)
    return absl::UnimplementedError(
        "input_quant_mode MIN_FIRST with a bias of 32 bits where weights or bias are computed");
  const int64_t rows = weights->dims()[transposed ? 1 : 0], columns = weights->dims()[transposed ? 0 : 1];
  if (bias->type() != DataType::kInt32 || bias->num_elements() != columns)
    return absl::InvalidArgumentError(Concat("a bias of ", bias->num_elements(), " numbers for ", columns, " columns"));
  Tensor result(DataType::kInt32, bias->dims());
  for (int64_t column = 0; column < columns; ++column) {
    int64_t sum = 0;
    for (int64_t row = 0; row < rows; ++row) {
      sum += weights->data<int8_t>()[transposed ? column * rows + row : row * columns + column];
    }
    const int64_t number = bias->data<int32_t>()[column] + zero * sum;
    if (number < INT32_MIN || number > INT32_MAX)
      return absl::UnimplementedError(
          Concat("the bias of column ", column, " does not fit into 32 bits without the ", "zero point's share"));
    result.mutable_data<int32_t>()[column] = static_cast<int32_t>(number);
  }
  return result;
}

}  // namespace

// Convolutions and matmuls, with their fused parts.
absl::StatusOr<bool> ReadQuantizedContraction(const RuleInput& input, ConvertedNode& result) {
  Chain chain(input, result);
  const Places at(input);
  const bool is_conv = Says(input, "Conv2D"), depthwise = Says(input, "Depthwise");
  if (is_conv) {
    HALFTONE_ASSIGN_OR_RETURN(const bool fits, FinishConvAttributes(input, chain.attributes()));
    if (!fits) return absl::UnimplementedError("attribute 'padding_list' with other padding than VALID");
  }
  const bool by_first = !is_conv && StringOf(input, "input_quant_mode", "MIN_FIRST") == "MIN_FIRST" && chain.IsU8(0);
  const Reading w_reading = chain.IsU8(1) ? Reading::kAffine : Reading::kScaled;
  const Reading x_reading = chain.IsU8(1) || (by_first && at.bias >= 0) ? Reading::kAffine : Reading::kScaled;
  const bool x_is_rounded = chain.IsRounded(0);
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<EndsOfRange> w_ends, chain.Ends(at.w_low, at.w_low + 1));
  Steps x_steps;
  if (!x_is_rounded) {
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<EndsOfRange> x_ends, chain.Ends(at.x_low, at.x_low + 1));
    if (x_ends.size() != 1) return absl::UnimplementedError("an input with a range for each channel");
    HALFTONE_ASSIGN_OR_RETURN(x_steps, chain.StepsOf(x_ends, result.input_types[0], x_reading));
  }
  HALFTONE_ASSIGN_OR_RETURN(const Steps w_steps, chain.StepsOf(w_ends, result.input_types[1], w_reading));
  int64_t axis = is_conv ? (depthwise ? 2 : 3) : chain.attributes().Bool("transpose_b", false) ? 0 : 1;
  if (depthwise && w_steps.scales.size() > 1) {
    const Shape weights = input.context.input_shape(1);
    if (!weights.has_rank() || weights.rank() != 4 || weights.dim(3) != Dim::Of(1))
      return absl::UnimplementedError("depthwise weights with a multiplier and a range for each channel");
  }
  std::vector<int> inputs = {chain.Real(0, x_steps), chain.Real(1, w_steps, axis)};
  if (at.bias >= 0 && result.input_types[at.bias] == DataType::kInt32) {  // scale of x times scale of w
    if (x_is_rounded)
      return absl::UnimplementedError("a bias of 32 bits, whose steps would be those of a range that the run finds");
    Steps steps = w_steps;
    for (float& scale : steps.scales) scale *= x_steps.scales[0];
    Attributes attributes;
    if (steps.scales.size() > 1) attributes.Set("axis", int64_t{0});
    int bias = at.bias;
    if (by_first && x_steps.zeros[0] != 0) {
      HALFTONE_ASSIGN_OR_RETURN(
          Tensor plain, WithoutZeroPoint(input.context.constant(at.bias), input.context.constant(1), x_steps.zeros[0],
                                         chain.attributes().Bool("transpose_b", false)));
      bias = result.AddConstant(std::move(plain));
    }
    inputs.push_back(result.AddHelper(OpKind::kDequantizeLinear, {bias, chain.ScaleOf(steps)}, DataType::kFloat32,
                                      std::move(attributes)));
  } else if (at.bias >= 0) {
    inputs.push_back(at.bias);
  }
  chain.Then(is_conv ? OpKind::kConv : OpKind::kMatMul, inputs, chain.attributes());
  if (at.summand >= 0) {
    int summand = at.summand;
    if (at.out_low >= 0) {
      HALFTONE_ASSIGN_OR_RETURN(summand, chain.Real(at.summand, at.summand + 1, at.summand + 2, Reading::kScaled));
    }
    chain.Then(OpKind::kAdd, {Chain::kPrevious, summand});
  }
  if (Says(input, "AndRelu")) chain.Then(OpKind::kRelu, {Chain::kPrevious});
  if (Says(input, "AndDequantize")) return chain.FinishReal({});
  if (at.out_low < 0) return chain.FinishReal(x_is_rounded ? std::vector{kAnyRange} : ProductEnds(x_steps, w_steps));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<EndsOfRange> ends, chain.Ends(at.out_low, at.out_low + 1));
  return chain.FinishQuantized(ends, Reading::kScaled);
}

}  // namespace halftone::graphdef

// TensorFlow's ops on quantized tensors as what they compute on real numbers:
//
//   QuantizedConv2DWithBiasAndReluAndRequantize(x, w, b, ranges)
//       =>  quantize(relu(conv(dequantize(x), dequantize(w), b)))
//
// Values of 8 bits are integers here, too; those of 32 bits, the sums of products, are real numbers (f32): only a
// requantization or dequantization reads them, and then ranges of them need not be known. Where the range of 8 bits is
// not constant, the op is not read: UNIMPLEMENTED.
//
// What integers stand for depends on the op:
//   scaled   q * m / 255 of u8, q * m / 127 of s8, where m is the larger magnitude of both ends: kernels of oneDNN
//   affine   (q - zero) * (high - low) / 255, where zero is the step next to 0: TensorFlow's own kernels, which have
//            weights of u8
// (mkl_quantized_conv_ops.h, mkl_requantize_per_channel_op.cc, quantization_utils.h, quantize_op.cc.)

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/node_import.h"
#include "formats/tensorflow/quantized_ranges.h"
#include "formats/tensorflow/row_parts.h"

namespace halftone::graphdef {
namespace {

enum class Reading { kScaled, kAffine };

constexpr int kPrevious = 1'000'000;  // the input that is the step before

// Of one tensor, or of channels.
struct Steps {
  std::vector<float> scales;
  std::vector<int32_t> zeros;
};

// The NodeDef while it becomes a chain of nodes, of which the last has its name.
class Chain {
 public:
  Chain(const RuleInput& input, ConvertedNode& result) : input_(input), result_(result) {
    result_.is_composed = true;
    result_.node.spelling.clear();
    attributes_ = std::exchange(result_.node.attributes, {});
    out_type_ = result_.outputs[0].type;
  }

  const Attributes& attributes() const { return attributes_; }
  Attributes& attributes() { return attributes_; }
  DataType out_type() const { return out_type_; }
  bool IsReal(int k) const { return input_.context.input_type(k) == DataType::kFloat32; }
  bool IsU8(int k) const { return result_.input_types[k] == DataType::kUInt8; }

  // The ends of the range by inputs `low` and `high`.
  absl::StatusOr<std::vector<EndsOfRange>> Ends(int low, int high) const {
    const Tensor* lows = input_.context.constant(low);
    const Tensor* highs = input_.context.constant(high);
    for (const auto& [k, tensor] : {std::pair(low, lows), std::pair(high, highs)}) {
      if (tensor == nullptr) {
        return absl::UnimplementedError(Concat("input ", k, " ('", input_.context.input_name(k),
                                               "'), the end of a range, is computed when the model runs; ranges must "
                                               "be constants (freeze_requantization_ranges makes them so)"));
      }
    }
    if (lows->type() != DataType::kFloat32 || highs->type() != DataType::kFloat32 || lows->num_elements() == 0 ||
        lows->num_elements() != highs->num_elements()) {
      return absl::InvalidArgumentError(Concat("inputs ", low, " and ", high, " are the ends of ranges; they must be ",
                                               "f32 and have as many elements, at least one"));
    }
    std::vector<EndsOfRange> ends;
    for (int64_t i = 0; i < lows->num_elements(); ++i) {
      ends.push_back({lows->data<float>()[i], highs->data<float>()[i]});
    }
    return ends;
  }

  absl::StatusOr<Steps> StepsOf(const std::vector<EndsOfRange>& ends, DataType type, Reading reading) const {
    Steps steps;
    for (const EndsOfRange& range : ends) {
      const bool is_signed = type == DataType::kInt8;
      if (type != DataType::kUInt8 && !is_signed)
        return absl::UnimplementedError(Concat("quantized tensors of ", DataTypeName(type), "; only of 8 bits"));
      const float magnitude = std::max(std::abs(range.low), std::abs(range.high));
      float scale = magnitude == 0 ? 1.0f : magnitude / (is_signed ? 127.0f : 255.0f);
      double zero = 0;
      if (reading == Reading::kAffine) {
        scale = (range.high - range.low) / 255.0f;
        zero = (is_signed ? -128 : 0) - std::round(static_cast<double>(range.low) / scale);
      }
      const IntegerRange limits = *QuantizedRange(type);
      const bool fits = zero >= static_cast<double>(limits.low) && zero <= static_cast<double>(limits.high);
      if (!std::isnormal(scale) || !fits)
        return absl::UnimplementedError(Concat("the range [", range.low, ", ", range.high,
                                               "]; it must hold 0 and be wide enough for steps in f32"));
      steps.scales.push_back(scale);
      steps.zeros.push_back(static_cast<int32_t>(zero));
    }
    return steps;
  }

  int ScaleOf(const Steps& steps) { return result_.AddConstant(Tensor::Of<float>(DimsOf(steps), steps.scales)); }
  int ZeroOf(const Steps& steps, DataType type) {
    Tensor zeros(type, DimsOf(steps));
    for (size_t i = 0; i < steps.zeros.size(); ++i) {
      zeros.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(steps.zeros[i]);
    }
    return result_.AddConstant(std::move(zeros));
  }

  // Input `k` as real numbers. `axis`: of channels.
  int Real(int k, Steps steps, int64_t axis = 0) {
    if (IsReal(k)) {
      result_.input_types[k] = DataType::kUnknown;  // qint32 in the file
      return k;
    }
    const std::optional<QuantizationParameters> made = input_.context.quantized_as(k);
    if (made.has_value() && steps.scales.size() == 1 && SameButForRounding(*made, {steps.scales[0], steps.zeros[0]})) {
      steps.scales[0] = made->scale;
    }
    Attributes attributes;
    if (steps.scales.size() > 1) attributes.Set("axis", axis);
    const int scale = ScaleOf(steps), zero = ZeroOf(steps, result_.input_types[k]);
    return result_.AddHelper(OpKind::kDequantizeLinear, {k, scale, zero}, DataType::kFloat32, std::move(attributes));
  }
  absl::StatusOr<int> Real(int k, int low, int high, Reading reading) {
    if (IsReal(k)) return Real(k, Steps());
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<EndsOfRange> ends, Ends(low, high));
    if (ends.size() != 1) return absl::UnimplementedError(Concat("input ", k, " with a range for each channel"));
    HALFTONE_ASSIGN_OR_RETURN(const Steps steps, StepsOf(ends, result_.input_types[k], reading));
    return Real(k, steps);
  }

  void Then(OpKind op, std::vector<int> inputs, Attributes attributes = {}) {
    if (!inputs_.empty()) {
      const int made = result_.AddHelper(result_.node.op, inputs_, DataType::kFloat32, result_.node.attributes);
      std::replace(inputs.begin(), inputs.end(), kPrevious, made);
    }
    result_.node.op = op;
    result_.node.attributes = std::move(attributes);
    inputs_ = std::move(inputs);
  }

  // The last step makes real numbers: sums of products, of 32 bits in the file.
  absl::StatusOr<bool> FinishReal(const std::vector<EndsOfRange>& ends) { return Finish(DataType::kFloat32, ends); }
  // ... integers of the NodeDef's type, as they are.
  absl::StatusOr<bool> FinishIntegers(const std::vector<EndsOfRange>& ends) { return Finish(out_type_, ends); }
  // ... real numbers, which are quantized.
  absl::StatusOr<bool> FinishQuantized(const std::vector<EndsOfRange>& ends, Reading reading) {
    if (ends.size() != 1) return absl::UnimplementedError("a range of the result for each channel");
    HALFTONE_ASSIGN_OR_RETURN(const Steps steps, StepsOf(ends, out_type_, reading));
    const int scale = ScaleOf(steps), zero = ZeroOf(steps, out_type_);
    Then(OpKind::kQuantizeLinear, {kPrevious, scale, zero});
    return Finish(out_type_, ends);
  }

 private:
  static std::vector<int64_t> DimsOf(const Steps& steps) {
    return steps.scales.size() == 1 ? std::vector<int64_t>{}
                                    : std::vector<int64_t>{static_cast<int64_t>(steps.scales.size())};
  }

  absl::StatusOr<bool> Finish(DataType type, const std::vector<EndsOfRange>& ends) {
    result_.inputs = inputs_;
    result_.outputs = {{type, Shape(), ""}};
    result_.output_ports = {0};
    std::vector<float> lows, highs;
    for (const EndsOfRange& range : ends) {
      lows.push_back(range.low);
      highs.push_back(range.high);
    }
    std::vector<int64_t> dims;
    if (ends.size() != 1) dims.push_back(static_cast<int64_t>(ends.size()));
    result_.constant_ports = {{1, Tensor::Of<float>(dims, lows)}, {2, Tensor::Of<float>(dims, highs)}};
    return true;
  }

  const RuleInput& input_;
  ConvertedNode& result_;
  Attributes attributes_;  // of the NodeDef's canonical op
  DataType out_type_;
  std::vector<int> inputs_;  // of the last step
};

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

// Whether an op's name has this word.
bool Says(const RuleInput& input, std::string_view word) {
  return input.row.tf_op.find(word) != std::string_view::npos;
}

}  // namespace

// MIN_FIRST is affine; SCALED has the smaller of the scales of both ends; MIN_COMBINED, where 0 may lie between two
// steps, is read where it is (nearly) one.
absl::StatusOr<bool> ReadQuantizeV2(const RuleInput& input, ConvertedNode& result) {
  Chain chain(input, result);
  HALFTONE_ASSIGN_OR_RETURN(const bool narrow, input.Bool("narrow_range", false));
  HALFTONE_ASSIGN_OR_RETURN(const int64_t axis, input.Int("axis", -1));
  const std::string mode = StringOf(input, "mode", "MIN_COMBINED");
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
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<EndsOfRange> ends, chain.Ends(3, 4));
  const Reading reading = Says(input, "PerChannel") ? Reading::kScaled : Reading::kAffine;
  HALFTONE_ASSIGN_OR_RETURN(const int x, chain.Real(0, 1, 2, reading));
  chain.Then(OpKind::kIdentity, {x});
  return chain.FinishQuantized(ends, reading);
}

namespace {

// Where a contraction has its inputs, by the words of its name.
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

// One real number a step of the sum of products, and the ends of 32 bits of them.
std::vector<EndsOfRange> ProductEnds(const Steps& x, const Steps& w) {
  std::vector<EndsOfRange> ends;
  for (const float scale : w.scales) {
    const float step = x.scales[0] * scale;
    ends.push_back({step * static_cast<float>(INT32_MIN), step * static_cast<float>(INT32_MAX)});
  }
  return ends;
}

}  // namespace

// Convolutions and products, with what is fused into them.
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
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<EndsOfRange> x_ends, chain.Ends(at.x_low, at.x_low + 1));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<EndsOfRange> w_ends, chain.Ends(at.w_low, at.w_low + 1));
  if (x_ends.size() != 1) return absl::UnimplementedError("an input with a range for each channel");
  HALFTONE_ASSIGN_OR_RETURN(const Steps x_steps, chain.StepsOf(x_ends, result.input_types[0], x_reading));
  HALFTONE_ASSIGN_OR_RETURN(const Steps w_steps, chain.StepsOf(w_ends, result.input_types[1], w_reading));
  int64_t axis = is_conv ? (depthwise ? 2 : 3) : chain.attributes().Bool("transpose_b", false) ? 0 : 1;
  if (depthwise && w_steps.scales.size() > 1) {
    const Shape weights = input.context.input_shape(1);
    if (!weights.has_rank() || weights.rank() != 4 || weights.dim(3) != Dim::Of(1))
      return absl::UnimplementedError("depthwise weights with a multiplier and a range for each channel");
  }
  std::vector<int> inputs = {chain.Real(0, x_steps), chain.Real(1, w_steps, axis)};
  if (at.bias >= 0 && result.input_types[at.bias] == DataType::kInt32) {  // in steps of the products
    Steps steps = w_steps;
    for (float& scale : steps.scales) scale *= x_steps.scales[0];
    Attributes attributes;
    if (steps.scales.size() > 1) attributes.Set("axis", int64_t{0});
    inputs.push_back(result.AddHelper(OpKind::kDequantizeLinear, {at.bias, chain.ScaleOf(steps)}, DataType::kFloat32,
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
    chain.Then(OpKind::kAdd, {kPrevious, summand});
  }
  if (Says(input, "AndRelu")) chain.Then(OpKind::kRelu, {kPrevious});
  if (at.out_low < 0) return chain.FinishReal(ProductEnds(x_steps, w_steps));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<EndsOfRange> ends, chain.Ends(at.out_low, at.out_low + 1));
  return chain.FinishQuantized(ends, Reading::kScaled);
}

absl::StatusOr<bool> ReadQuantizedBiasAdd(const RuleInput& input, ConvertedNode& result) {
  Chain chain(input, result);
  HALFTONE_ASSIGN_OR_RETURN(const int x, chain.Real(0, 2, 3, Reading::kAffine));
  HALFTONE_ASSIGN_OR_RETURN(const int bias, chain.Real(1, 4, 5, Reading::kAffine));
  Attributes attributes;
  attributes.Set("layout", std::string("NHWC"));
  chain.Then(OpKind::kBiasAdd, {x, bias}, std::move(attributes));
  // What is read of 32 bits is the number itself, so that any range will do.
  return chain.FinishReal({EndsOfRange{-1, 1}});
}

// One input, whose range the result has, too.
absl::StatusOr<bool> ReadQuantizedUnary(const RuleInput& input, ConvertedNode& result) {
  Chain chain(input, result);
  const bool reshapes = Says(input, "Reshape"), max_pools = Says(input, "MaxPool");
  const int low = reshapes ? 2 : 1;
  const bool is_real = chain.IsReal(0);
  std::vector<EndsOfRange> ends = {EndsOfRange{-1, 1}};
  if (!is_real) {
    HALFTONE_ASSIGN_OR_RETURN(ends, chain.Ends(low, low + 1));
  }
  if (reshapes || max_pools) {  // integers as they are
    if (is_real) result.input_types[0] = DataType::kUnknown;
    if (reshapes) chain.Then(OpKind::kReshape, {0, 1});
    if (max_pools) chain.Then(OpKind::kMaxPool, {0}, chain.attributes());
    return is_real ? chain.FinishReal(ends) : chain.FinishIntegers(ends);
  }
  const bool is_relu = Says(input, "Relu");
  const Reading reading = is_relu || chain.IsU8(0) ? Reading::kAffine : Reading::kScaled;
  HALFTONE_ASSIGN_OR_RETURN(const int x, chain.Real(0, low, low + 1, reading));
  chain.Then(!is_relu               ? OpKind::kAveragePool
             : Says(input, "Relu6") ? OpKind::kRelu6
                                    : OpKind::kRelu,
             {x}, is_relu ? Attributes() : chain.attributes());
  return is_real ? chain.FinishReal(ends) : chain.FinishQuantized(ends, reading);
}

// The range of the result holds those of all inputs.
absl::StatusOr<bool> ReadQuantizedConcat(const RuleInput& input, ConvertedNode& result) {
  Chain chain(input, result);
  HALFTONE_ASSIGN_OR_RETURN(const int64_t count, input.Int("N", 0));
  const auto axis = input.context.constant_ints(0);
  if (!axis.has_value() || axis->size() != 1) return absl::UnimplementedError("a dimension that is no constant");
  const int n = static_cast<int>(count);
  std::vector<int> inputs;
  EndsOfRange all;
  for (int i = 0; i < n; ++i) {
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<EndsOfRange> ends, chain.Ends(1 + n + i, 1 + 2 * n + i));
    HALFTONE_ASSIGN_OR_RETURN(const int x, chain.Real(1 + i, 1 + n + i, 1 + 2 * n + i, Reading::kAffine));
    all = {std::min(all.low, ends[0].low), std::max(all.high, ends[0].high)};
    inputs.push_back(x);
  }
  Attributes attributes;
  attributes.Set("axis", (*axis)[0]);
  chain.Then(OpKind::kConcat, inputs, std::move(attributes));
  return chain.FinishQuantized({all}, Reading::kAffine);
}

}  // namespace halftone::graphdef

// SPDX-License-Identifier: Apache-2.0
// Between real numbers and integers by scale and zero point, and contractions of integers. Scales, quotients and
// products are in f32, as the formats define them, because ties depend on it.

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/reference/elementwise_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/reference/math_internal.h"

namespace halftone::reference {
namespace {

// The index in `scale` (or in a zero point) for each element of x: per tensor, per position along `axis`, or per block
// of `block_size` positions along it.
absl::StatusOr<std::vector<int64_t>> ScaleOffsets(const Call& call, const Tensor& scale, std::string_view what) {
  const Tensor& x = call.in(0);
  if (scale.num_elements() == 1) return std::vector<int64_t>(x.num_elements(), 0);
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(call.attributes().Int("axis", 1), x.rank()));
  const int64_t block = call.attributes().Int("block_size", 0);
  if (block < 0) return Error("block_size is ", block, ", need at least 0");
  Dims strides(x.rank(), 0);
  if (block == 0) {
    if (scale.rank() != 1 || scale.dims()[0] != x.dims()[axis]) {
      return Error(what, " is ", scale.shape().ToString(), ", need a scalar or [", x.dims()[axis], "]");
    }
    strides[axis] = 1;
    return Offsets(x.dims(), strides);
  }
  Dims blocks = x.dims();
  blocks[axis] = (blocks[axis] + block - 1) / block;
  if (scale.dims() != blocks) {
    return Error(what, " is ", scale.shape().ToString(), ", need ", Shape::Of(blocks).ToString(), ": one per block of ",
                 block);
  }
  // The offset in whole blocks, and the stride of one block.
  Dims outer = RowMajorStrides(blocks);
  const int64_t step = outer[axis];
  outer[axis] = 0;
  strides[axis] = 1;
  std::vector<int64_t> offsets = Offsets(x.dims(), outer);
  const std::vector<int64_t> positions = Offsets(x.dims(), strides);
  for (size_t i = 0; i < offsets.size(); ++i) offsets[i] += positions[i] / block * step;
  return offsets;
}

// One zero point per element of `scale`; zeros if the input is absent.
absl::StatusOr<std::vector<double>> ZeroPoints(const Call& call, const Tensor& scale) {
  if (!call.has(2)) return std::vector<double>(scale.num_elements(), 0.0);
  const Tensor& zero_point = call.in(2);
  if (zero_point.num_elements() == 1) return std::vector<double>(scale.num_elements(), zero_point.ToDoubles()[0]);
  if (zero_point.dims() != scale.dims()) {
    return Error("zero_point is ", zero_point.shape().ToString(), ", scale ", scale.shape().ToString());
  }
  return zero_point.ToDoubles();
}

}  // namespace

Outputs QuantizeLinear(const Call& call) {
  const Tensor& scale = call.in(1);
  if (!IsInteger(call.type())) return Error("y is ", DataTypeName(call.type()), ", need integers");
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<int64_t> at, ScaleOffsets(call, scale, "scale"));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<double> zero_points, ZeroPoints(call, scale));
  const std::vector<float> scales = scale.ToFloats(), x = call.in(0).ToFloats();
  std::vector<double> y(x.size());
  for (size_t i = 0; i < y.size(); ++i) y[i] = std::nearbyint(x[i] / scales[at[i]]) + zero_points[at[i]];
  return std::vector<Tensor>{FromDoubles(call.type(), call.in(0).dims(), y)};  // saturates
}

Outputs DequantizeLinear(const Call& call) {
  const Tensor& scale = call.in(1);
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<int64_t> at, ScaleOffsets(call, scale, "scale"));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<double> zero_points, ZeroPoints(call, scale));
  const std::vector<double> scales = scale.ToDoubles();
  std::vector<double> y = call.in(0).ToDoubles();
  for (size_t i = 0; i < y.size(); ++i) y[i] = (y[i] - zero_points[at[i]]) * scales[at[i]];
  return std::vector<Tensor>{FromDoubles(call.type(), call.in(0).dims(), y)};
}

// Maps the range of x, extended to include 0, to 0 to 255.
Outputs DynamicQuantizeLinear(const Call& call) {
  const std::vector<float> x = call.in(0).ToFloats();
  float low = 0, high = 0;
  for (const float element : x) {
    low = std::min(low, element);
    high = std::max(high, element);
  }
  const float scale = low == high ? 1.0f : (high - low) / 255.0f;
  const double zero_point = std::nearbyint(std::clamp(-low / scale, 0.0f, 255.0f));
  std::vector<double> y(x.size());
  for (size_t i = 0; i < y.size(); ++i) y[i] = std::nearbyint(x[i] / scale) + zero_point;
  const auto type = [&call](size_t i, DataType usual) { return call.wants(i) ? call.types[i] : usual; };
  return std::vector<Tensor>{FromDoubles(type(0, DataType::kUInt8), call.in(0).dims(), y),
                             FromDoubles(type(1, DataType::kFloat32), {}, {scale}),
                             FromDoubles(type(2, DataType::kUInt8), {}, {zero_point})};
}

// ---- TensorFlow's ops.

namespace {

// Low and high: scalars, or one per position along the axis.
struct Ranges {
  std::vector<float> low, high;
  std::vector<int64_t> at;  // the index for each element of x
};

absl::StatusOr<Ranges> ReadRanges(const Call& call, bool along_axis, int64_t written_axis) {
  const Tensor& x = call.in(0);
  Ranges ranges{call.in(1).ToFloats(), call.in(2).ToFloats(), std::vector<int64_t>(x.num_elements(), 0)};
  int64_t need = 1;
  if (along_axis) {
    HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(written_axis, x.rank()));
    Dims strides(x.rank(), 0);
    strides[axis] = 1;
    need = x.dims()[axis];
    ranges.at = Offsets(x.dims(), strides);
  }
  for (const size_t i : {1, 2}) {
    if (call.in(i).num_elements() != need) {
      return Error(i == 1 ? "low" : "high", " is ", call.in(i).shape().ToString(), ", need ", need, " elements");
    }
  }
  return ranges;
}

// A range in which 0 is exactly one of the steps.
struct Nudged {
  float low, high, scale;
};
Nudged Nudge(float low, float high, float first, float last) {
  const float scale = (high - low) / (last - first);
  const float from_low = first - low / scale;
  const float zero = from_low < first ? first : from_low > last ? last : std::round(from_low);
  return {(first - zero) * scale, (last - zero) * scale, scale};
}

}  // namespace

Outputs FakeQuant(const Call& call) {
  const int64_t bits = call.attributes().Int("num_bits", 8);
  if (bits < 2 || bits > 16) return Error("num_bits is ", bits, ", need 2 to 16");
  const float first = call.attributes().Bool("narrow_range", false) ? 1.0f : 0.0f;
  const float last = static_cast<float>((1 << bits) - 1);
  HALFTONE_ASSIGN_OR_RETURN(const Ranges ranges,
                            ReadRanges(call, call.attributes().has("axis"), call.attributes().Int("axis", 0)));
  const std::vector<float> x = call.in(0).ToFloats();
  std::vector<double> y(x.size());
  for (size_t i = 0; i < y.size(); ++i) {
    const float low = ranges.low[ranges.at[i]], high = ranges.high[ranges.at[i]];
    if (low == 0 && high == 0) continue;  // only 0 can be represented
    const Nudged range = Nudge(low, high, first, last);
    const float inverse = 1.0f / range.scale;
    const float zero = std::floor(-range.low * inverse + 0.5f);
    const float clamped = std::max(std::min(x[i], range.high), range.low);
    y[i] = std::floor((clamped - range.low) * inverse - zero + 0.5f) * range.scale;
  }
  return std::vector<Tensor>{FromDoubles(call.type(), call.in(0).dims(), y)};
}

namespace {

// Bounds of an integer type of at most 32 bits.
struct Bounds {
  double low, high;
};
absl::StatusOr<Bounds> BoundsOf(DataType type) {
  const double bits = 8 * static_cast<double>(ElementSize(type));
  if (!IsInteger(type) || bits > 32) return Error("x is ", DataTypeName(type), ", need integers of at most 32 bits");
  const bool is_unsigned = type == DataType::kUInt8 || type == DataType::kUInt16 || type == DataType::kUInt32;
  const double steps = std::exp2(bits);
  return is_unsigned ? Bounds{0, steps - 1} : Bounds{-steps / 2, steps / 2 - 1};
}

}  // namespace

Outputs DequantizeRange(const Call& call) {
  const Tensor& x = call.in(0);
  const std::string mode = call.attributes().String("mode", "MIN_COMBINED");
  HALFTONE_ASSIGN_OR_RETURN(const Bounds bounds, BoundsOf(x.type()));
  const int64_t axis = call.attributes().Int("axis", -1);
  HALFTONE_ASSIGN_OR_RETURN(const Ranges ranges, ReadRanges(call, axis != -1, axis));
  const double steps = bounds.high - bounds.low + 1;
  std::vector<double> y = x.ToDoubles();
  for (size_t i = 0; i < y.size(); ++i) {
    const double low = ranges.low[ranges.at[i]], high = ranges.high[ranges.at[i]];
    if (mode == "MIN_COMBINED") {
      y[i] = low + (y[i] - bounds.low) * ((high - low) / (steps - 1));
    } else if (mode == "MIN_FIRST") {
      const double scale = (high - low) / (steps - 1);
      y[i] = scale == 0 ? low : (std::round(low / scale) + y[i] - bounds.low) * scale;
    } else if (mode == "SCALED") {
      const double lowest = bounds.low + (call.attributes().Bool("narrow_range", false) ? 1 : 0);
      y[i] *= bounds.low == 0 ? high / bounds.high : std::max(low / lowest, high / bounds.high);
    } else {
      return Error("mode is '", mode, "', need MIN_COMBINED, MIN_FIRST or SCALED");
    }
  }
  return std::vector<Tensor>{FromDoubles(call.type(), x.dims(), y)};
}

// ---- Contractions of integers.

namespace {

// x - zero_point in f64, which is exact; `zero_dims`: the shape of the zero point that broadcasts to x.
absl::StatusOr<Tensor> Centered(const Tensor& x, const Tensor& zero_point, const Dims& zero_dims,
                                std::string_view what) {
  if (Count(zero_dims) != zero_point.num_elements() ||
      BroadcastDims(x.dims(), zero_dims).value_or(Dims()) != x.dims()) {
    return Error(what, " is ", zero_point.shape().ToString(), ", which does not fit ", x.shape().ToString());
  }
  return FromDoubles(DataType::kFloat64, x.dims(),
                     CombineAll<double>(x, zero_point.WithDims(zero_dims), x.dims(), std::minus<double>()));
}

absl::Status CheckIntegers(const Call& call) {
  for (const size_t i : {0, 1}) {
    if (!IsInteger(call.in(i).type()) || ElementSize(call.in(i).type()) > 2) {
      return Error("input ", i, " is ", DataTypeName(call.in(i).type()), ", need integers of 8 bits");
    }
  }
  return absl::OkStatus();
}

const Tensor& ZeroPoint(const Call& call, size_t i) {
  static const Tensor* const zero = new Tensor(Tensor::IntScalar(0));
  return call.has(i) ? call.in(i) : *zero;
}

}  // namespace

Outputs ConvInteger(const Call& call) {
  HALFTONE_RETURN_IF_ERROR(CheckIntegers(call));
  const Tensor& x_zero = ZeroPoint(call, 2);
  const Tensor& weights_zero = ZeroPoint(call, 3);
  if (x_zero.num_elements() != 1) return Error("x_zero_point is ", x_zero.shape().ToString(), ", need a scalar");
  Dims along(call.in(1).rank(), 1);
  if (weights_zero.num_elements() != 1) {  // one per output channel
    if (call.attributes().String("weights_layout", "OIHW") != "OIHW") {
      return absl::UnimplementedError("zero points per channel need weights in OIHW");
    }
    if (along.empty()) return Error("weights are a scalar");
    along[0] = weights_zero.num_elements();
  }
  HALFTONE_ASSIGN_OR_RETURN(Tensor x, Centered(call.in(0), x_zero, {}, "x_zero_point"));
  HALFTONE_ASSIGN_OR_RETURN(Tensor weights, Centered(call.in(1), weights_zero, along, "weights_zero_point"));
  const std::vector<Tensor> operands = {std::move(x), std::move(weights)};
  return Conv(Call{call.graph, call.node, operands, call.types});
}

Outputs MatMulInteger(const Call& call) {
  HALFTONE_RETURN_IF_ERROR(CheckIntegers(call));
  const Tensor& a_zero = ZeroPoint(call, 2);
  const Tensor& b_zero = ZeroPoint(call, 3);
  // A vector has one zero point per row of a, or per column of b.
  const Dims rows = a_zero.num_elements() == 1 ? Dims{}
                    : a_zero.rank() == 1       ? Dims{a_zero.num_elements(), 1}
                                               : a_zero.dims();
  const Dims columns = b_zero.num_elements() == 1 ? Dims{} : b_zero.dims();
  HALFTONE_ASSIGN_OR_RETURN(Tensor a, Centered(call.in(0), a_zero, rows, "a_zero_point"));
  HALFTONE_ASSIGN_OR_RETURN(Tensor b, Centered(call.in(1), b_zero, columns, "b_zero_point"));
  const std::vector<Tensor> operands = {std::move(a), std::move(b)};
  return MatMul(Call{call.graph, call.node, operands, call.types});
}

// Rounds like the ops that it replaces: cast, the multiplication of the scales, their multiplication with the sums, the
// bias.
Outputs MatMulIntegerToFloat(const Call& call) {
  const auto given = [&call](size_t i) { return call.has(i) ? call.in(i) : Tensor(); };
  const std::vector<Tensor> operands = {call.in(0), call.in(1), given(4), given(5)};
  const std::vector<DataType> types = {DataType::kInt32};
  Node bare = call.node;  // without the activation
  bare.attributes = {};
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Tensor> result, MatMulInteger(Call{call.graph, bare, operands, types}));
  HALFTONE_ASSIGN_OR_RETURN(const FusedActivation activation, FusedActivation::Of(call.attributes()));
  const std::vector<int64_t> sums = result[0].ToInts();
  const Tensor &a_scale = call.in(2), &b_scale = call.in(3);
  if (call.in(1).rank() < 2) return Error("b is ", call.in(1).shape().ToString(), ", need a matrix");
  const int64_t columns = result[0].dims().back();
  if (a_scale.num_elements() != 1) return Error("a_scale is ", a_scale.shape().ToString(), ", need one number");
  if (b_scale.num_elements() != 1 && b_scale.dims() != Dims{columns}) {
    return Error("b_scale is ", b_scale.shape().ToString(), ", need one number or [", columns, "]");
  }
  if (call.has(6) && call.in(6).dims() != Dims{columns}) {
    return Error("bias is ", call.in(6).shape().ToString(), ", need [", columns, "]");
  }
  const float scale = a_scale.ToFloats()[0];
  const std::vector<float> b_scales = b_scale.ToFloats();
  const std::vector<float> bias = call.has(6) ? call.in(6).ToFloats() : std::vector<float>(columns, 0.0f);
  std::vector<double> y(sums.size());
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t column = i % bias.size();
    const float step = scale * b_scales[b_scales.size() == 1 ? 0 : column];
    const float number = static_cast<float>(sums[i]) * step;
    const float biased = number + bias[column];
    y[i] = activation(biased);
  }
  return std::vector<Tensor>{FromDoubles(call.type(), result[0].dims(), y)};
}

}  // namespace halftone::reference

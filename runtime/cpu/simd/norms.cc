// SPDX-License-Identifier: Apache-2.0
// layer_norm with statistics, rms_norm; instance_norm with its activation, group_norm; lp_norm: two or three passes
// over rows that stay in the cache.
#include <algorithm>
#include <cmath>

#include "ir/window.h"
#include "runtime/cpu/simd/kernels.h"
#include "runtime/cpu/simd/loop_step.h"
#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/round_floats.h"
#include "runtime/cpu/simd/row_activation.h"
#include "runtime/cpu/simd/simd.h"

namespace halftone::simd {
namespace {

using Dims = std::vector<int64_t>;

constexpr int64_t kBlock = 4096;   // f32 sums of so many elements are exact enough; blocks are summed in f64
constexpr int64_t kGrain = 16384;  // elements
constexpr int64_t kPiece = 1024;   // elements between which an activation changes with what stands before it

// Sum of (x - shift)^2, or of x where `square` is false.
template <typename T>
HALFTONE_INLINE float SumBlock(const T* x, int64_t count, float shift, bool square) {
  float sum = 0;
  if (square) {
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; ++i) {
      const float d = Load(x + i) - shift;
      sum += d * d;
    }
  } else {
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; ++i) sum += Load(x + i);
  }
  return sum;
}

template <typename T>
HALFTONE_INLINE double SumRow(const T* x, int64_t count, float shift, bool square) {
  double sum = 0;
  for (int64_t i = 0; i < count; i += kBlock)
    sum += static_cast<double>(SumBlock(x + i, std::min(kBlock, count - i), shift, square));
  return sum;
}

// y = (x - mean) * factor * scale + offset with one scale and offset an element; offset may be null.
template <typename T>
HALFTONE_INLINE void AffineRow(const T* x, T* y, int64_t count, float mean, float factor, const float* scale,
                               const float* offset) {
  if (offset == nullptr) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) Store(y + i, (Load(x + i) - mean) * factor * scale[i]);
  } else {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) Store(y + i, (Load(x + i) - mean) * factor * scale[i] + offset[i]);
  }
}

struct RowNorm {
  int64_t size = 0;
  float epsilon = 0;
  bool rms = false;
};

template <typename T>
HALFTONE_INLINE void NormRows(const RowNorm& n, const T* x, T* y, const float* scale, const float* offset, float* means,
                              float* inverses, int64_t first, int64_t last) {
  for (int64_t r = first; r < last; ++r) {
    const T* row = x + r * n.size;
    const float mean = n.rms ? 0 : static_cast<float>(SumRow(row, n.size, 0, false) / static_cast<double>(n.size));
    const double variance = SumRow(row, n.size, mean, true) / static_cast<double>(n.size);
    const float inverse = static_cast<float>(1 / std::sqrt(variance + static_cast<double>(n.epsilon)));
    AffineRow(row, y + r * n.size, n.size, mean, inverse, scale, offset);
    if (means != nullptr) means[r] = mean;
    if (inverses != nullptr) inverses[r] = inverse;
  }
}
HALFTONE_SIMD void NormRowsF32(const RowNorm& n, const float* x, float* y, const float* scale, const float* offset,
                               float* means, float* inverses, int64_t first, int64_t last) {
  NormRows(n, x, y, scale, offset, means, inverses, first, last);
}
HALFTONE_SIMD void NormRowsBf16(const RowNorm& n, const uint16_t* x, uint16_t* y, const float* scale,
                                const float* offset, float* means, float* inverses, int64_t first, int64_t last) {
  NormRows(n, x, y, scale, offset, means, inverses, first, last);
}

struct GroupNorm {
  int64_t groups = 0, members = 0, plane = 0;
  float epsilon = 0;
  bool per_group = false;
  // The activation of instance_norm: a clamp, leaky_relu, another.
  std::optional<ActivationClamp> clamp;
  bool leaks = false;
  ActivateRow activate = nullptr;
  float alpha = 0, beta = 0;
  decltype(RoundFunctions::to_bf16) round = RoundFunctionsForThisCpu().front().to_bf16;
};

// (x - mean) * factor + offset
struct Affine {
  float mean, factor, offset;
  HALFTONE_INLINE float operator()(float x) const { return (x - mean) * factor + offset; }
};

// y = of(x); in bf16 by pieces that stay in the nearest cache, so that many numbers are rounded at once.
template <typename F>
HALFTONE_INLINE void Map(const GroupNorm&, const float* x, float* y, int64_t count, const F& of) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) y[i] = of(x[i]);
}
template <typename F>
HALFTONE_INLINE void Map(const GroupNorm& n, const uint16_t* x, uint16_t* y, int64_t count, const F& of) {
  float numbers[kPiece];
  for (int64_t begin = 0; begin < count; begin += kPiece) {
    const int64_t size = std::min(kPiece, count - begin);
#pragma omp simd
    for (int64_t i = 0; i < size; ++i) numbers[i] = of(Load(x + begin + i));
    n.round(numbers, y + begin, size);
  }
}

// y = affine(x), then the activation, piece by piece.
HALFTONE_INLINE void MapAndActivate(const GroupNorm& n, const float* x, float* y, int64_t count, const Affine& affine) {
  for (int64_t begin = 0; begin < count; begin += kPiece) {
    const int64_t size = std::min(kPiece, count - begin);
    Map(n, x + begin, y + begin, size, affine);
    n.activate(y + begin, y + begin, size, n.alpha, n.beta);
  }
}
HALFTONE_INLINE void MapAndActivate(const GroupNorm& n, const uint16_t* x, uint16_t* y, int64_t count,
                                    const Affine& affine) {
  float numbers[kPiece];
  for (int64_t begin = 0; begin < count; begin += kPiece) {
    const int64_t size = std::min(kPiece, count - begin);
#pragma omp simd
    for (int64_t i = 0; i < size; ++i) numbers[i] = affine(Load(x + begin + i));
    n.activate(numbers, numbers, size, n.alpha, n.beta);
    n.round(numbers, y + begin, size);
  }
}

// One channel. Activations of a step or two need no pass of their own.
template <typename T>
HALFTONE_INLINE void NormChannel(const GroupNorm& n, const T* x, T* y, const Affine& affine) {
  if (n.clamp.has_value()) {
    Map(n, x, y, n.plane, [affine, low = n.clamp->low, high = n.clamp->high](float number) {
      float v = affine(number);
      v = v < low ? low : v;
      return v > high ? high : v;
    });
  } else if (n.leaks) {
    Map(n, x, y, n.plane, [affine, slope = n.alpha](float number) {
      const float v = affine(number);
      return v < 0 ? slope * v : v;
    });
  } else if (n.activate != nullptr) {
    MapAndActivate(n, x, y, n.plane, affine);
  } else {
    Map(n, x, y, n.plane, affine);
  }
}

template <typename T>
HALFTONE_INLINE void NormGroups(const GroupNorm& n, const T* x, T* y, const float* scale, const float* offset,
                                int64_t first, int64_t last) {
  const int64_t size = n.members * n.plane;
  for (int64_t g = first; g < last; ++g) {
    const T* group = x + g * size;
    const float mean = static_cast<float>(SumRow(group, size, 0, false) / static_cast<double>(size));
    const double variance = SumRow(group, size, mean, true) / static_cast<double>(size);
    const float inverse = static_cast<float>(1 / std::sqrt(variance + static_cast<double>(n.epsilon)));
    for (int64_t c = 0; c < n.members; ++c) {
      const int64_t parameter = n.per_group ? g % n.groups : g % n.groups * n.members + c;
      const T* from = group + c * n.plane;
      T* to = y + g * size + c * n.plane;
      NormChannel(n, from, to, {mean, inverse * scale[parameter], offset[parameter]});
    }
  }
}
HALFTONE_SIMD void NormGroupsF32(const GroupNorm& n, const float* x, float* y, const float* scale, const float* offset,
                                 int64_t first, int64_t last) {
  NormGroups(n, x, y, scale, offset, first, last);
}
HALFTONE_SIMD void NormGroupsBf16(const GroupNorm& n, const uint16_t* x, uint16_t* y, const float* scale,
                                  const float* offset, int64_t first, int64_t last) {
  NormGroups(n, x, y, scale, offset, first, last);
}

// x as [outer, size, inner], normalized along the middle. `sums`: `inner` numbers.
template <typename T>
HALFTONE_INLINE void LpNormBlock(const T* x, T* y, int64_t size, int64_t inner, bool square, float* sums) {
  std::fill(sums, sums + inner, 0.0f);
  for (int64_t k = 0; k < size; ++k) {
#pragma omp simd
    for (int64_t i = 0; i < inner; ++i) {
      const float element = Load(x + k * inner + i);
      sums[i] += square ? element * element : std::abs(element);
    }
  }
  for (int64_t i = 0; i < inner; ++i) {
    const float norm = square ? std::sqrt(sums[i]) : sums[i];
    sums[i] = norm == 0 ? 0 : 1 / norm;
  }
  for (int64_t k = 0; k < size; ++k) {
#pragma omp simd
    for (int64_t i = 0; i < inner; ++i) Store(y + k * inner + i, Load(x + k * inner + i) * sums[i]);
  }
}
HALFTONE_SIMD void LpNormF32(const float* x, float* y, int64_t size, int64_t inner, bool square, float* sums) {
  LpNormBlock(x, y, size, inner, square, sums);
}
HALFTONE_SIMD void LpNormBf16(const uint16_t* x, uint16_t* y, int64_t size, int64_t inner, bool square, float* sums) {
  LpNormBlock(x, y, size, inner, square, sums);
}
// Rows: the middle is the last dimension.
template <typename T>
HALFTONE_INLINE void LpNormRow(const T* x, T* y, int64_t size, bool square) {
  double sum = 0;
  if (square) {
    sum = std::sqrt(SumRow(x, size, 0, true));
  } else {
    for (int64_t i = 0; i < size; ++i) sum += static_cast<double>(std::abs(Load(x + i)));
  }
  const float factor = sum == 0 ? 0 : static_cast<float>(1 / sum);
#pragma omp simd
  for (int64_t i = 0; i < size; ++i) Store(y + i, Load(x + i) * factor);
}
HALFTONE_SIMD void LpNormRowF32(const float* x, float* y, int64_t size, bool square) { LpNormRow(x, y, size, square); }
HALFTONE_SIMD void LpNormRowBf16(const uint16_t* x, uint16_t* y, int64_t size, bool square) {
  LpNormRow(x, y, size, square);
}

int64_t Count(std::span<const int64_t> dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}

// Whether a parameter of these dimensions has one number for each element that is normalized together.
bool IsOneARow(const Dims& parameter, const Dims& dims, int64_t axis) {
  if (parameter.size() > dims.size()) return false;
  const size_t missing = dims.size() - parameter.size();
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t size = i < missing ? 1 : parameter[i - missing];
    if (size != (static_cast<int64_t>(i) < axis ? 1 : dims[i])) return false;
  }
  return true;
}

// A Prepared with x and y plain in the type in which the loops compute, parameters in f32.
absl::StatusOr<Prepared> Start(const NodeContext& context, int parameters) {
  const std::optional<DataType> type = ComputedType(context.InputType(0));
  if (!type.has_value() || context.OutputType() != context.InputType(0))
    return absl::UnimplementedError("for f32, bf16 and f16");
  Prepared prepared{.inputs = {{0, Placement{*type}}}, .kernel = "loop"};
  for (int i = 1; i <= parameters; ++i) {
    if (context.HasInput(i)) prepared.inputs.push_back({i, Placement{DataType::kFloat32}});
  }
  prepared.outputs.assign(context.node().outputs.size(), Placement{DataType::kFloat32});
  prepared.outputs[0] = Placement{*type};
  prepared.may_overwrite = 0;
  return prepared;
}

absl::StatusOr<Prepared> PrepareRows(const NodeContext& context) {
  absl::StatusOr<Prepared> prepared = Start(context, 2);
  if (!prepared.ok()) return prepared;
  const Dims dims = context.InputDims(0);
  const int64_t rank = static_cast<int64_t>(dims.size());
  const int64_t given = context.node().attributes.Int("axis", -1);
  const int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) return absl::InvalidArgumentError("the axis is out of range");
  const int64_t rows = Count(std::span(dims).first(axis));
  const RowNorm norm{.size = Count(std::span(dims).subspan(axis)),
                     .epsilon = context.node().attributes.Float("epsilon", 1e-5f),
                     .rms = context.node().op == OpKind::kRmsNorm};
  if (rows == 0 || norm.size == 0) return absl::UnimplementedError("nothing to normalize");
  for (int i = 1; i <= 2; ++i) {
    if (context.HasInput(i) && !IsOneARow(context.InputDims(i), dims, axis))
      return absl::UnimplementedError("parameters are not one an element of a row");
  }
  const bool bf16 = prepared->outputs[0].type == DataType::kBFloat16;
  const bool has_offset = prepared->inputs.size() > 2;
  prepared->step = std::make_unique<LoopStep>([=](const Memory& m) {
    const float* offset = has_offset ? m.in<float>(2) : nullptr;
    const size_t last_output = m.outputs.size() - 1;  // the inverses; rms_norm has no mean
    float* means = !norm.rms && m.outputs.size() > 1 ? m.out<float>(1) : nullptr;
    float* inverses = last_output >= (norm.rms ? 1u : 2u) ? m.out<float>(last_output) : nullptr;
    ParallelFor(rows, kGrain / norm.size + 1, [&](int64_t first, int64_t last) {
      if (bf16) {
        NormRowsBf16(norm, m.in<uint16_t>(0), m.out<uint16_t>(0), m.in<float>(1), offset, means, inverses, first, last);
      } else {
        NormRowsF32(norm, m.in<float>(0), m.out<float>(0), m.in<float>(1), offset, means, inverses, first, last);
      }
    });
    return absl::OkStatus();
  });
  return prepared;
}

absl::StatusOr<Prepared> PrepareGroups(const NodeContext& context) {
  absl::StatusOr<Prepared> prepared = Start(context, 2);
  if (!prepared.ok()) return prepared;
  const Attributes& attributes = context.node().attributes;
  const Dims dims = context.InputDims(0);
  if (dims.size() < 2 || (IsChannelsLast(attributes) && dims.size() > 2))
    return absl::UnimplementedError("for channels first");
  const bool instance = context.node().op == OpKind::kInstanceNorm;
  GroupNorm norm{.groups = instance ? dims[1] : attributes.Int("num_groups", 1),
                 .plane = Count(std::span(dims).subspan(2)),
                 .epsilon = attributes.Float("epsilon", 1e-5f),
                 .per_group = !instance && attributes.Bool("per_group", false)};
  const Activation activation = ActivationFromName(attributes.String("activation", "")).value_or(Activation::kNone);
  norm.alpha = attributes.Float("activation_alpha", ParametersOf(activation).alpha);
  norm.beta = attributes.Float("activation_beta", ParametersOf(activation).beta);
  norm.clamp = ClampOf(activation, norm.alpha, norm.beta);
  norm.leaks = activation == Activation::kLeakyRelu;
  norm.activate = RowActivation(activation);
  if (norm.groups < 1 || dims[1] % norm.groups != 0 || Count(dims) == 0)
    return absl::UnimplementedError("nothing to normalize, or groups of different sizes");
  norm.members = dims[1] / norm.groups;
  for (int i = 1; i <= 2; ++i) {
    if (Count(context.InputDims(i)) != (norm.per_group ? norm.groups : dims[1]))
      return absl::InvalidArgumentError("a parameter is not one a channel or group");
  }
  const bool bf16 = prepared->outputs[0].type == DataType::kBFloat16;
  const int64_t count = dims[0] * norm.groups;
  prepared->step = std::make_unique<LoopStep>([=](const Memory& m) {
    ParallelFor(count, kGrain / (norm.members * norm.plane) + 1, [&](int64_t first, int64_t last) {
      if (bf16) {
        NormGroupsBf16(norm, m.in<uint16_t>(0), m.out<uint16_t>(0), m.in<float>(1), m.in<float>(2), first, last);
      } else {
        NormGroupsF32(norm, m.in<float>(0), m.out<float>(0), m.in<float>(1), m.in<float>(2), first, last);
      }
    });
    return absl::OkStatus();
  });
  return prepared;
}

absl::StatusOr<Prepared> PrepareLpNorm(const NodeContext& context) {
  absl::StatusOr<Prepared> prepared = Start(context, 0);
  if (!prepared.ok()) return prepared;
  const Dims dims = context.InputDims(0);
  const int64_t rank = static_cast<int64_t>(dims.size());
  const int64_t given = context.node().attributes.Int("axis", -1), p = context.node().attributes.Int("p", 2);
  const int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank || (p != 1 && p != 2)) return absl::InvalidArgumentError("axis or p is out of range");
  const int64_t outer = Count(std::span(dims).first(axis)), size = dims[axis];
  const int64_t inner = Count(std::span(dims).subspan(axis + 1));
  if (outer * size * inner == 0) return absl::UnimplementedError("nothing to normalize");
  const bool bf16 = prepared->outputs[0].type == DataType::kBFloat16, square = p == 2;
  prepared->scratch_bytes = inner == 1 ? 0 : static_cast<size_t>(outer * inner) * sizeof(float);
  prepared->step = std::make_unique<LoopStep>([=](const Memory& m) {
    ParallelFor(outer, kGrain / (size * inner) + 1, [&](int64_t first, int64_t last) {
      for (int64_t o = first; o < last; ++o) {
        const int64_t at = o * size * inner;
        float* sums = reinterpret_cast<float*>(m.scratch) + o * inner;
        if (inner == 1 && bf16) LpNormRowBf16(m.in<uint16_t>(0) + at, m.out<uint16_t>(0) + at, size, square);
        if (inner == 1 && !bf16) LpNormRowF32(m.in<float>(0) + at, m.out<float>(0) + at, size, square);
        if (inner > 1 && bf16) LpNormBf16(m.in<uint16_t>(0) + at, m.out<uint16_t>(0) + at, size, inner, square, sums);
        if (inner > 1 && !bf16) LpNormF32(m.in<float>(0) + at, m.out<float>(0) + at, size, inner, square, sums);
      }
    });
    return absl::OkStatus();
  });
  return prepared;
}

class NormKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    if (context.OutputType() != context.InputType(0)) return absl::UnimplementedError("a result of another type");
    switch (context.node().op) {
      case OpKind::kLayerNorm:
      case OpKind::kRmsNorm:
        return PrepareRows(context);
      case OpKind::kInstanceNorm:
      case OpKind::kGroupNorm:
        return PrepareGroups(context);
      case OpKind::kLpNorm:
        return PrepareLpNorm(context);
      default:
        return absl::UnimplementedError("no loop for this op");
    }
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeNormKernel() { return std::make_unique<NormKernel>(); }

}  // namespace halftone::simd

// SPDX-License-Identifier: Apache-2.0
// quantize_linear and dequantize_linear with one scale, or one per position along an axis, dynamic_quantize_linear and
// fake_quant: memory-bound loops.
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "base/strings.h"
#include "runtime/cpu/simd/elementwise.h"
#include "runtime/cpu/simd/kernels.h"
#include "runtime/cpu/simd/loop_step.h"
#include "runtime/cpu/simd/parallel.h"

namespace halftone::simd {
namespace {

constexpr int64_t kGrain = 8192;

// x as [outer, channels, inner], with one scale per channel.
struct Geometry {
  int64_t outer = 1, channels = 1, inner = 1;
};

// One channel's part. NaN becomes 0, as in the reference.
template <typename To>
HALFTONE_INLINE To Quantized(float x, float scale, float zero_point) {
  constexpr float kLow = std::numeric_limits<To>::lowest(), kHigh = std::numeric_limits<To>::max();
  const float y = std::nearbyint(x / scale) + zero_point;
  const float raised = y < kLow ? kLow : y;
  const float clipped = raised > kHigh ? kHigh : raised;
  return static_cast<To>(static_cast<int32_t>(clipped != clipped ? 0.0f : clipped));
}
// s32 needs doubles: not every one is an f32.
template <typename From>
HALFTONE_INLINE float Dequantized(From x, float scale, float zero_point) {
  using Exact = std::conditional_t<sizeof(From) == 4, double, float>;
  return static_cast<float>((static_cast<Exact>(x) - zero_point) * scale);
}

template <typename To>
HALFTONE_INLINE void QuantizeBody(const float* x, float scale, float zero_point, To* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = Quantized<To>(x[i], scale, zero_point);
}
template <typename To>
HALFTONE_INLINE void QuantizeEachBody(const float* x, const float* scales, const float* zero_points, To* y,
                                      int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = Quantized<To>(x[i], scales[i], zero_points[i]);
}
template <typename From>
HALFTONE_INLINE void DequantizeBody(const From* x, float scale, float zero_point, float* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = Dequantized(x[i], scale, zero_point);
}
template <typename From>
HALFTONE_INLINE void DequantizeEachBody(const From* x, const float* scales, const float* zero_points, float* y,
                                        int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = Dequantized(x[i], scales[i], zero_points[i]);
}

// The four loops over elements of one integer type, for one kind of CPU.
template <typename Integer>
struct Loops {
  void (*quantize)(const float*, float, float, Integer*, int64_t);
  void (*quantize_each)(const float*, const float*, const float*, Integer*, int64_t);
  void (*dequantize)(const Integer*, float, float, float*, int64_t);
  void (*dequantize_each)(const Integer*, const float*, const float*, float*, int64_t);
};
#define HALFTONE_LOOPS(Name, Attributes)                                                                              \
  template <typename T>                                                                                               \
  struct Name {                                                                                                       \
    Attributes static void Q(const float* x, float s, float z, T* y, int64_t n) { QuantizeBody<T>(x, s, z, y, n); }   \
    Attributes static void QEach(const float* x, const float* s, const float* z, T* y, int64_t n) {                   \
      QuantizeEachBody<T>(x, s, z, y, n);                                                                             \
    }                                                                                                                 \
    Attributes static void D(const T* x, float s, float z, float* y, int64_t n) { DequantizeBody<T>(x, s, z, y, n); } \
    Attributes static void DEach(const T* x, const float* s, const float* z, float* y, int64_t n) {                   \
      DequantizeEachBody<T>(x, s, z, y, n);                                                                           \
    }                                                                                                                 \
    static constexpr Loops<T> kLoops{Q, QEach, D, DEach};                                                             \
  };
HALFTONE_LOOPS(ForAvx512, HALFTONE_FOR_AVX512)
HALFTONE_LOOPS(ForAvx2, HALFTONE_FOR_AVX2)
HALFTONE_LOOPS(ForAny, )
#undef HALFTONE_LOOPS

// Scale and zero point of each channel, read when the step runs.
struct Parameters {
  std::vector<float> scales, zero_points;
};

Parameters ReadParameters(const Geometry& g, DataType scale_type, bool one_scale, DataType zero_type, bool one_zero,
                          const std::byte* scale, const std::byte* zero_point) {
  const auto read = [&g](DataType type, bool one, const std::byte* from) {
    std::vector<float> values(static_cast<size_t>(g.channels), 0.0f);
    if (from == nullptr) return values;
    const Tensor tensor(type, {one ? 1 : g.channels},
                        Buffer::CopyOf(from, ElementSize(type) * static_cast<size_t>(one ? 1 : g.channels)));
    const std::vector<float> elements = tensor.ToFloats();
    for (size_t i = 0; i < values.size(); ++i) values[i] = elements[one ? 0 : i];
    return values;
  };
  return {read(scale_type, one_scale, scale), read(zero_type, one_zero, zero_point)};
}

// `whole`: a run of one channel; `each`: one element of each channel.
template <typename In, typename Out>
void RunAll(const Geometry& g, const Parameters& p, const In* x, Out* y,
            void (*whole)(const In*, float, float, Out*, int64_t),
            void (*each)(const In*, const float*, const float*, Out*, int64_t)) {
  if (g.channels == 1) {
    ParallelFor(g.outer * g.inner, kGrain, [&](int64_t first, int64_t last) {
      whole(x + first, p.scales[0], p.zero_points[0], y + first, last - first);
    });
  } else if (g.inner == 1) {
    ParallelFor(g.outer, kGrain / g.channels + 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        each(x + i * g.channels, p.scales.data(), p.zero_points.data(), y + i * g.channels, g.channels);
      }
    });
  } else {
    ParallelFor(g.outer * g.channels, kGrain / g.inner + 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const size_t c = static_cast<size_t>(i % g.channels);
        whole(x + i * g.inner, p.scales[c], p.zero_points[c], y + i * g.inner, g.inner);
      }
    });
  }
}

// Of u8, s8, u16, s16, and s32 where it is only read; false for other types.
template <typename Visit>
bool VisitQuantized(DataType type, bool quantizes, const Visit& visit) {
  if (type == DataType::kUInt8)
    visit.template operator()<uint8_t>();
  else if (type == DataType::kInt8)
    visit.template operator()<int8_t>();
  else if (type == DataType::kUInt16)
    visit.template operator()<uint16_t>();
  else if (type == DataType::kInt16)
    visit.template operator()<int16_t>();
  else if (type == DataType::kInt32 && !quantizes)
    visit.template operator()<int32_t>();
  else
    return false;
  return true;
}

// The range of x, widened to hold 0. NaN is passed over, as in the reference.
struct Extremes {
  float low = 0, high = 0;

  HALFTONE_INLINE void Add(float lower, float higher) {
    low = lower < low ? lower : low;
    high = higher > high ? higher : high;
  }
};
HALFTONE_SIMD Extremes ExtremesOf(const float* x, int64_t count) {
  constexpr int64_t kLanes = 32;  // next to each other: one by one they would wait for each other
  float low[kLanes] = {}, high[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t j = 0; j < kLanes; ++j) {
      low[j] = x[i + j] < low[j] ? x[i + j] : low[j];
      high[j] = x[i + j] > high[j] ? x[i + j] : high[j];
    }
  }
  Extremes all;
  for (int64_t j = 0; j < kLanes; ++j) all.Add(low[j], high[j]);
  for (; i < count; ++i) all.Add(x[i], x[i]);
  return all;
}

// The range of x onto 0 to 255.
absl::StatusOr<Prepared> PrepareDynamic(const NodeContext& context) {
  int64_t count = 1;
  for (const int64_t dim : context.InputDims(0)) count *= dim;
  const Loops<uint8_t> loops =
      ForThisCpu(ForAvx512<uint8_t>::kLoops, ForAvx2<uint8_t>::kLoops, ForAny<uint8_t>::kLoops);
  Prepared prepared{.inputs = {{0, Placement{DataType::kFloat32}}}, .kernel = "loop"};
  prepared.outputs = {Placement{DataType::kUInt8}, Placement{DataType::kFloat32}, Placement{DataType::kUInt8}};
  if (context.node().outputs.size() != 3) return absl::UnimplementedError("outputs that are absent");
  prepared.step = std::make_unique<LoopStep>([=](const Memory& memory) {
    const float* x = memory.in<float>(0);
    Extremes range;
    std::mutex adding;
    ParallelFor(count, kGrain, [&](int64_t first, int64_t last) {
      const Extremes part = ExtremesOf(x + first, last - first);
      const std::lock_guard<std::mutex> lock(adding);
      range.Add(part.low, part.high);
    });
    const float scale = range.low == range.high ? 1.0f : (range.high - range.low) / 255.0f;
    const float zero_point = std::nearbyint(std::min(std::max(-range.low / scale, 0.0f), 255.0f));
    if (memory.outputs[1] != nullptr) *memory.out<float>(1) = scale;
    if (memory.outputs[2] != nullptr) *memory.out<uint8_t>(2) = static_cast<uint8_t>(zero_point);
    ParallelFor(count, kGrain, [&](int64_t first, int64_t last) {
      loops.quantize(x + first, scale, zero_point, memory.out<uint8_t>(0) + first, last - first);
    });
    return absl::OkStatus();
  });
  return prepared;
}

// ---- TensorFlow's fake_quant: to integers and back, in f32 throughout. See the reference function.

struct FakeRange {
  float low, high, scale, inverse, zero;
};

FakeRange Nudge(float low, float high, float first, float last) {
  const float scale = (high - low) / (last - first);
  const float from_low = first - low / scale;
  const float zero = from_low < first ? first : from_low > last ? last : std::round(from_low);
  const float nudged_low = (first - zero) * scale, inverse = 1.0f / scale;
  return {nudged_low, (last - zero) * scale, scale, inverse, std::floor(-nudged_low * inverse + 0.5f)};
}

// NaN stays NaN, but where the range is of one number.
HALFTONE_INLINE float FakeQuantized(float x, const FakeRange& r) {
  const float lowered = r.high < x ? r.high : x;
  const float clamped = lowered < r.low ? r.low : lowered;
  const float y = std::floor((clamped - r.low) * r.inverse - r.zero + 0.5f) * r.scale;
  return r.scale == 0 ? 0.0f : y;
}

absl::StatusOr<Prepared> PrepareFakeQuant(const NodeContext& context) {
  const DataType type = context.OutputType();
  if (type != DataType::kFloat32 || context.InputType(1) != type || context.InputType(2) != type) {
    return absl::UnimplementedError("for f32");
  }
  const Attributes& attributes = context.node().attributes;
  const int64_t bits = attributes.Int("num_bits", 8);
  if (bits < 2 || bits > 16) return absl::UnimplementedError("this number of bits");
  const float first = attributes.Bool("narrow_range", false) ? 1.0f : 0.0f;
  const float last = static_cast<float>((1 << bits) - 1);
  const std::vector<int64_t> dims = context.InputDims(0);
  const int64_t rank = static_cast<int64_t>(dims.size());
  const bool along_axis = attributes.has("axis");
  const int64_t written = attributes.Int("axis", 0), axis = written < 0 ? written + rank : written;
  if (along_axis && (axis < 0 || axis >= rank)) return absl::UnimplementedError("an axis out of range");
  Geometry g;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t& size = !along_axis || i > axis ? g.inner : i < axis ? g.outer : g.channels;
    size *= dims[static_cast<size_t>(i)];
  }
  for (const int i : {1, 2}) {
    int64_t count = 1;
    for (const int64_t dim : context.InputDims(i)) count *= dim;
    if (count != g.channels) return absl::UnimplementedError("bounds that do not fit");
  }
  Prepared prepared{.kernel = "loop"};
  for (int i = 0; i < 3; ++i) prepared.inputs.push_back({i, Placement{type}});
  prepared.outputs = {Placement{type}};
  prepared.may_overwrite = 0;
  prepared.step = std::make_unique<LoopStep>([=](const Memory& memory) {
    std::vector<FakeRange> ranges;
    for (int64_t c = 0; c < g.channels; ++c) {
      const float low = memory.in<float>(1)[c], high = memory.in<float>(2)[c];
      // Of the range [0, 0] nothing but 0 can be said.
      ranges.push_back(low == 0 && high == 0 ? FakeRange{0, 0, 0, 0, 0} : Nudge(low, high, first, last));
    }
    const float* x = memory.in<float>(0);
    float* y = memory.out<float>(0);
    ParallelFor(g.outer * g.channels, kGrain / (g.inner + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const FakeRange range = ranges[static_cast<size_t>(i % g.channels)];
        for (int64_t j = i * g.inner; j < (i + 1) * g.inner; ++j) y[j] = FakeQuantized(x[j], range);
      }
    });
    return absl::OkStatus();
  });
  return prepared;
}

class QuantizeKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    if (context.node().op == OpKind::kDynamicQuantizeLinear) return PrepareDynamic(context);
    if (context.node().op == OpKind::kFakeQuant) return PrepareFakeQuant(context);
    const bool quantizes = context.node().op == OpKind::kQuantizeLinear;
    const DataType integer = quantizes ? context.OutputType() : context.InputType(0);
    const DataType real = quantizes ? context.InputType(0) : context.OutputType();
    if (!ComputedType(real).has_value()) return absl::UnimplementedError("for f32, bf16 and f16");
    if (context.node().attributes.Int("block_size", 0) != 0) return absl::UnimplementedError("scales of blocks");
    const std::vector<int64_t> dims = context.InputDims(0), scale_dims = context.InputDims(1);
    const bool has_zero = context.HasInput(2);
    const auto count = [](const std::vector<int64_t>& d) {
      int64_t product = 1;
      for (const int64_t dim : d) product *= dim;
      return product;
    };
    const bool one_scale = count(scale_dims) == 1, one_zero = !has_zero || count(context.InputDims(2)) == 1;
    Geometry g;
    if (one_scale) {
      g.inner = count(dims);
      if (!one_zero) return absl::UnimplementedError("one scale but several zero points");
    } else {
      int64_t axis = context.node().attributes.Int("axis", 1);
      const int64_t rank = static_cast<int64_t>(dims.size());
      if (axis < 0) axis += rank;
      if (axis < 0 || axis >= rank || scale_dims != std::vector<int64_t>{dims[static_cast<size_t>(axis)]} ||
          (!one_zero && context.InputDims(2) != scale_dims)) {
        return absl::UnimplementedError("a scale that does not fit");
      }
      for (int64_t i = 0; i < rank; ++i) {
        int64_t& size = i < axis ? g.outer : i == axis ? g.channels : g.inner;
        size *= dims[static_cast<size_t>(i)];
      }
    }
    const DataType scale_type = context.InputType(1);
    const DataType zero_type = has_zero ? context.InputType(2) : DataType::kUnknown;
    Prepared prepared{.kernel = "loop"};
    prepared.inputs = {{0, Placement{quantizes ? DataType::kFloat32 : integer}}, {1, Placement{scale_type}}};
    if (has_zero) prepared.inputs.push_back({2, Placement{zero_type}});
    prepared.outputs = {Placement{quantizes ? integer : DataType::kFloat32}};
    const bool known = VisitQuantized(integer, quantizes, [&]<typename T>() {
      const Loops<T> loops = ForThisCpu(ForAvx512<T>::kLoops, ForAvx2<T>::kLoops, ForAny<T>::kLoops);
      prepared.step = std::make_unique<LoopStep>([=](const Memory& memory) {
        const Parameters p = ReadParameters(g, scale_type, one_scale, zero_type, one_zero, memory.inputs[1],
                                            has_zero ? memory.inputs[2] : nullptr);
        if (quantizes) {
          RunAll(g, p, memory.in<float>(0), memory.out<T>(0), loops.quantize, loops.quantize_each);
        } else {
          RunAll(g, p, memory.in<T>(0), memory.out<float>(0), loops.dequantize, loops.dequantize_each);
        }
        return absl::OkStatus();
      });
    });
    if (!known) return absl::UnimplementedError(Concat("integers of type ", DataTypeName(integer)));
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeQuantizeKernel() { return std::make_unique<QuantizeKernel>(); }

}  // namespace halftone::simd

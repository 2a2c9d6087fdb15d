// SPDX-License-Identifier: Apache-2.0
// Pools that oneDNN does not have: indices of max_pool, integers, padding that counts with ceil_mode, lp_pool; and
// max_unpool. Plain memory, channels first or last.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/status.h"
#include "base/strings.h"
#include "ir/transposed_window.h"
#include "ir/window.h"
#include "runtime/cpu/simd/kernels.h"
#include "runtime/cpu/simd/loop_step.h"
#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/simd.h"

namespace halftone::simd {
namespace {

using Dims = std::vector<int64_t>;

// Three spatial dimensions; missing ones in front are 1. Element (n, c, position) of x lies at
// n * channels * plane + c * step_c + position * step_p, and y alike.
struct Problem {
  int64_t batch = 0, channels = 0, plane = 1, windows = 1;
  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1};
  std::array<int64_t, 3> pad_begin{0, 0, 0}, pad_end{0, 0, 0};
  bool channels_last = false, column_major = false, include_pad = false;
  double p = 2;
};

// The taps [begin, end) of one dimension of a window that lie inside, and tap 0's position.
struct Taps {
  int64_t first, begin, end;
};
Taps TapsOf(const Problem& p, int d, int64_t output, int64_t before, int64_t after) {
  Taps taps{output * p.stride[d] - p.pad_begin[d], 0, 0};
  const int64_t step = p.dilation[d], missing = -before - taps.first, last = p.in[d] + after - 1 - taps.first;
  taps.begin = missing <= 0 ? 0 : (missing + step - 1) / step;
  taps.end = std::min(p.kernel[d], last < 0 ? 0 : last / step + 1);
  taps.begin = std::min(taps.begin, taps.end);
  return taps;
}

struct Window {
  std::array<Taps, 3> taps;
  int64_t counted = 1;  // elements that a mean divides by
};
Window WindowAt(const Problem& p, int64_t index) {
  const std::array<int64_t, 3> at{index / (p.out[1] * p.out[2]), index / p.out[2] % p.out[1], index % p.out[2]};
  Window w;
  for (int d = 0; d < 3; ++d) {
    w.taps[d] = TapsOf(p, d, at[d], 0, 0);
    const Taps padded = p.include_pad ? TapsOf(p, d, at[d], p.pad_begin[d], p.pad_end[d]) : w.taps[d];
    w.counted *= padded.end - padded.begin;
  }
  return w;
}

// visit(element, position) for each element of the window that is no padding.
template <typename T, typename Visit>
HALFTONE_INLINE void VisitWindow(const Problem& p, const Window& w, const T* x, int64_t step, Visit visit) {
  for (int64_t d = w.taps[0].begin; d < w.taps[0].end; ++d) {
    for (int64_t h = w.taps[1].begin; h < w.taps[1].end; ++h) {
      const int64_t row =
          ((w.taps[0].first + d * p.dilation[0]) * p.in[1] + w.taps[1].first + h * p.dilation[1]) * p.in[2];
      for (int64_t k = w.taps[2].begin; k < w.taps[2].end; ++k) {
        const int64_t at = row + w.taps[2].first + k * p.dilation[2];
        visit(x + at * step, at);
      }
    }
  }
}

// As a number to compare: f32 of bf16, integers as they are.
template <typename T>
struct AsNumber {
  using Type = T;
  static T Of(const T* x) { return *x; }
};
struct Bf16 {
  uint16_t bits;
};
template <>
struct AsNumber<Bf16> {
  using Type = float;
  static float Of(const Bf16* x) { return FromBf16(x->bits); }
};
template <typename T>
bool IsNan(T value) {
  return value != value;
}

int64_t IndexInX(const Problem& p, int64_t n, int64_t c, int64_t at) {
  if (p.channels_last) return (n * p.plane + at) * p.channels + c;
  if (!p.column_major) return (n * p.channels + c) * p.plane + at;
  const int64_t w = at % p.in[2], h = at / p.in[2] % p.in[1], d = at / p.in[2] / p.in[1];
  return (n * p.channels + c) * p.plane + d + (h + w * p.in[1]) * p.in[0];
}

// The first of the largest elements; a NaN wins. Windows [first, last) of batch * windows. `y` and `indices` may be
// null: not read
template <typename T>
void MaxPart(const Problem& p, const T* x, T* y, int64_t* indices, int64_t first, int64_t last) {
  using Number = typename AsNumber<T>::Type;
  const int64_t step_c = p.channels_last ? 1 : p.plane, step_p = p.channels_last ? p.channels : 1;
  for (int64_t i = first; i < last; ++i) {
    const int64_t n = i / p.windows, window = i % p.windows;
    const Window w = WindowAt(p, window);
    for (int64_t c = 0; c < p.channels; ++c) {
      const T* best = nullptr;
      int64_t where = 0;
      Number most{};
      VisitWindow(p, w, x + n * p.channels * p.plane + c * step_c, step_p, [&](const T* element, int64_t at) {
        const Number value = AsNumber<T>::Of(element);
        if (best != nullptr && !(value > most) && !(IsNan(value) && !IsNan(most))) return;
        best = element;
        most = value;
        where = at;
      });
      const int64_t to =
          n * p.channels * p.windows + (p.channels_last ? window * p.channels + c : c * p.windows + window);
      if (y != nullptr) y[to] = *best;  // no window is empty: PrepareMax has looked
      if (indices != nullptr) indices[to] = IndexInX(p, n, c, where);
    }
  }
}

template <typename T>
void SumPart(const Problem& p, bool lp, const T* x, T* y, int64_t first, int64_t last) {
  const int64_t step_c = p.channels_last ? 1 : p.plane, step_p = p.channels_last ? p.channels : 1;
  for (int64_t i = first; i < last; ++i) {
    const int64_t n = i / p.windows, window = i % p.windows;
    const Window w = WindowAt(p, window);
    for (int64_t c = 0; c < p.channels; ++c) {
      double sum = 0;
      VisitWindow(p, w, x + n * p.channels * p.plane + c * step_c, step_p, [&](const T* element, int64_t) {
        const double value = static_cast<double>(Load(element));
        sum += !lp ? value : p.p == 2 ? value * value : std::pow(std::abs(value), p.p);
      });
      const double pooled = !lp        ? sum / static_cast<double>(w.counted)
                            : p.p == 2 ? std::sqrt(sum)
                                       : std::pow(sum, 1 / p.p);
      const int64_t to =
          n * p.channels * p.windows + (p.channels_last ? window * p.channels + c : c * p.windows + window);
      Store(y + to, static_cast<float>(pooled));
    }
  }
}

absl::StatusOr<Problem> ProblemOf(const NodeContext& context) {
  const Attributes& attributes = context.node().attributes;
  Dims dims = context.InputDims(0);
  const int rank = static_cast<int>(dims.size());
  if (rank < 3 || rank > 5) return absl::UnimplementedError("for tensors of rank 3 to 5");
  Problem p{.channels_last = IsChannelsLast(attributes)};
  if (p.channels_last) std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
  const std::span<const int64_t> image = std::span<const int64_t>(dims).subspan(2);
  const std::vector<int64_t> whole(image.begin(), image.end());
  const bool global = context.node().op == OpKind::kGlobalLpPool;
  HALFTONE_ASSIGN_OR_RETURN(const halftone::Window window,
                            ResolveWindow(attributes, image, global ? whole : attributes.Ints("kernel")));
  p.batch = dims[0];
  p.channels = dims[1];
  for (int i = 0; i < rank - 2; ++i) {
    const int d = 5 - rank + i;
    p.in[d] = dims[2 + i];
    p.out[d] = window.output[i];
    p.kernel[d] = window.kernel[i];
    p.stride[d] = window.strides[i];
    p.dilation[d] = window.dilations[i];
    p.pad_begin[d] = window.pads_begin[i];
    p.pad_end[d] = window.pads_end[i];
    p.plane *= p.in[d];
    p.windows *= p.out[d];
  }
  p.column_major = attributes.Int("storage_order", 0) != 0;
  p.include_pad = attributes.Bool("count_include_pad", false);
  p.p = static_cast<double>(attributes.Int("p", 2));
  if (p.batch * p.channels * p.plane * p.windows == 0 || p.p < 1) return absl::UnimplementedError("nothing to pool");
  for (int d = 0; d < 3; ++d) {
    for (int64_t o = 0; o < p.out[d]; ++o) {
      const Taps taps = TapsOf(p, d, o, 0, 0);
      if (taps.begin == taps.end) return absl::UnimplementedError("a window holds nothing but padding");
    }
  }
  return p;
}

int64_t Grain(const Problem& p) {
  const int64_t taps = p.kernel[0] * p.kernel[1] * p.kernel[2];
  return 8192 / std::max<int64_t>(1, taps * p.channels) + 1;
}

template <typename T>
LoopStep::Body MaxBody(const Problem& p, bool indices) {
  return [p, indices](const Memory& m) {
    ParallelFor(p.batch * p.windows, Grain(p), [&](int64_t first, int64_t last) {
      MaxPart(p, m.in<T>(0), m.out<T>(0), indices ? m.out<int64_t>(1) : nullptr, first, last);
    });
    return absl::OkStatus();
  };
}

LoopStep::Body MaxBodyOf(const Problem& p, DataType type, bool indices) {
  switch (type) {
    case DataType::kFloat32:
      return MaxBody<float>(p, indices);
    case DataType::kFloat64:
      return MaxBody<double>(p, indices);
    case DataType::kBFloat16:
      return MaxBody<Bf16>(p, indices);
    case DataType::kInt8:
      return MaxBody<int8_t>(p, indices);
    case DataType::kUInt8:
      return MaxBody<uint8_t>(p, indices);
    case DataType::kInt32:
      return MaxBody<int32_t>(p, indices);
    case DataType::kInt64:
      return MaxBody<int64_t>(p, indices);
    default:
      return nullptr;
  }
}

absl::StatusOr<Prepared> PrepareMax(const NodeContext& context) {
  HALFTONE_ASSIGN_OR_RETURN(const Problem p, ProblemOf(context));
  const DataType type = context.InputType(0) == DataType::kFloat16 ? DataType::kFloat32 : context.InputType(0);
  const Node& node = context.node();
  const bool indices = node.outputs.size() > 1 && context.OutputUsed(1);
  if (context.OutputType() != context.InputType(0) || (indices && context.OutputType(1) != DataType::kInt64))
    return absl::UnimplementedError("types differ");
  LoopStep::Body body = MaxBodyOf(p, type, indices);
  if (body == nullptr) return absl::UnimplementedError("no loop for this type");
  Prepared prepared{.inputs = {{0, Placement{type}}}, .kernel = "loop"};
  prepared.outputs.assign(node.outputs.size(), Placement{DataType::kInt64});
  prepared.outputs[0] = Placement{type};
  prepared.step = std::make_unique<LoopStep>(std::move(body));
  return prepared;
}

absl::StatusOr<Prepared> PrepareSum(const NodeContext& context) {
  HALFTONE_ASSIGN_OR_RETURN(const Problem p, ProblemOf(context));
  const std::optional<DataType> type = ComputedType(context.InputType(0));
  if (!type.has_value() || context.OutputType() != context.InputType(0))
    return absl::UnimplementedError("for f32, bf16 and f16");
  const bool lp = context.node().op != OpKind::kAveragePool, bf16 = *type == DataType::kBFloat16;
  Prepared prepared{.inputs = {{0, Placement{*type}}}, .outputs = {Placement{*type}}, .kernel = "loop"};
  prepared.step = std::make_unique<LoopStep>([p, lp, bf16](const Memory& m) {
    ParallelFor(p.batch * p.windows, Grain(p), [&](int64_t first, int64_t last) {
      if (bf16) {
        SumPart(p, lp, m.in<uint16_t>(0), m.out<uint16_t>(0), first, last);
      } else {
        SumPart(p, lp, m.in<float>(0), m.out<float>(0), first, last);
      }
    });
    return absl::OkStatus();
  });
  return prepared;
}

// Where each element of the pooled-from tensor lies in y, which may be larger.
absl::StatusOr<Prepared> PrepareUnpool(const NodeContext& context) {
  const Dims x = context.InputDims(0), y = context.OutputDims();
  const DataType type = context.InputType(0);
  const size_t bytes = ElementSize(type);
  if (x.size() < 3 || (bytes != 2 && bytes != 4) || context.OutputType() != type ||
      context.InputType(1) != DataType::kInt64)
    return absl::UnimplementedError("for elements of 2 and 4 bytes");
  HALFTONE_ASSIGN_OR_RETURN(const TransposedWindow window,
                            ResolveTransposedWindow(context.node().attributes, std::span<const int64_t>(x).subspan(2),
                                                    context.node().attributes.Ints("kernel")));
  Dims from{x[0], x[1]};
  from.insert(from.end(), window.output.begin(), window.output.end());
  if (from != y || context.InputDims(1) != x) return absl::UnimplementedError("unpools into a larger tensor");
  int64_t count = 1, size = 1;
  for (const int64_t dim : x) count *= dim;
  for (const int64_t dim : y) size *= dim;
  Prepared prepared{.inputs = {{0, Placement{type}}, {1, Placement{DataType::kInt64}}},
                    .outputs = {Placement{type}},
                    .kernel = "loop"};
  prepared.step = std::make_unique<LoopStep>([count, size, bytes](const Memory& m) -> absl::Status {
    std::fill_n(m.outputs[0], static_cast<size_t>(size) * bytes, std::byte{0});
    const int64_t* indices = m.in<int64_t>(1);
    for (int64_t i = 0; i < count; ++i) {
      if (indices[i] < 0 || indices[i] >= size)
        return absl::InvalidArgumentError(Concat("indices[", i, "] is ", indices[i], ", must be in [0, ", size, ")"));
      if (bytes == 2) m.out<uint16_t>(0)[indices[i]] = m.in<uint16_t>(0)[i];
      if (bytes == 4) m.out<uint32_t>(0)[indices[i]] = m.in<uint32_t>(0)[i];
    }
    return absl::OkStatus();
  });
  return prepared;
}

class PoolKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    switch (context.node().op) {
      case OpKind::kMaxPool:
        return PrepareMax(context);
      case OpKind::kAveragePool:
      case OpKind::kLpPool:
      case OpKind::kGlobalLpPool:
        return PrepareSum(context);
      case OpKind::kMaxUnpool:
        return PrepareUnpool(context);
      default:
        return absl::UnimplementedError("no loop for this op");
    }
  }
};

}  // namespace

std::unique_ptr<Kernel> MakePoolKernel() { return std::make_unique<PoolKernel>(); }

}  // namespace halftone::simd

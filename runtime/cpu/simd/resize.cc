// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/resize.h"

#include <algorithm>
#include <cstring>

#include "runtime/cpu/simd/loop_step.h"
#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/simd.h"

namespace halftone::simd {
namespace {

constexpr int64_t kGrain = 16384;  // elements written
constexpr int64_t kChunk = 512;    // sums that are kept in f32 before they are stored

// One axis, seen as [outer, in, inner] -> [outer, out, inner]. Output position i reads taps [begin[i], begin[i + 1]);
// it has none where it lies outside of a crop.
struct Pass {
  int64_t outer = 1, in = 1, out = 1, inner = 1;
  std::vector<int32_t> begin;
  std::vector<int64_t> from;  // in elements: position * inner
  std::vector<float> weights;
  float extrapolation = 0;
};

Pass MakePass(const std::vector<int64_t>& dims, const ResizedAxis& axis, double extrapolation) {
  Pass p{.in = axis.in, .out = static_cast<int64_t>(axis.taps.size())};
  for (int i = 0; i < axis.axis; ++i) p.outer *= dims[i];
  for (size_t i = axis.axis + 1; i < dims.size(); ++i) p.inner *= dims[i];
  p.extrapolation = static_cast<float>(extrapolation);
  p.begin.push_back(0);
  for (const ResizeTaps& taps : axis.taps) {
    for (size_t t = 0; t < taps.from.size() && !taps.outside; ++t) {
      if (taps.weights[t] == 0) continue;  // what is not read must not spread its NaN
      p.from.push_back(taps.from[t] * p.inner);
      p.weights.push_back(static_cast<float>(taps.weights[t]));
    }
    p.begin.push_back(static_cast<int32_t>(p.from.size()));
  }
  return p;
}

// Rows [first, last) of outer * out, each of `inner` elements.
template <typename From, typename To>
HALFTONE_INLINE void RunRows(const Pass& p, const From* x, To* y, int64_t first, int64_t last) {
  float sums[kChunk];
  for (int64_t row = first; row < last; ++row) {
    const int64_t i = row % p.out;
    const From* in = x + row / p.out * p.in * p.inner;
    To* out = y + row * p.inner;
    const int32_t begin = p.begin[i], end = p.begin[i + 1];
    for (int64_t chunk = 0; chunk < p.inner; chunk += kChunk) {
      const int64_t count = std::min(kChunk, p.inner - chunk);
      if (begin == end) std::fill(sums, sums + count, p.extrapolation);
      for (int32_t t = begin; t < end; ++t) {
        const From* source = in + p.from[t] + chunk;
        const float weight = p.weights[t];
        if (t == begin) {
#pragma omp simd
          for (int64_t k = 0; k < count; ++k) sums[k] = weight * Load(source + k);
        } else {
#pragma omp simd
          for (int64_t k = 0; k < count; ++k) sums[k] += weight * Load(source + k);
        }
      }
#pragma omp simd
      for (int64_t k = 0; k < count; ++k) Store(out + chunk + k, sums[k]);
    }
  }
}

// The same for the innermost axis: whole lines, one element a position.
template <typename From, typename To>
HALFTONE_INLINE void RunLines(const Pass& p, const From* x, To* y, int64_t first, int64_t last) {
  for (int64_t line = first; line < last; ++line) {
    const From* in = x + line * p.in;
    To* out = y + line * p.out;
    for (int64_t i = 0; i < p.out; ++i) {
      const int32_t begin = p.begin[i], end = p.begin[i + 1];
      float sum = begin == end ? p.extrapolation : 0;
      for (int32_t t = begin; t < end; ++t) sum += p.weights[t] * Load(in + p.from[t]);
      Store(out + i, sum);
    }
  }
}

template <typename From, typename To>
HALFTONE_INLINE void RunPart(const Pass& p, const From* x, To* y, int64_t first, int64_t last) {
  if (p.inner == 1) {
    RunLines(p, x, y, first, last);
  } else {
    RunRows(p, x, y, first, last);
  }
}

HALFTONE_SIMD void Part(const Pass& p, const float* x, float* y, int64_t first, int64_t last) {
  RunPart(p, x, y, first, last);
}
HALFTONE_SIMD void PartIn(const Pass& p, const uint16_t* x, float* y, int64_t first, int64_t last) {
  RunPart(p, x, y, first, last);
}
HALFTONE_SIMD void PartOut(const Pass& p, const float* x, uint16_t* y, int64_t first, int64_t last) {
  RunPart(p, x, y, first, last);
}
HALFTONE_SIMD void PartBoth(const Pass& p, const uint16_t* x, uint16_t* y, int64_t first, int64_t last) {
  RunPart(p, x, y, first, last);
}

void Run(const Pass& p, bool from_bf16, const void* x, bool to_bf16, void* y) {
  const int64_t count = p.inner == 1 ? p.outer : p.outer * p.out;
  const int64_t size = p.inner == 1 ? p.out : p.inner;
  ParallelFor(count, kGrain / std::max<int64_t>(size, 1) + 1, [&](int64_t first, int64_t last) {
    const auto* x16 = static_cast<const uint16_t*>(x);
    const auto* x32 = static_cast<const float*>(x);
    auto* y16 = static_cast<uint16_t*>(y);
    auto* y32 = static_cast<float*>(y);
    if (from_bf16 && to_bf16) PartBoth(p, x16, y16, first, last);
    if (from_bf16 && !to_bf16) PartIn(p, x16, y32, first, last);
    if (!from_bf16 && to_bf16) PartOut(p, x32, y16, first, last);
    if (!from_bf16 && !to_bf16) Part(p, x32, y32, first, last);
  });
}

// Elements that the passes write in this order; one at a time costs more than a row of them.
double CostOf(std::vector<int64_t> dims, const std::vector<const ResizedAxis*>& order) {
  double cost = 0;
  for (const ResizedAxis* axis : order) {
    dims[axis->axis] = static_cast<int64_t>(axis->taps.size());
    double written = 1, inner = 1;
    for (size_t i = 0; i < dims.size(); ++i) {
      written *= static_cast<double>(dims[i]);
      if (static_cast<int>(i) > axis->axis) inner *= static_cast<double>(dims[i]);
    }
    cost += written * (inner == 1 ? 4 : 1);
  }
  return cost;
}

std::vector<const ResizedAxis*> CheapestOrder(const std::vector<int64_t>& dims, const std::vector<ResizedAxis>& axes) {
  constexpr size_t kMost = 4;  // axes whose orders are all tried
  std::vector<const ResizedAxis*> order, best;
  for (const ResizedAxis& axis : axes) order.push_back(&axis);
  std::sort(order.begin(), order.end());
  best = order;
  while (order.size() <= kMost && std::next_permutation(order.begin(), order.end())) {
    if (CostOf(dims, order) < CostOf(dims, best)) best = order;
  }
  return best;
}

}  // namespace

std::unique_ptr<Step> MakeResizeStep(DataType type, std::vector<int64_t> dims, const std::vector<ResizedAxis>& axes,
                                     double extrapolation, size_t& scratch_bytes) {
  const std::vector<const ResizedAxis*> order = CheapestOrder(dims, axes);
  std::vector<Pass> passes;
  int64_t largest = 0;  // of the results between passes
  for (const ResizedAxis* axis : order) {
    if (!passes.empty()) largest = std::max(largest, passes.back().outer * passes.back().out * passes.back().inner);
    passes.push_back(MakePass(dims, *axis, extrapolation));
    dims[axis->axis] = static_cast<int64_t>(axis->taps.size());
  }
  int64_t elements = 1;
  for (const int64_t dim : dims) elements *= dim;
  const bool bf16 = type == DataType::kBFloat16;
  const size_t half = (static_cast<size_t>(largest) * sizeof(float) + 63) / 64 * 64;
  scratch_bytes = passes.size() < 2 ? 0 : half * (passes.size() > 2 ? 2 : 1);
  return std::make_unique<LoopStep>([passes = std::move(passes), bf16, half, elements](const Memory& m) {
    if (passes.empty()) {
      std::memcpy(m.outputs[0], m.inputs[0], static_cast<size_t>(elements) * (bf16 ? 2 : 4));
      return absl::OkStatus();
    }
    const std::byte* from = m.inputs[0];
    for (size_t i = 0; i < passes.size(); ++i) {
      const bool last = i + 1 == passes.size();
      std::byte* to = last ? m.outputs[0] : m.scratch + (i % 2) * half;
      Run(passes[i], bf16 && i == 0, from, bf16 && last, to);
      from = to;
    }
    return absl::OkStatus();
  });
}

}  // namespace halftone::simd

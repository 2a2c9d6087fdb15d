// SPDX-License-Identifier: Apache-2.0
// lrn where oneDNN has no fast kernel: x as [outer, channels, inner], a strip of `inner` at a time.
#include <algorithm>
#include <cmath>

#include "ir/window.h"
#include "runtime/cpu/simd/kernels.h"
#include "runtime/cpu/simd/loop_step.h"
#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/simd.h"

namespace halftone::simd {
namespace {

constexpr int64_t kStrip = 256;

struct Problem {
  int64_t outer = 1, channels = 1, inner = 1, size = 1;
  float scale = 0, beta = 0, bias = 0;  // scale: alpha / size
};

// `count` elements of each channel from x on.
template <typename T>
HALFTONE_INLINE void Strip(const Problem& p, const T* x, T* y, int64_t count) {
  float sums[kStrip];
  for (int64_t c = 0; c < p.channels; ++c) {
    const int64_t first = std::max<int64_t>(c - (p.size - 1) / 2, 0);
    const int64_t last = std::min(c + p.size / 2, p.channels - 1);
    std::fill(sums, sums + count, 0.0f);
    for (int64_t k = first; k <= last; ++k) {
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) {
        const float element = Load(x + k * p.inner + i);
        sums[i] += element * element;
      }
    }
    if (p.beta == 0.75f) {
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) {
        const float root = std::sqrt(p.bias + p.scale * sums[i]);
        sums[i] = 1.0f / (root * std::sqrt(root));
      }
    } else {
      for (int64_t i = 0; i < count; ++i) sums[i] = std::pow(p.bias + p.scale * sums[i], -p.beta);
    }
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) Store(y + c * p.inner + i, Load(x + c * p.inner + i) * sums[i]);
  }
}
HALFTONE_SIMD void StripF32(const Problem& p, const float* x, float* y, int64_t count) { Strip(p, x, y, count); }
HALFTONE_SIMD void StripBf16(const Problem& p, const uint16_t* x, uint16_t* y, int64_t count) { Strip(p, x, y, count); }

class LrnKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const std::optional<DataType> type = ComputedType(context.InputType(0));
    if (!type.has_value() || context.OutputType() != context.InputType(0))
      return absl::UnimplementedError("for f32, bf16 and f16");
    const Attributes& a = context.node().attributes;
    const std::vector<int64_t> dims = context.InputDims(0);
    const int rank = static_cast<int>(dims.size());
    if (rank < 2) return absl::InvalidArgumentError("lrn needs at least rank 2");
    const int axis = ChannelAxis(a, rank);
    Problem p{.channels = dims[axis], .size = a.Int("size", 1)};
    for (int i = 0; i < rank; ++i) {
      if (i < axis) p.outer *= dims[i];
      if (i > axis) p.inner *= dims[i];
    }
    if (p.size < 1 || p.outer * p.channels * p.inner == 0) return absl::UnimplementedError("nothing to normalize");
    p.size = std::min(p.size, 2 * p.channels + 1);
    p.scale = a.Float("alpha", 1e-4f) / static_cast<float>(a.Int("size", 1));
    p.beta = a.Float("beta", 0.75f);
    p.bias = a.Float("bias", 1.0f);
    Prepared prepared{.inputs = {{0, Placement{*type}}}, .outputs = {Placement{*type}}, .kernel = "loop"};
    const bool bf16 = *type == DataType::kBFloat16;
    const int64_t strips = (p.inner + kStrip - 1) / kStrip;
    prepared.step = std::make_unique<LoopStep>([p, bf16, strips](const Memory& m) {
      ParallelFor(p.outer * strips, 1 + 4096 / (p.channels * std::min(p.inner, kStrip)),
                  [&](int64_t first, int64_t last) {
                    for (int64_t i = first; i < last; ++i) {
                      const int64_t begin = i % strips * kStrip, at = i / strips * p.channels * p.inner + begin;
                      const int64_t count = std::min(kStrip, p.inner - begin);
                      if (bf16) StripBf16(p, m.in<uint16_t>(0) + at, m.out<uint16_t>(0) + at, count);
                      if (!bf16) StripF32(p, m.in<float>(0) + at, m.out<float>(0) + at, count);
                    }
                  });
      return absl::OkStatus();
    });
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeLrnKernel() { return std::make_unique<LrnKernel>(); }

}  // namespace halftone::simd

// SPDX-License-Identifier: Apache-2.0
// softplus, and the activation after it, in one pass over plain memory: max(x, 0) + log1p(e^-|x|), of which both parts
// keep their digits; oneDNN's loses all of them below -10.
#include <algorithm>
#include <cmath>

#include "runtime/cpu/simd/kernels.h"
#include "runtime/cpu/simd/loop_step.h"
#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/row_activation.h"
#include "runtime/cpu/simd/simd.h"
#include "runtime/cpu/simd/vector_math.h"

namespace halftone::simd {
namespace {

constexpr int64_t kGrain = 8192;  // elements
constexpr int64_t kPiece = 1024;  // elements that stay in the nearest cache between the two functions

// log(1 + t) for t in [0, 1]: 2 atanh(z) with z at most 1/3. What is left out is below 2e-8 of it.
HALFTONE_INLINE float SmallLog1pOf(float t) {
  const float z = t / (2.0f + t), square = z * z;
  float p = 1.0f / 13;
  p = p * square + 1.0f / 11;
  p = p * square + 1.0f / 9;
  p = p * square + 1.0f / 7;
  p = p * square + 1.0f / 5;
  p = p * square + 1.0f / 3;
  p = p * square + 1.0f;
  return 2.0f * z * p;
}

HALFTONE_INLINE float SoftplusOf(float x) {
  const float size = std::fabs(x);
  const float e = size > 87.0f ? 0.0f : ExpOf(-size);
  return (x < 0 ? 0.0f : x) + SmallLog1pOf(e);
}

template <typename T>
HALFTONE_INLINE void Softplus(const T* x, float* y, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) y[i] = SoftplusOf(Load(x + i));
}
HALFTONE_SIMD void SoftplusF32(const float* x, float* y, int64_t count) { Softplus(x, y, count); }
HALFTONE_SIMD void SoftplusBf16(const uint16_t* x, float* y, int64_t count) { Softplus(x, y, count); }

HALFTONE_SIMD void StoreBf16(const float* x, uint16_t* y, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) Store(y + i, x[i]);
}

struct Task {
  ActivateRow activate = nullptr;
  float alpha = 0, beta = 0;

  void Run(const float* x, float* y, int64_t count) const {
    SoftplusF32(x, y, count);
    if (activate != nullptr) activate(y, y, count, alpha, beta);
  }
  void Run(const uint16_t* x, uint16_t* y, int64_t count) const {
    float numbers[kPiece];
    SoftplusBf16(x, numbers, count);
    if (activate != nullptr) activate(numbers, numbers, count, alpha, beta);
    StoreBf16(numbers, y, count);
  }
  template <typename T>
  void RunAll(const T* x, T* y, int64_t count) const {
    ParallelFor(count, kGrain, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; i += kPiece) Run(x + i, y + i, std::min(kPiece, last - i));
    });
  }
};

class SoftplusKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType type = context.InputType(0);
    if (type != context.OutputType()) return absl::UnimplementedError("a result of another type");
    const Attributes& attributes = context.node().attributes;
    const Activation activation = ActivationFromName(attributes.String("activation", "")).value_or(Activation::kNone);
    const Task task{.activate = RowActivation(activation),
                    .alpha = attributes.Float("activation_alpha", ParametersOf(activation).alpha),
                    .beta = attributes.Float("activation_beta", ParametersOf(activation).beta)};
    int64_t count = 1;
    for (const int64_t dim : context.OutputDims()) count *= dim;
    Prepared prepared{.inputs = {{0, Placement{type}}}, .outputs = {Placement{type}}, .kernel = "loop"};
    prepared.may_overwrite = 0;
    const bool bf16 = type == DataType::kBFloat16;
    prepared.step = std::make_unique<LoopStep>([task, count, bf16](const Memory& m) {
      if (bf16) {
        task.RunAll(m.in<uint16_t>(0), m.out<uint16_t>(0), count);
      } else {
        task.RunAll(m.in<float>(0), m.out<float>(0), count);
      }
      return absl::OkStatus();
    });
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeSoftplusKernel() { return std::make_unique<SoftplusKernel>(); }

}  // namespace halftone::simd

// SPDX-License-Identifier: Apache-2.0
// instance_norm of images with channels last: three passes over an image, each over all its pixels for some channels
// that lie next to each other.
#include <algorithm>
#include <cmath>

#include "ir/window.h"
#include "runtime/cpu/simd/kernels.h"
#include "runtime/cpu/simd/loop_step.h"
#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/row_activation.h"
#include "runtime/cpu/simd/simd.h"

namespace halftone::simd {
namespace {

constexpr int64_t kChannels = 64;  // at a time
constexpr int64_t kBlock = 1024;   // pixels whose f32 sums are exact enough; blocks are summed in f64
constexpr int64_t kGrain = 16384;  // elements

struct ImageNorm {
  int64_t pixels = 0, channels = 0;
  float epsilon = 0;
  ActivateRow activate = nullptr;
  float alpha = 0, beta = 0;
};

// Means over the pixels of x, or of (x - shift)^2 where `square`, of `count` channels.
template <typename T>
HALFTONE_INLINE void Means(const ImageNorm& n, const T* x, int64_t count, const float* shift, bool square,
                           double* means) {
  std::fill(means, means + count, 0.0);
  for (int64_t begin = 0; begin < n.pixels; begin += kBlock) {
    const int64_t end = std::min(n.pixels, begin + kBlock);
    float sums[kChannels] = {};
    for (int64_t p = begin; p < end; ++p) {
      const T* pixel = x + p * n.channels;
#pragma omp simd
      for (int64_t c = 0; c < count; ++c) {
        const float number = Load(pixel + c) - shift[c];
        sums[c] += square ? number * number : number;
      }
    }
    for (int64_t c = 0; c < count; ++c) means[c] += static_cast<double>(sums[c]);
  }
  for (int64_t c = 0; c < count; ++c) means[c] /= static_cast<double>(n.pixels);
}

// Channels [first, first + count) of one image.
template <typename T>
HALFTONE_INLINE void NormChannels(const ImageNorm& n, const T* x, T* y, const float* scale, const float* offset,
                                  int64_t count) {
  double means[kChannels];
  float shift[kChannels] = {}, factor[kChannels];
  Means(n, x, count, shift, false, means);
  for (int64_t c = 0; c < count; ++c) shift[c] = static_cast<float>(means[c]);
  Means(n, x, count, shift, true, means);
  for (int64_t c = 0; c < count; ++c) {
    factor[c] = static_cast<float>(1 / std::sqrt(means[c] + static_cast<double>(n.epsilon))) * scale[c];
  }
  for (int64_t p = 0; p < n.pixels; ++p) {
    float numbers[kChannels];
    const T* from = x + p * n.channels;
#pragma omp simd
    for (int64_t c = 0; c < count; ++c) numbers[c] = (Load(from + c) - shift[c]) * factor[c] + offset[c];
    if (n.activate != nullptr) n.activate(numbers, numbers, count, n.alpha, n.beta);
    T* to = y + p * n.channels;
#pragma omp simd
    for (int64_t c = 0; c < count; ++c) Store(to + c, numbers[c]);
  }
}
HALFTONE_SIMD void NormF32(const ImageNorm& n, const float* x, float* y, const float* scale, const float* offset,
                           int64_t count) {
  NormChannels(n, x, y, scale, offset, count);
}
HALFTONE_SIMD void NormBf16(const ImageNorm& n, const uint16_t* x, uint16_t* y, const float* scale, const float* offset,
                            int64_t count) {
  NormChannels(n, x, y, scale, offset, count);
}

class ChannelsLastNormKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const Attributes& attributes = context.node().attributes;
    const std::optional<DataType> type = ComputedType(context.InputType(0));
    const std::vector<int64_t> dims = context.InputDims(0);
    if (!type.has_value() || context.OutputType() != context.InputType(0))
      return absl::UnimplementedError("for f32, bf16 and f16");
    if (dims.size() < 3 || !IsChannelsLast(attributes)) return absl::UnimplementedError("for channels last");
    ImageNorm norm{.pixels = 1, .channels = dims.back(), .epsilon = attributes.Float("epsilon", 1e-5f)};
    for (size_t i = 1; i + 1 < dims.size(); ++i) norm.pixels *= dims[i];
    if (std::ranges::find(dims, 0) != dims.end()) return absl::UnimplementedError("nothing to normalize");
    for (int i = 1; i <= 2; ++i) {
      if (context.InputDims(i) != std::vector<int64_t>{norm.channels})
        return absl::UnimplementedError("a parameter is not one a channel");
    }
    const Activation activation = ActivationFromName(attributes.String("activation", "")).value_or(Activation::kNone);
    norm.activate = RowActivation(activation);
    norm.alpha = attributes.Float("activation_alpha", ParametersOf(activation).alpha);
    norm.beta = attributes.Float("activation_beta", ParametersOf(activation).beta);

    Prepared prepared{
        .inputs = {{0, Placement{*type}}, {1, Placement{DataType::kFloat32}}, {2, Placement{DataType::kFloat32}}},
        .outputs = {Placement{*type}},
        .may_overwrite = 0,
        .kernel = "loop"};
    const int64_t parts = (norm.channels + kChannels - 1) / kChannels, images = dims[0];
    const bool bf16 = *type == DataType::kBFloat16;
    prepared.step = std::make_unique<LoopStep>([=](const Memory& m) {
      ParallelFor(images * parts, kGrain / (norm.pixels * kChannels) + 1, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const int64_t channel = i % parts * kChannels, count = std::min(kChannels, norm.channels - channel);
          const int64_t at = i / parts * norm.pixels * norm.channels + channel;
          const float *scale = m.in<float>(1) + channel, *offset = m.in<float>(2) + channel;
          if (bf16) {
            NormBf16(norm, m.in<uint16_t>(0) + at, m.out<uint16_t>(0) + at, scale, offset, count);
          } else {
            NormF32(norm, m.in<float>(0) + at, m.out<float>(0) + at, scale, offset, count);
          }
        }
      });
      return absl::OkStatus();
    });
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeChannelsLastNormKernel() { return std::make_unique<ChannelsLastNormKernel>(); }

}  // namespace halftone::simd

// SPDX-License-Identifier: Apache-2.0
// mul of an image by a number for each of its channels, where the channels lie next to each other: a SIMD loop,
// in place where the image dies. oneDNN's binary takes twice as long in bf16.
#include "base/status.h"
#include "runtime/cpu/onednn/boxes.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/support.h"
#include "runtime/cpu/simd/channel_scale.h"
#include "runtime/cpu/simd/loop_step.h"

namespace halftone::onednn {
namespace {

constexpr int64_t kFewestChannels = 32;

// The only dimension of `scale`, seen with as many dimensions as `image`, along which it is as long as the image, and
// after the batch, in which it may be; -1 if there is none.
int ChannelOf(const Dims& image, const Dims& scale) {
  if (image.size() != scale.size() || image.size() < 3) return -1;
  int channel = -1;
  for (size_t i = 1; i < image.size(); ++i) {
    if (scale[i] == 1) continue;
    if (channel >= 0 || scale[i] != image[i]) return -1;
    channel = static_cast<int>(i);
  }
  return scale[0] == image[0] ? channel : -1;
}

class ScaleChannelsKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType type = context.OutputType();
    if (context.InputType(0) != type || context.InputType(1) != type)
      return absl::UnimplementedError("operands of different types");
    const Dims out = context.OutputDims();
    const int whole = context.InputDims(0) == out ? 0 : 1;
    const int channel = context.InputDims(whole) == out ? ChannelOf(out, context.InputDims(1 - whole)) : -1;
    if (channel < 0 || out[channel] < kFewestChannels) return absl::UnimplementedError("not a number for each channel");
    const Placement there = context.InputPlacement(whole);
    const Strided image = StridedInput(out, there);
    if (there.type != type || image.placement.plain() != there.plain() || !IsDense(out, image.strides, channel)) {
      return absl::UnimplementedError("the channels do not lie next to each other");
    }
    Prepared prepared{.inputs = {{whole, there}, {1 - whole, Placement{type}}},
                      .outputs = {there},
                      .may_overwrite = 0,
                      .kernel = "scale channels"};
    const int64_t channels = out[channel], images = out[0];
    int64_t pixels = 1;
    for (size_t i = 1; i < out.size(); ++i) pixels *= static_cast<int>(i) == channel ? 1 : out[i];
    prepared.step = std::make_unique<simd::LoopStep>([=](const simd::Memory& memory) {
      const int64_t element = static_cast<int64_t>(ElementSize(type)), size = channels * pixels * element;
      for (int64_t i = 0; i < images; ++i) {
        simd::ScaleChannels(type, memory.inputs[0] + i * size, memory.inputs[1] + i * channels * element, channels,
                            pixels, memory.outputs[0] + i * size);
      }
      return absl::OkStatus();
    });
    return prepared;
  }

 private:
  // Channels fastest, the other dimensions in their order.
  static bool IsDense(const Dims& dims, const Dims& strides, int channel) {
    if (strides[channel] != 1) return false;
    int64_t step = dims[channel];
    for (size_t i = dims.size(); i-- > 0;) {
      if (static_cast<int>(i) == channel) continue;
      if (dims[i] != 1 && strides[i] != step) return false;
      step *= dims[i];
    }
    return true;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeScaleChannelsKernel() { return std::make_unique<ScaleChannelsKernel>(); }

}  // namespace halftone::onednn

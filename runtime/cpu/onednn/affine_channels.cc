// SPDX-License-Identifier: Apache-2.0
// batch_norm of f32 with constant statistics, where the channels lie next to each other: a SIMD loop, in place
// where the image dies. Zen 4, 256x28x28, a change of layout after it included: 47 us, by oneDNN's jit 148. (bf16 by
// that jit: 50.)
#include <cmath>
#include <memory>
#include <utility>

#include "base/status.h"
#include "ir/window.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/support.h"
#include "runtime/cpu/simd/channel_affine.h"
#include "runtime/cpu/simd/loop_step.h"

namespace halftone::onednn {
namespace {

constexpr int kScale = 1, kOffset = 2, kMean = 3, kVariance = 4;

// UNIMPLEMENTED where it is not a constant per channel.
absl::StatusOr<std::vector<float>> OneAChannel(const NodeContext& context, int input, int64_t channels) {
  const Tensor* constant = context.Constant(input);
  if (constant == nullptr || !IsFloat(constant->type()) || constant->num_elements() != channels)
    return absl::UnimplementedError("no constant numbers, one a channel");
  return constant->ToFloats();
}

class AffineChannelsKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const Attributes& attributes = context.node().attributes;
    if (context.OutputType() != DataType::kFloat32) return absl::UnimplementedError("a result of another type");
    const std::string activation = attributes.String("activation", "");
    if (!activation.empty() && activation != ActivationName(Activation::kRelu))
      return absl::UnimplementedError("another activation than relu");
    if (attributes.Bool("is_training", false)) return absl::UnimplementedError("statistics of the batch");
    const size_t outputs = context.node().outputs.size();
    for (size_t i = 1; i < outputs; ++i) {
      if (context.OutputUsed(static_cast<int>(i))) return absl::UnimplementedError("only the first output is computed");
    }
    const Dims dims = context.InputDims(0);
    const int rank = static_cast<int>(dims.size());
    if (rank < 2) return absl::UnimplementedError("batch norm of a vector");
    const Placement last = ChannelsLast(dims, IsChannelsLast(attributes), DataType::kFloat32);
    if (!SameLayout(DescOf(dims, context.InputPlacement(0)), DescOf(dims, last)))
      return absl::UnimplementedError("the channels do not lie next to each other");

    const int64_t channels = dims[ChannelAxis(attributes, rank)];
    int64_t pixels = 1;
    for (const int64_t dim : dims) pixels *= dim;
    if (pixels == 0) return absl::UnimplementedError("nothing to compute");
    pixels /= channels;
    simd::ChannelAffine affine{.relu = !activation.empty()};
    HALFTONE_ASSIGN_OR_RETURN(affine.means, OneAChannel(context, kMean, channels));
    HALFTONE_ASSIGN_OR_RETURN(affine.offsets, OneAChannel(context, kOffset, channels));
    HALFTONE_ASSIGN_OR_RETURN(affine.factors, OneAChannel(context, kScale, channels));
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<float> variances, OneAChannel(context, kVariance, channels));
    const double epsilon = static_cast<double>(attributes.Float("epsilon", 1e-5f));
    for (int64_t c = 0; c < channels; ++c) {
      const double deviation = std::sqrt(static_cast<double>(variances[c]) + epsilon);
      affine.factors[c] = static_cast<float>(static_cast<double>(affine.factors[c]) / deviation);
    }
    Prepared prepared{.inputs = {{0, last}}, .may_overwrite = 0, .kernel = "affine channels"};
    prepared.outputs.assign(outputs, Placement{});
    prepared.outputs[0] = last;
    prepared.step = std::make_unique<simd::LoopStep>([affine = std::move(affine), pixels](const simd::Memory& memory) {
      simd::NormalizeChannels(affine, memory.in<float>(0), pixels, memory.out<float>(0));
      return absl::OkStatus();
    });
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeAffineChannelsKernel() { return std::make_unique<AffineChannelsKernel>(); }

}  // namespace halftone::onednn

// SPDX-License-Identifier: Apache-2.0
// concat where the channels of all parts lie next to each other (channels last, or plain along the last dimension), by
// copies: oneDNN copies pixel by pixel, slowly where parts are small. Two parts that are laid side by side
// along a new innermost dimension take turns (a channel shuffle).
#include <algorithm>

#include "base/status.h"
#include "runtime/cpu/onednn/boxes.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/support.h"
#include "runtime/cpu/simd/channel_copy.h"
#include "runtime/cpu/simd/parallel.h"

namespace halftone::onednn {
namespace {

constexpr int64_t kGrainBytes = 1 << 16;  // worth a thread

// The bytes from one pixel to the next, where pixels are all dimensions but `inner` in the order of memory that
// `outer` gives; nullopt if they are not equally far apart.
std::optional<int64_t> PixelStep(const Dims& dims, const Dims& strides, const std::vector<size_t>& outer) {
  int64_t step = 0, size = 1;  // of the dimensions so far, innermost first
  for (size_t i = outer.size(); i-- > 0;) {
    const size_t d = outer[i];
    if (dims[d] == 1) continue;
    if (step == 0) {
      step = strides[d];
    } else if (strides[d] != step * size) {
      return std::nullopt;
    }
    size *= dims[d];
  }
  return step;
}

// Dimensions but those of `inner`, the longest stride first.
std::vector<size_t> Outer(const Dims& dims, const Dims& strides, const std::vector<size_t>& inner) {
  std::vector<size_t> outer;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (std::find(inner.begin(), inner.end(), i) == inner.end() && dims[i] != 1) outer.push_back(i);
  }
  std::stable_sort(outer.begin(), outer.end(), [&](size_t a, size_t b) { return strides[a] > strides[b]; });
  return outer;
}

// Strides of a dense result with the given dimensions innermost (the last of them changes fastest).
Dims DenseStrides(const Dims& dims, std::vector<size_t> order, const std::vector<size_t>& inner) {
  order.insert(order.end(), inner.begin(), inner.end());
  Dims strides(dims.size(), 0);
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= dims[order[i]];
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    if (strides[i] == 0) strides[i] = stride;  // of size 1: any
  }
  return strides;
}

// The inputs as strides; nullopt if one lies in blocks or the types differ.
std::optional<std::vector<Dims>> StridesOfInputs(const NodeContext& context, int count) {
  std::vector<Dims> all;
  for (int i = 0; i < count; ++i) {
    const Placement there = context.InputPlacement(i);
    const Strided strided = StridedInput(context.InputDims(i), there);
    if (there.type != context.OutputType() || strided.placement.plain() != there.plain()) return std::nullopt;
    all.push_back(strided.strides);
  }
  return all;
}

// Copies the parts to their channels, or lets two of them take turns.
class ChannelStep final : public Step {
 public:
  ChannelStep(std::vector<simd::ChannelPart> parts, int64_t pixels, int64_t to_step, size_t interleaved_bytes)
      : parts_(std::move(parts)), pixels_(pixels), to_step_(to_step), interleaved_bytes_(interleaved_bytes) {}

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) override {
    for (size_t i = 0; i < parts_.size(); ++i) parts_[i].from = inputs[i];
    to_ = outputs[0];
  }

  absl::Status Run() override {
    simd::ParallelFor(pixels_, kGrainBytes / std::max<int64_t>(1, to_step_), [this](int64_t first, int64_t last) {
      const simd::Pixels pixels{to_, to_step_, first, last};
      if (interleaved_bytes_ > 0) {
        simd::InterleaveChannels(parts_[0], parts_[1], interleaved_bytes_, pixels);
      } else {
        simd::CopyChannels(parts_, pixels);
      }
    });
    return absl::OkStatus();
  }

 private:
  std::vector<simd::ChannelPart> parts_;
  const int64_t pixels_, to_step_;
  const size_t interleaved_bytes_;  // of an element; 0: copied
  std::byte* to_ = nullptr;
};

// `inner`: the dimensions that make a pixel of the result, the last of them changes fastest. Along `inner[0]` the
// elements of every part lie next to each other.
absl::StatusOr<Prepared> OwnCopy(const NodeContext& context, int count, size_t axis, const std::vector<size_t>& inner) {
  const DataType type = context.OutputType();
  const std::optional<std::vector<Dims>> from = StridesOfInputs(context, count);
  if (!from.has_value()) return absl::UnimplementedError("the parts lie in blocks");
  const Dims out = context.OutputDims();
  const int64_t element = static_cast<int64_t>(ElementSize(type));
  const std::vector<size_t> outer = Outer(context.InputDims(0), (*from)[0], inner);
  const Desc desc(out, *DnnlType(type), DenseStrides(out, outer, inner), /*allow_empty=*/true);
  if (IsEmpty(desc)) return absl::UnimplementedError("oneDNN has no such layout");
  Prepared prepared{.outputs = {PlacementOf(desc, type)}, .kernel = "copy channels"};
  std::vector<simd::ChannelPart> parts;
  int64_t begin = 0;
  for (int i = 0; i < count; ++i) {
    const Dims dims = context.InputDims(i);
    const std::optional<int64_t> step = PixelStep(dims, (*from)[i], outer);
    if (!step.has_value() || (dims[inner[0]] > 1 && (*from)[i][inner[0]] != 1)) {
      return absl::UnimplementedError("the channels of a part do not lie next to each other");
    }
    parts.push_back({nullptr, *step * element, dims[inner[0]] * element, begin * element});
    begin += dims[axis];
    prepared.inputs.push_back({i, context.InputPlacement(i)});
  }
  int64_t pixels = 1, to_step = element;
  for (const size_t i : outer) pixels *= out[i];
  for (const size_t i : inner) to_step *= out[i];
  const size_t interleaved = inner.size() == 2 ? static_cast<size_t>(element) : 0;
  if (interleaved > 0) prepared.kernel = "interleave channels";
  prepared.step = std::make_unique<ChannelStep>(std::move(parts), pixels, to_step, interleaved);
  return prepared;
}

// Two parts of one shape with one element each along the axis: their elements alternate.
bool TakeTurns(const NodeContext& context, int count, size_t axis) {
  const size_t bytes = ElementSize(context.OutputType());
  return count == 2 && axis > 0 && (bytes == 1 || bytes == 2 || bytes == 4) && context.InputDims(0)[axis] == 1 &&
         context.InputDims(1)[axis] == 1;
}

class ConcatChannelsKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const int count = context.num_inputs() - 1;
    const std::optional<double> given = context.ConstantScalar(count);
    const int rank = static_cast<int>(context.OutputDims().size());
    if (!given.has_value() || rank == 0 || rank > DNNL_MAX_NDIMS) {
      return absl::UnimplementedError("the axis is not constant");
    }
    if (!DnnlType(context.OutputType()).has_value()) return absl::UnimplementedError("oneDNN does not know this type");
    const size_t axis = static_cast<size_t>(*given < 0 ? *given + rank : *given);
    for (int i = 0; i < count; ++i) {
      if (context.InputDims(i)[axis] == 0) return absl::UnimplementedError("an empty part");
    }
    if (TakeTurns(context, count, axis)) return OwnCopy(context, count, axis, {axis - 1, axis});
    return OwnCopy(context, count, axis, {axis});
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeConcatChannelsKernel() { return std::make_unique<ConcatChannelsKernel>(); }

}  // namespace halftone::onednn

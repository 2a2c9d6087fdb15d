// SPDX-License-Identifier: Apache-2.0
// space_to_batch, batch_to_space: one box of strides for each place in a block.
#include <algorithm>
#include <optional>

#include "base/status.h"
#include "runtime/cpu/onednn/boxes.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/simd/indices.h"

namespace halftone::onednn {
namespace {

// The side with the whole images, and the side where the places in a block are part of the batch.
struct Sides {
  Dims space, batch;
  Dims blocks, pads;  // pads: begin and end of each cut dimension, which are 1, 2, ...
  bool to_batch = true;
};

// Copies what belongs to place `place` (counted over all places in a block) of each image.
void AddPlace(const Sides& sides, int64_t place, size_t bytes, BoxStep& copy) {
  const Dims space_strides = PlainStrides(sides.space), batch_strides = PlainStrides(sides.batch);
  Dims box = sides.batch, space = space_strides;
  box[0] = sides.space[0];
  int64_t space_offset = 0, batch_offset = place * sides.space[0] * batch_strides[0];
  int64_t rest = place;
  for (size_t i = sides.blocks.size(); i-- > 0;) {
    const int64_t block = sides.blocks[i], phase = rest % block, before = sides.pads[2 * i];
    rest /= block;
    // Positions p of the batch side whose place p * block + phase - before lies within the image.
    const int64_t size = sides.space[i + 1];
    const int64_t first = std::max<int64_t>(0, (before - phase + block - 1) / block);
    const int64_t end = size + before - phase <= 0 ? 0 : (size + before - phase - 1) / block + 1;
    box[i + 1] = std::max<int64_t>(0, std::min(end, sides.batch[i + 1]) - first);
    space_offset += (first * block + phase - before) * space_strides[i + 1];
    batch_offset += first * batch_strides[i + 1];
    space[i + 1] = space_strides[i + 1] * block;
  }
  const BoxStep::End at_space{0, space_offset, space}, at_batch{0, batch_offset, batch_strides};
  copy.Add(box, sides.to_batch ? at_space : at_batch, sides.to_batch ? at_batch : at_space, bytes);
}

class CopyBlocksKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const std::optional<Dims> blocks = context.ConstantInts(1), pads = context.ConstantInts(2);
    if (!blocks.has_value() || !pads.has_value()) return absl::UnimplementedError("block_shape is not constant");
    const size_t bytes = ElementSize(context.InputType(0));
    Sides sides{context.InputDims(0), context.OutputDims(), *blocks, *pads};
    sides.to_batch = context.node().op == OpKind::kSpaceToBatch;
    if (!sides.to_batch) std::swap(sides.space, sides.batch);
    const bool fits = sides.space.size() > blocks->size() && pads->size() == 2 * blocks->size();
    if (!fits || simd::Product(sides.space) == 0) return absl::UnimplementedError("no blocks");
    auto copy = std::make_unique<BoxStep>();
    if (sides.to_batch) {
      copy->Fill(std::vector<std::byte>(bytes, std::byte{0}), static_cast<size_t>(simd::Product(sides.batch)) * bytes);
    }
    for (int64_t place = 0; place < simd::Product(*blocks); ++place) AddPlace(sides, place, bytes, *copy);
    const Placement plain{context.InputType(0)};
    return Prepared{.step = std::move(copy), .inputs = {{0, plain}}, .outputs = {plain}, .kernel = "copy"};
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeCopyBlocksKernel() { return std::make_unique<CopyBlocksKernel>(); }

}  // namespace halftone::onednn

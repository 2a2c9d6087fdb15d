// SPDX-License-Identifier: Apache-2.0
// gather, gather_nd and gather_elements of any element type: blocks of bytes from where indices point.
#include <algorithm>
#include <cstring>

#include "base/status.h"
#include "runtime/cpu/simd/indices.h"
#include "runtime/cpu/simd/kernels.h"
#include "runtime/cpu/simd/loop_step.h"
#include "runtime/cpu/simd/parallel.h"

namespace halftone::simd {
namespace {

using Dims = std::vector<int64_t>;

constexpr int64_t kGrainBytes = 1 << 16;

// y[b, o, i] = the block at offsets[b, i] of part o of batch b.
struct Blocks {
  int64_t batches = 1, outer = 1, count = 0;  // count: blocks in one part
  int64_t part_bytes = 0;                     // of x, from one o to the next
  int64_t unit_bytes = 0;                     // of an offset
  size_t block_bytes = 0;

  template <typename Copy>
  void Each(int64_t first, int64_t last, const int64_t* offsets, const std::byte* x, std::byte* y,
            const Copy& copy) const {
    for (int64_t at = first; at < last; ++at) {
      const int64_t row = at / count, i = at % count;
      const int64_t from = row * part_bytes + offsets[row / outer * count + i] * unit_bytes;
      copy(y + at * static_cast<int64_t>(block_bytes), x + from);
    }
  }

  void Copy(const int64_t* offsets, const std::byte* x, std::byte* y) const {
    if (block_bytes == 0) return;
    const int64_t grain = std::max<int64_t>(1, kGrainBytes / static_cast<int64_t>(std::max<size_t>(block_bytes, 16)));
    ParallelFor(batches * outer * count, grain, [&](int64_t first, int64_t last) {
      const auto fixed = [&]<size_t kBytes>() {
        Each(first, last, offsets, x, y, [](std::byte* to, const std::byte* from) { std::memcpy(to, from, kBytes); });
      };
      if (block_bytes == 1) return fixed.template operator()<1>();
      if (block_bytes == 2) return fixed.template operator()<2>();
      if (block_bytes == 4) return fixed.template operator()<4>();
      if (block_bytes == 8) return fixed.template operator()<8>();
      Each(first, last, offsets, x, y,
           [this](std::byte* to, const std::byte* from) { std::memcpy(to, from, block_bytes); });
    });
  }
};

// `find` writes the offsets that the indices mean.
template <typename Find>
Prepared PrepareBlocks(const NodeContext& context, const Blocks& blocks, int64_t offsets, Find find) {
  const DataType index_type = context.InputType(1);
  auto step = std::make_unique<LoopStep>([blocks, find, index_type](const Memory& memory) -> absl::Status {
    int64_t* const scratch = reinterpret_cast<int64_t*>(memory.scratch);
    HALFTONE_RETURN_IF_ERROR(find(memory.inputs[1], index_type, scratch));
    blocks.Copy(scratch, memory.inputs[0], memory.outputs[0]);
    return absl::OkStatus();
  });
  const Placement plain{context.InputType(0)};
  return Prepared{.step = std::move(step),
                  .inputs = {{0, plain}, {1, Placement{index_type}}},
                  .outputs = {plain},
                  .scratch_bytes = static_cast<size_t>(std::max<int64_t>(offsets, 1)) * sizeof(int64_t),
                  .kernel = "loop"};
}

absl::StatusOr<Prepared> Gather(const NodeContext& context) {
  const Dims x = context.InputDims(0), indices = context.InputDims(1);
  const std::optional<double> given = context.HasInput(2) ? context.ConstantScalar(2) : std::optional<double>(0);
  if (!given.has_value() || x.empty()) return absl::UnimplementedError("the axis is not constant");
  const int axis = static_cast<int>(*given < 0 ? *given + static_cast<double>(x.size()) : *given);
  int64_t batch_dims = context.node().attributes.Int("batch_dims", 0);
  if (batch_dims < 0) batch_dims += static_cast<int64_t>(indices.size());
  const std::span<const int64_t> dims(x);
  const int64_t count = Product(indices);
  Blocks blocks;
  blocks.batches = Product(dims.first(batch_dims));
  blocks.outer = Product(dims.subspan(batch_dims, axis - batch_dims));
  blocks.count = blocks.batches == 0 ? 0 : count / blocks.batches;
  blocks.block_bytes = static_cast<size_t>(Product(dims.subspan(axis + 1))) * ElementSize(context.InputType(0));
  blocks.unit_bytes = static_cast<int64_t>(blocks.block_bytes);
  blocks.part_bytes = x[axis] * blocks.unit_bytes;
  const int64_t size = x[axis];
  return PrepareBlocks(context, blocks, count,
                       [count, size](const std::byte* memory, DataType type, int64_t* offsets) -> absl::Status {
                         for (int64_t i = 0; i < count; ++i) {
                           HALFTONE_ASSIGN_OR_RETURN(offsets[i], CheckedIndex(IndexAt(memory, type, i), size, i));
                         }
                         return absl::OkStatus();
                       });
}

absl::StatusOr<Prepared> GatherNd(const NodeContext& context) {
  const Dims x = context.InputDims(0), indices = context.InputDims(1);
  const int64_t batch_dims = context.node().attributes.Int("batch_dims", 0);
  const std::span<const int64_t> dims(x);
  const Tuples tuples(dims.subspan(batch_dims), indices, Product(dims.first(batch_dims)));
  Blocks blocks;
  blocks.count = tuples.count;
  blocks.unit_bytes = static_cast<int64_t>(ElementSize(context.InputType(0)));
  blocks.block_bytes = static_cast<size_t>(Product(dims.subspan(batch_dims + tuples.length)) * blocks.unit_bytes);
  return PrepareBlocks(context, blocks, tuples.count,
                       [tuples](const std::byte* memory, DataType type, int64_t* offsets) {
                         return tuples.Offsets(memory, type, offsets);
                       });
}

absl::StatusOr<Prepared> GatherElements(const NodeContext& context) {
  const Dims x = context.InputDims(0), indices = context.InputDims(1);
  const int64_t written = context.node().attributes.Int("axis", 0);
  if (x.empty() || x.size() != indices.size()) return absl::UnimplementedError("scalars");
  const int axis = static_cast<int>(written < 0 ? written + static_cast<int64_t>(x.size()) : written);
  for (size_t i = 0; i < x.size(); ++i) {
    if (static_cast<int>(i) != axis && indices[i] > x[i]) return absl::UnimplementedError("indices longer than x");
  }
  const ElementIndices elements(x, indices, axis);
  Blocks blocks;
  blocks.count = elements.count;
  blocks.block_bytes = ElementSize(context.InputType(0));
  blocks.unit_bytes = static_cast<int64_t>(blocks.block_bytes);
  return PrepareBlocks(context, blocks, elements.count,
                       [elements](const std::byte* memory, DataType type, int64_t* offsets) {
                         return elements.Offsets(memory, type, offsets);
                       });
}

class GatherKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    if (!IsIndexType(context.InputType(1))) return absl::UnimplementedError("indices of another type");
    if (context.node().op == OpKind::kGatherNd) return GatherNd(context);
    return context.node().op == OpKind::kGatherElements ? GatherElements(context) : Gather(context);
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeGatherKernel() { return std::make_unique<GatherKernel>(); }

}  // namespace halftone::simd

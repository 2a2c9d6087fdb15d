// SPDX-License-Identifier: Apache-2.0
// binary_chain: simd::MakeChainStep, on the layout in which most of its operands of the result's shape lie; the others
// of that shape follow. Operands that are broadcast are read plain, in any layout: their strides say where.
#include "ir/binary_chain.h"

#include <algorithm>
#include <numeric>

#include "base/status.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/problem.h"
#include "runtime/cpu/onednn/support.h"
#include "runtime/cpu/simd/chain.h"
#include "runtime/cpu/simd/loop_step.h"

namespace halftone::onednn {
namespace {

// One loop over the elements of a layout: along which dimension, how many times, over how many elements of the
// dimension and how many of memory.
struct Loop {
  int dim = 0;
  int64_t count = 0, dim_step = 1, stride = 0;
};

// The loops that walk a dense layout in the order of memory; nullopt for one with gaps.
std::optional<std::vector<Loop>> LoopsOf(const Desc& desc) {
  const Dims dims = desc.get_dims();
  if (desc.get_padded_dims() != dims || desc.get_submemory_offset() != 0) return std::nullopt;
  const Dims blocks = desc.get_inner_blks(), indices = desc.get_inner_idxs(), strides = desc.get_strides();
  std::vector<Loop> inner;
  Dims inside(dims.size(), 1);  // elements of a dimension that lie in a block
  int64_t stride = 1;
  for (size_t i = blocks.size(); i-- > 0;) {
    inner.insert(inner.begin(), Loop{static_cast<int>(indices[i]), blocks[i], inside[indices[i]], stride});
    inside[indices[i]] *= blocks[i];
    stride *= blocks[i];
  }
  std::vector<Loop> loops;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t count = dims[i] / inside[i];
    if (count > 1) loops.push_back(Loop{static_cast<int>(i), count, inside[i], strides[i]});
  }
  std::ranges::stable_sort(loops, [](const Loop& a, const Loop& b) { return a.stride > b.stride; });
  for (size_t i = loops.size(); i-- > 0; stride *= loops[i].count) {
    if (loops[i].stride != stride) return std::nullopt;
  }
  loops.insert(loops.end(), inner.begin(), inner.end());
  return loops;
}

class BinaryChainKernel final : public Kernel {
 public:
  absl::Status SupportsInputs(const Graph& graph, std::span<const ValueId> inputs) const override {
    if (inputs.size() > simd::kMostChainOperands)
      return absl::UnimplementedError(Concat("no kernel for more than ", simd::kMostChainOperands, " operands"));
    return CheckFloatInputs(graph, inputs);
  }
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const std::optional<DataType> type = simd::ComputedType(context.InputType(0));
    if (!type.has_value()) return absl::UnimplementedError("for f32, bf16 and f16");
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<ChainStep> steps, StepsOfChain(context.node()));
    HALFTONE_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(context.node().attributes));
    simd::ChainTask task{.type = *type,
                         .steps = steps,
                         .activation = epilogue.activation,
                         .alpha = epilogue.alpha,
                         .beta = epilogue.beta};
    const Dims out = context.OutputDims();
    if (std::ranges::find(out, 0) != out.end()) return absl::UnimplementedError("nothing to compute");
    const Placement layout = MostFrequent(context, out, *type);
    const std::optional<std::vector<Loop>> loops = LoopsOf(DescOf(out, layout));
    if (!loops.has_value()) return absl::UnimplementedError("a layout with gaps");
    for (const Loop& loop : *loops) task.dims.push_back(loop.count);

    Prepared prepared{.outputs = {layout}, .kernel = "chain loop"};
    for (int i = 0; i < context.num_inputs(); ++i) {
      const Dims dims = context.InputDims(i);
      const bool whole = dims == out;
      prepared.inputs.push_back({i, whole ? layout : Placement{*type}});
      if (whole && prepared.may_overwrite < 0) prepared.may_overwrite = i;
      std::vector<int64_t>& strides = task.strides.emplace_back();
      for (const Loop& loop : *loops) strides.push_back(whole ? loop.stride : StrideOf(dims, out, loop));
    }
    prepared.step = simd::MakeChainStep(std::move(task));
    if (prepared.step == nullptr) return absl::UnimplementedError("no loop for so many operands");
    return prepared;
  }

 private:
  // How far one round of the loop moves in a plain operand.
  static int64_t StrideOf(const Dims& dims, const Dims& out, const Loop& loop) {
    const int64_t missing = static_cast<int64_t>(out.size() - dims.size()), dim = loop.dim - missing;
    if (dim < 0 || dims[dim] == 1) return 0;
    return PlainStrides(dims)[dim] * loop.dim_step;
  }

  // Of the operands of the result's shape; plain if there is none.
  static Placement MostFrequent(const NodeContext& context, const Dims& out, DataType type) {
    std::vector<Placement> there;
    for (int i = 0; i < context.num_inputs(); ++i) {
      const Placement placement = context.InputPlacement(i);
      const bool fits = context.InputDims(i) == out && placement.type == type && context.Constant(i) == nullptr;
      if (fits && (placement.plain() || LoopsOf(DescOf(out, placement)).has_value())) there.push_back(placement);
    }
    Placement best{type};
    int most = 0;
    for (const Placement& one : there) {
      const int count = static_cast<int>(std::ranges::count_if(
          there, [&](const Placement& other) { return SameLayout(DescOf(out, one), DescOf(out, other)); }));
      if (count > most) best = one;
      most = std::max(most, count);
    }
    return best;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeBinaryChainKernel() { return std::make_unique<BinaryChainKernel>(); }

}  // namespace halftone::onednn

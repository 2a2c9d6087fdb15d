// SPDX-License-Identifier: Apache-2.0
// reduce_mean, reduce_sum, reduce_max: dnnl::reduction over the last dimension of a matrix. The reduced axes are made
// the last ones first, by the order of dimensions in memory, so that the fast kernel always fits.
#include <algorithm>

#include "base/status.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/support.h"

namespace halftone::onednn {
namespace {

using Primitive = dnnl::reduction::primitive_desc;

class ReduceKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType type = context.InputType(0);
    if (type != context.OutputType()) return absl::UnimplementedError("a result of another type");
    const Dims dims = context.InputDims(0);
    const int rank = static_cast<int>(dims.size());
    std::vector<bool> reduced(rank, false);
    if (context.HasInput(1)) {
      const auto axes = context.ConstantInts(1);
      if (!axes.has_value()) return absl::UnimplementedError("the axes are not constant");
      for (const int64_t axis : *axes) {
        if (axis < -rank || axis >= rank) return absl::InvalidArgumentError("an axis is out of range");
        reduced[axis < 0 ? axis + rank : axis] = true;
      }
      if (axes->empty()) {
        if (context.node().attributes.Bool("noop_with_empty_axes", false))
          return absl::UnimplementedError("reduces nothing");
        reduced.assign(rank, true);
      }
    } else {
      if (context.node().attributes.Bool("noop_with_empty_axes", false))
        return absl::UnimplementedError("reduces nothing");
      reduced.assign(rank, true);
    }
    std::vector<int> order;
    Dims matrix = {1, 1};
    for (const bool wanted : {false, true}) {
      for (int i = 0; i < rank; ++i) {
        if (reduced[i] != wanted) continue;
        order.push_back(i);
        matrix[wanted ? 1 : 0] *= dims[i];
      }
    }
    if (matrix[0] == 0 || matrix[1] == 0) return absl::UnimplementedError("a reduction of nothing");
    // Plain in that order, said in the value's order.
    Placement placement{type};
    if (rank > 0) {
      std::vector<int> back(rank);
      for (int i = 0; i < rank; ++i) back[order[i]] = i;
      placement = PlacementOf(Reordered(PlainDesc(Reordered(dims, order), type), back), type);
    }
    const dnnl::algorithm algorithm = context.node().op == OpKind::kReduceMean  ? dnnl::algorithm::reduction_mean
                                      : context.node().op == OpKind::kReduceSum ? dnnl::algorithm::reduction_sum
                                                                                : dnnl::algorithm::reduction_max;
    const Desc src = PlainDesc(matrix, type);
    const Desc dst = PlainDesc(Dims{matrix[0], 1}, type);
    const Primitive primitive(CpuEngine(), algorithm, src, dst, 0.0f, 0.0f, UserScratch(), /*allow_empty=*/true);
    if (!primitive) return absl::UnimplementedError("oneDNN has no such reduction");
    Prepared prepared{.inputs = {{0, placement}}, .outputs = {Placement{type}}, .kernel = ImplementationOf(primitive)};
    prepared.scratch_bytes = primitive.scratchpad_desc().get_size();
    auto step = std::make_unique<PrimitiveStep>();
    HALFTONE_RETURN_IF_ERROR(Guard([&] { step->AddCall(dnnl::reduction(primitive)); }));
    step->AddInput(DNNL_ARG_SRC, src, 0);
    step->AddOutput(DNNL_ARG_DST, dst);
    step->AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), 0);
    prepared.step = std::move(step);
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeReduceKernel() { return std::make_unique<ReduceKernel>(); }

}  // namespace halftone::onednn

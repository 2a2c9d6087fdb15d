// SPDX-License-Identifier: Apache-2.0
// prelu: dnnl::prelu_forward, in the layout of x.
#include <algorithm>

#include "base/status.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/support.h"

namespace halftone::onednn {
namespace {

using Primitive = dnnl::prelu_forward::primitive_desc;

// Whether a slope a channel meets its channel: oneDNN 3.7 takes other layouts (transposed views), too, and computes
// wrong numbers there.
bool HasChannelsInPlace(const Desc& desc) {
  const int rank = desc.get_ndims();
  if (desc.get_inner_nblks() == 0)
    return IsPlain(desc) || (rank > 2 && IsPlain(Reordered(desc, ValueOrder(rank, /*channels_last=*/true))));
  const Dims strides = desc.get_strides();
  return std::is_sorted(strides.rbegin(), strides.rend());
}

class PReluKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType type = context.OutputType();
    if (context.InputType(0) != type || context.InputType(1) != type)
      return absl::UnimplementedError("operands of different types");
    const Dims dims = context.InputDims(0);
    if (dims != context.OutputDims() || dims.empty()) return absl::UnimplementedError("x is broadcast, or a scalar");
    Dims slope = context.InputDims(1);
    slope.insert(slope.begin(), dims.size() - slope.size(), 1);
    const Placement there = context.InputPlacement(0);
    for (const Placement& placement : {there, Placement{type}}) {
      const Desc src = DescOf(dims, placement);
      if (!HasChannelsInPlace(src)) continue;
      const Desc weights = PlainDesc(slope, type);
      const Primitive primitive(CpuEngine(), dnnl::prop_kind::forward_inference, src, weights, src, UserScratch(),
                                /*allow_empty=*/true);
      if (!primitive || IsSlow(primitive)) continue;
      Prepared prepared{.inputs = {{0, placement}, {1, Placement{type}}},
                        .outputs = {placement},
                        .may_overwrite = 0,
                        .kernel = ImplementationOf(primitive)};
      prepared.scratch_bytes = primitive.scratchpad_desc().get_size();
      auto step = std::make_unique<PrimitiveStep>();
      HALFTONE_RETURN_IF_ERROR(Guard([&] { step->AddCall(dnnl::prelu_forward(primitive)); }));
      step->AddInput(DNNL_ARG_SRC, src, 0);
      step->AddInput(DNNL_ARG_WEIGHTS, weights, 1);
      step->AddOutput(DNNL_ARG_DST, src);
      step->AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), 0);
      prepared.step = std::move(step);
      return prepared;
    }
    return absl::UnimplementedError("oneDNN has no fast prelu for this slope");
  }
};

}  // namespace

std::unique_ptr<Kernel> MakePReluKernel() { return std::make_unique<PReluKernel>(); }

}  // namespace halftone::onednn

// SPDX-License-Identifier: Apache-2.0
// concat of floats: dnnl::concat, in the layouts that the inputs have.
#include "base/status.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/support.h"

namespace halftone::onednn {
namespace {

class ConcatKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType type = context.OutputType();
    if (!IsFloat(type)) return absl::UnimplementedError("oneDNN concatenates floats");
    const int count = context.num_inputs() - 1;
    const std::optional<double> given = context.ConstantScalar(count);
    const int rank = static_cast<int>(context.OutputDims().size());
    if (!given.has_value() || rank == 0) return absl::UnimplementedError("the axis is not constant");
    const int axis = static_cast<int>(*given < 0 ? *given + rank : *given);

    Prepared prepared;
    std::vector<Desc> sources;
    for (int i = 0; i < count; ++i) {
      if (context.InputDims(i)[axis] == 0) return absl::UnimplementedError("an empty part");
      const Placement placement = context.InputPlacement(i);
      sources.push_back(DescOf(context.InputDims(i), placement));
      prepared.inputs.push_back({i, placement});
    }
    const dnnl::concat::primitive_desc primitive(CpuEngine(), axis, sources, UserScratch(), /*allow_empty=*/true);
    if (!primitive) return absl::UnimplementedError("oneDNN has no such concatenation");
    prepared.outputs.push_back(PlacementOf(primitive.dst_desc(), type));
    prepared.kernel = ImplementationOf(primitive);
    prepared.scratch_bytes = primitive.scratchpad_desc().get_size();
    auto step = std::make_unique<PrimitiveStep>();
    HALFTONE_RETURN_IF_ERROR(Guard([&] { step->AddCall(dnnl::concat(primitive)); }));
    for (int i = 0; i < count; ++i) step->AddInput(DNNL_ARG_MULTIPLE_SRC + i, sources[i], i);
    step->AddOutput(DNNL_ARG_DST, primitive.dst_desc());
    step->AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), 0);
    prepared.step = std::move(step);
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeConcatKernel() { return std::make_unique<ConcatKernel>(); }

}  // namespace halftone::onednn

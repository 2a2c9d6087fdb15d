// Ops that only see the same bytes differently: reshape and its like, identity, transpose. No step at run time.
//
// A transpose is a permuted layout; whoever needs another one converts it. A reshape of a layout that oneDNN cannot see
// in the new shape is a conversion to plain first.
#include "base/status.h"
#include "runtime/onednn/kernels.h"
#include "runtime/onednn/support.h"

namespace halftone::onednn {
namespace {

class ViewKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const Node& node = context.node();
    for (size_t i = 1; i < node.outputs.size(); ++i) {
      if (context.OutputUsed(static_cast<int>(i))) return absl::UnimplementedError("only the first output is a view");
    }
    if (node.op == OpKind::kDropout && context.HasInput(2) && context.ConstantScalar(2) != 0)
      return absl::UnimplementedError("dropout that may be in training mode");
    const DataType type = context.OutputType();
    const Dims in = context.InputDims(0), out = context.OutputDims();
    const Placement there = context.InputPlacement(0);
    Prepared prepared{.kernel = "view"};
    prepared.outputs.assign(node.outputs.size(), Placement{});
    if (node.op == OpKind::kTranspose) {
      const auto perm = context.ConstantInts(1);
      if (!perm.has_value() || perm->size() != in.size())
        return absl::UnimplementedError("the permutation is not constant");
      if (!DnnlType(type).has_value() || in.empty() || in.size() > DNNL_MAX_NDIMS) {
        return absl::UnimplementedError("oneDNN has no such layout");
      }
      const std::vector<int> order(perm->begin(), perm->end());
      const Desc desc = Reordered(DescOf(in, there), order);
      if (IsEmpty(desc)) return absl::InvalidArgumentError("perm is no permutation");
      prepared.inputs.push_back({0, there});
      prepared.outputs[0] = PlacementOf(desc, type);
      return prepared;
    }
    if (in == out) {
      prepared.inputs.push_back({0, there});
      prepared.outputs[0] = there;
      return prepared;
    }
    // A dimension of 1 that a layout pads to its block: oneDNN 3.7 reshapes that as if there were no padding.
    const bool padded = !there.plain() && DescOf(in, there).get_padded_dims() != in;
    if (!there.plain() && !padded && !out.empty() && out.size() <= DNNL_MAX_NDIMS) {
      const Desc desc = DescOf(in, there).reshape(out, /*allow_empty=*/true);
      if (!IsEmpty(desc)) {
        prepared.inputs.push_back({0, there});
        prepared.outputs[0] = PlacementOf(desc, type);
        return prepared;
      }
    }
    prepared.inputs.push_back({0, Placement{type}});
    prepared.outputs[0] = Placement{type};
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeViewKernel() { return std::make_unique<ViewKernel>(); }

}  // namespace halftone::onednn

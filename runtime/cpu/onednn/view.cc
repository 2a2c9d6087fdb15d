// SPDX-License-Identifier: Apache-2.0
// Ops that only see the same bytes differently: reshape and its like, identity, transpose. No step at run time.
//
// A transpose is a permuted layout; whoever needs another one converts it. A reshape of a layout that oneDNN cannot see
// in the new shape is a conversion to plain first.
#include "base/status.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/support.h"

namespace halftone::onednn {
namespace {

// Strides of the same elements in another shape; nullopt where they cannot be said. Runs of dimensions of either shape
// that have as many elements belong together; inside a run the old dimensions must be one, as if it were dense.
std::optional<Dims> ReshapedStrides(const Dims& in, const Dims& strides, const Dims& out) {
  Dims from_dims, from_strides;  // without those of size 1
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] == 0) return std::nullopt;
    if (in[i] == 1) continue;
    from_dims.push_back(in[i]);
    from_strides.push_back(strides[i]);
  }
  Dims result(out.size(), 0);
  size_t i = 0, j = 0;
  while (i < from_dims.size() && j < out.size()) {
    size_t i_end = i + 1, j_end = j + 1;
    int64_t in_run = from_dims[i], out_run = out[j];
    while (in_run != out_run) {
      if (in_run < out_run) {
        if (i_end == from_dims.size()) return std::nullopt;
        in_run *= from_dims[i_end++];
      } else {
        if (j_end == out.size()) return std::nullopt;
        out_run *= out[j_end++];
      }
    }
    for (size_t k = i; k + 1 < i_end; ++k) {
      if (from_strides[k] != from_strides[k + 1] * from_dims[k + 1]) return std::nullopt;
    }
    int64_t stride = from_strides[i_end - 1];
    for (size_t k = j_end; k-- > j;) {
      result[k] = stride;
      stride *= out[k];
    }
    i = i_end;
    j = j_end;
  }
  for (; j < out.size(); ++j) {  // of size 1: any stride will do
    if (out[j] != 1) return std::nullopt;
    result[j] = 1;
  }
  return i == from_dims.size() ? std::optional<Dims>(result) : std::nullopt;
}

// The placement `there` seen in another shape; nullopt where elements would have to move.
std::optional<Placement> Reshaped(const Dims& in, const Placement& there, const Dims& out) {
  if (there.plain() || out.empty() || out.size() > DNNL_MAX_NDIMS) return std::nullopt;
  const Desc desc = DescOf(in, there);
  if (desc.get_inner_nblks() == 0 && desc.get_submemory_offset() == 0) {
    const std::optional<Dims> strides = ReshapedStrides(in, desc.get_strides(), out);
    if (!strides.has_value()) return std::nullopt;
    const Desc seen(out, desc.get_data_type(), *strides, /*allow_empty=*/true);
    return IsEmpty(seen) ? std::nullopt : std::optional(PlacementOf(seen, there.type));
  }
  // A dimension of 1 that a layout pads to its block: oneDNN 3.7 reshapes that as if there were no padding.
  if (desc.get_padded_dims() != in) return std::nullopt;
  const Desc seen = desc.reshape(out, /*allow_empty=*/true);
  return IsEmpty(seen) ? std::nullopt : std::optional(PlacementOf(seen, there.type));
}

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
    if (const std::optional<Placement> seen = Reshaped(in, there, out); seen.has_value()) {
      prepared.inputs.push_back({0, there});
      prepared.outputs[0] = *seen;
      return prepared;
    }
    prepared.inputs.push_back({0, Placement{type}});
    prepared.outputs[0] = Placement{type};
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeViewKernel() { return std::make_unique<ViewKernel>(); }

}  // namespace halftone::onednn

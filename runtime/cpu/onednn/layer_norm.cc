// SPDX-License-Identifier: Apache-2.0
// layer_norm whose statistics are not used: dnnl::layer_normalization_forward over the rows of a matrix; lrn:
// dnnl::lrn_forward.
#include <algorithm>

#include "base/status.h"
#include "ir/window.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/problem.h"

namespace halftone::onednn {
namespace {

// Whether a parameter of these dimensions has one number for each element that is normalized together.
bool IsOneARow(const Dims& parameter, const Dims& dims, int64_t axis) {
  if (parameter.size() > dims.size()) return false;
  const size_t missing = dims.size() - parameter.size();
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t size = i < missing ? 1 : parameter[i - missing];
    if (size != (static_cast<int64_t>(i) < axis ? 1 : dims[i])) return false;
  }
  return true;
}

class LayerNormKernel final : public Kernel {
 public:
  using Primitive = dnnl::layer_normalization_forward::primitive_desc;

  // For any shapes.
  bool WritesType(const Graph&, NodeId, DataType src, DataType dst) const override {
    const Dims dims = {16, 64};
    const dnnl::layer_normalization_forward::primitive_desc primitive(
        CpuEngine(), dnnl::prop_kind::forward_inference, PlainDesc(dims, src), PlainDesc(dims, dst), 1e-5f,
        dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift, UserScratch(),
        /*allow_empty=*/true);
    return primitive && !IsSlow(primitive);
  }

  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const Node& node = context.node();
    const DataType type = context.InputType(0), result = context.OutputType();
    if (!IsFloat(type) || !IsFloat(result)) return absl::UnimplementedError("oneDNN normalizes floats");
    for (size_t i = 1; i < node.outputs.size(); ++i) {
      if (context.OutputUsed(static_cast<int>(i))) return absl::UnimplementedError("the statistics are read");
    }
    const Dims dims = context.InputDims(0);
    const int rank = static_cast<int>(dims.size());
    const int64_t given = node.attributes.Int("axis", -1);
    const int64_t axis = given < 0 ? given + rank : given;
    if (axis < 0 || axis >= rank) return absl::InvalidArgumentError("the axis is out of range");
    Dims matrix = {1, 1};
    for (int i = 0; i < rank; ++i) matrix[i < axis ? 0 : 1] *= dims[i];
    if (matrix[0] == 0 || matrix[1] == 0) return absl::UnimplementedError("nothing to normalize");
    for (int i = 1; i <= 2; ++i) {
      if (!context.HasInput(i)) continue;
      if (!IsOneARow(context.InputDims(i), dims, axis))
        return absl::UnimplementedError("parameters are not one an element of a row");
    }
    for (const DataType computed : {type, DataType::kFloat32}) {
      const DataType made = computed == type ? result : computed;
      const Primitive primitive = Make(context, PlainDesc(matrix, computed), PlainDesc(matrix, made));
      if (!primitive || IsSlow(primitive)) continue;
      absl::StatusOr<Prepared> prepared = Build(context, primitive, Placement{computed}, matrix[1]);
      if (prepared.ok() && made != computed) SetResult(Placement{made}, *prepared);
      return prepared;
    }
    return absl::UnimplementedError("oneDNN has no fast layer norm here");
  }

 private:
  static Primitive Make(const NodeContext& context, const Desc& src, const Desc& dst) {
    using Flags = dnnl::normalization_flags;
    const Flags flags = context.HasInput(2) ? Flags::use_scale | Flags::use_shift : Flags::use_scale;
    return Primitive(CpuEngine(), dnnl::prop_kind::forward_inference, src, dst,
                     context.node().attributes.Float("epsilon", 1e-5f), flags, UserScratch(), /*allow_empty=*/true);
  }

  static absl::StatusOr<Prepared> Build(const NodeContext& context, const Primitive& primitive,
                                        const Placement& placement, int64_t size) {
    Prepared prepared{.inputs = {{0, placement}}, .may_overwrite = 0, .kernel = ImplementationOf(primitive)};
    prepared.outputs.assign(context.node().outputs.size(), Placement{});
    prepared.outputs[0] = placement;
    prepared.scratch_bytes = primitive.scratchpad_desc().get_size();
    auto step = std::make_unique<PrimitiveStep>();
    HALFTONE_RETURN_IF_ERROR(Guard([&] { step->AddCall(dnnl::layer_normalization_forward(primitive)); }));
    step->AddInput(DNNL_ARG_SRC, primitive.src_desc(), 0);
    step->AddOutput(DNNL_ARG_DST, primitive.dst_desc());
    step->AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), 0);
    const Desc vector = PlainDesc(Dims{size}, DataType::kFloat32);
    constexpr int kArguments[] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT};
    for (int i = 1; i <= 2; ++i) {
      if (!context.HasInput(i)) continue;
      const Tensor* constant = context.Constant(i);
      if (constant != nullptr && DnnlType(constant->type()).has_value()) {
        HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed,
                                  Pack(*constant, PlainDesc(Dims{size}, constant->type()), vector));
        step->AddPrepacked(kArguments[i - 1], std::move(packed));
      } else {
        prepared.inputs.push_back({i, Placement{DataType::kFloat32}});
        step->AddInput(kArguments[i - 1], vector, static_cast<int>(prepared.inputs.size()) - 1);
      }
    }
    prepared.step = std::move(step);
    return prepared;
  }
};

class LrnKernel final : public Kernel {
 public:
  using Primitive = dnnl::lrn_forward::primitive_desc;

  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const Attributes& attributes = context.node().attributes;
    const DataType type = context.InputType(0);
    if (!IsFloat(type) || type != context.OutputType()) return absl::UnimplementedError("oneDNN normalizes floats");
    const Dims dims = context.InputDims(0);
    const int rank = static_cast<int>(dims.size());
    const int64_t size = attributes.Int("size", 1);
    if (rank != 4 || size % 2 == 0 || std::find(dims.begin(), dims.end(), 0) != dims.end())
      return absl::UnimplementedError("oneDNN normalizes images over an odd number of channels");
    const std::vector<int> order = ChannelsFirstOrder(rank, IsChannelsLast(attributes));
    const Placement there = context.InputPlacement(0);
    for (const DataType computed : {type, DataType::kFloat32}) {
      for (const Placement& placement : {computed == type ? there : Placement{computed}, Placement{computed}}) {
        const Desc desc = Reordered(DescOf(dims, placement), order);
        if (IsEmpty(desc)) continue;
        const Primitive primitive(CpuEngine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::lrn_across_channels,
                                  desc, desc, size, attributes.Float("alpha", 1e-4f), attributes.Float("beta", 0.75f),
                                  attributes.Float("bias", 1.0f), UserScratch(), /*allow_empty=*/true);
        if (!primitive || IsSlow(primitive)) continue;
        absl::StatusOr<Prepared> prepared = PrepareInPlace<dnnl::lrn_forward>(primitive, desc, placement);
        if (prepared.ok()) prepared->may_overwrite = -1;  // it reads neighbours after it has written
        return prepared;
      }
    }
    return absl::UnimplementedError("oneDNN has no fast lrn here");
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeLayerNormKernel() { return std::make_unique<LayerNormKernel>(); }
std::unique_ptr<Kernel> MakeLrnKernel() { return std::make_unique<LrnKernel>(); }

}  // namespace halftone::onednn

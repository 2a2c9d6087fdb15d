// SPDX-License-Identifier: Apache-2.0
// batch_norm with given statistics: dnnl::batch_normalization_forward; softmax, log_softmax: dnnl::softmax_forward.
#include "base/status.h"
#include "base/strings.h"
#include "ir/window.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/problem.h"

namespace halftone::onednn {
namespace {

class BatchNormKernel final : public Kernel {
 public:
  using Primitive = dnnl::batch_normalization_forward::primitive_desc;

  absl::Status SupportsFused(const Graph& graph, NodeId node, const FusedParts& parts) const override {
    if (parts.activation == Activation::kRelu && !graph.node(node).attributes.Bool("is_training", false))
      return absl::OkStatus();
    return absl::UnimplementedError(Concat("no kernel of batch_norm with ", ActivationName(parts.activation)));
  }

  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const Node& node = context.node();
    const DataType type = context.InputType(0);
    if (!IsFloat(type) || type != context.OutputType()) return absl::UnimplementedError("oneDNN normalizes floats");
    const std::string activation = node.attributes.String("activation", "");
    if (!activation.empty() && activation != ActivationName(Activation::kRelu)) {
      return absl::UnimplementedError("another activation than relu");
    }
    if (node.attributes.Bool("is_training", false)) return absl::UnimplementedError("statistics of the batch");
    for (size_t i = 1; i < node.outputs.size(); ++i) {
      if (context.OutputUsed(static_cast<int>(i))) return absl::UnimplementedError("only the first output is computed");
    }
    if (context.InputDims(0).size() < 2) return absl::UnimplementedError("batch norm of a vector");
    for (const DataType computed : {type, DataType::kFloat32}) {
      const Placement there = computed == type ? context.InputPlacement(0) : Placement{computed};
      for (const Placement& placement : {there, Placement{computed}}) {
        absl::StatusOr<Prepared> prepared = Build(context, placement);
        if (!prepared.ok() && !absl::IsUnimplemented(prepared.status())) return prepared;
        if (prepared.ok() && !prepared->kernel.slow) return prepared;
      }
    }
    return absl::UnimplementedError("oneDNN has no fast batch norm for this layout");
  }

 private:
  static absl::StatusOr<Prepared> Build(const NodeContext& context, const Placement& placement) {
    const Dims dims = context.InputDims(0);
    const int rank = static_cast<int>(dims.size());
    const Attributes& attributes = context.node().attributes;
    const Desc src = Reordered(DescOf(dims, placement), ChannelsFirstOrder(rank, IsChannelsLast(attributes)));
    if (IsEmpty(src)) return absl::UnimplementedError("no such layout");
    using Flags = dnnl::normalization_flags;
    Flags flags = Flags::use_global_stats | Flags::use_scale | Flags::use_shift;
    if (attributes.has("activation")) flags |= Flags::fuse_norm_relu;
    const Primitive primitive(CpuEngine(), dnnl::prop_kind::forward_inference, src, src,
                              attributes.Float("epsilon", 1e-5f), flags, UserScratch(), /*allow_empty=*/true);
    if (!primitive) return absl::UnimplementedError("no such kernel");
    Prepared prepared{.inputs = {{0, placement}}, .may_overwrite = 0, .kernel = ImplementationOf(primitive)};
    prepared.outputs.assign(context.node().outputs.size(), Placement{});
    prepared.outputs[0] = placement;
    prepared.scratch_bytes = primitive.scratchpad_desc().get_size();
    auto step = std::make_unique<PrimitiveStep>();
    HALFTONE_RETURN_IF_ERROR(Guard([&] { step->AddCall(dnnl::batch_normalization_forward(primitive)); }));
    step->AddInput(DNNL_ARG_SRC, src, 0);
    step->AddOutput(DNNL_ARG_DST, src);
    step->AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), 0);

    const Dims channels{src.get_dims()[1]};
    const Desc vector = PlainDesc(channels, DataType::kFloat32);
    constexpr int kArguments[] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE};
    for (int i = 0; i < 4; ++i) {
      if (context.InputDims(i + 1) != channels) return absl::UnimplementedError("statistics are not one a channel");
      if (const Tensor* constant = context.Constant(i + 1); constant != nullptr) {
        HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed,
                                  Pack(*constant, PlainDesc(channels, constant->type()), vector));
        step->AddPrepacked(kArguments[i], std::move(packed));
      } else {
        prepared.inputs.push_back({i + 1, Placement{DataType::kFloat32}});
        step->AddInput(kArguments[i], vector, static_cast<int>(prepared.inputs.size()) - 1);
      }
    }
    prepared.step = std::move(step);
    return prepared;
  }
};

class SoftmaxKernel final : public Kernel {
 public:
  using Primitive = dnnl::softmax_forward::primitive_desc;

  // For any shapes.
  bool WritesType(const Graph&, NodeId, DataType src, DataType dst) const override {
    const Dims dims = {16, 64};
    const dnnl::softmax_forward::primitive_desc primitive(
        CpuEngine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::softmax_accurate, PlainDesc(dims, src),
        PlainDesc(dims, dst), /*axis=*/1, UserScratch(), /*allow_empty=*/true);
    return primitive && !IsSlow(primitive);
  }

  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType type = context.InputType(0), result = context.OutputType();
    if (!IsFloat(type) || !IsFloat(result)) return absl::UnimplementedError("oneDNN's softmax is for floats");
    const Dims dims = context.InputDims(0);
    const int rank = static_cast<int>(dims.size());
    if (rank == 0) return absl::UnimplementedError("softmax of a scalar");
    const Attributes& attributes = context.node().attributes;
    if (context.HasInput(1) || attributes.Float("scale", 1) != 1)
      return absl::UnimplementedError("oneDNN's softmax has no scale and no addend");
    const int64_t given = attributes.Int("axis", -1);
    const int axis = static_cast<int>(given < 0 ? given + rank : given);
    const bool flatten = attributes.Bool("flatten", false);
    if (axis < 0 || axis > rank - (flatten ? 0 : 1)) return absl::InvalidArgumentError("the axis is out of range");

    const dnnl::algorithm algorithm =
        context.node().op == OpKind::kLogSoftmax ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate;
    const Placement there = context.InputPlacement(0);
    for (const DataType computed : {type, DataType::kFloat32}) {
      for (const Placement& placement :
           {computed == type && !flatten ? there : Placement{computed}, Placement{computed}}) {
        Desc desc = DescOf(dims, placement);
        int along = axis;
        if (flatten) {
          Dims matrix = {1, 1};
          for (int i = 0; i < rank; ++i) matrix[i < axis ? 0 : 1] *= dims[i];
          desc = PlainDesc(matrix, computed);
          along = 1;
        }
        const Desc dst = computed == type && result != type ? OfType(desc, result) : desc;
        if (IsEmpty(dst)) continue;
        const Primitive primitive(CpuEngine(), dnnl::prop_kind::forward_inference, algorithm, desc, dst, along,
                                  UserScratch(), /*allow_empty=*/true);
        if (!primitive || IsSlow(primitive)) continue;
        absl::StatusOr<Prepared> prepared = PrepareInPlace<dnnl::softmax_forward>(primitive, desc, placement);
        if (prepared.ok() && dst != desc) SetResult(WithType(dims, placement, result), *prepared);
        return prepared;
      }
    }
    return absl::UnimplementedError("oneDNN has no fast softmax here");
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeBatchNormKernel() { return std::make_unique<BatchNormKernel>(); }
std::unique_ptr<Kernel> MakeSoftmaxKernel() { return std::make_unique<SoftmaxKernel>(); }

}  // namespace halftone::onednn

// SPDX-License-Identifier: Apache-2.0
// Elementwise ops of two tensors with broadcasting, and bias_add: dnnl::binary.
//
// oneDNN broadcasts its second operand only, so the one of the result's shape comes first (subtraction and division
// need it there by nature). The layout of the first is kept; the second one follows where it has the same shape.
#include <algorithm>

#include "base/status.h"
#include "ir/window.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/support.h"

namespace halftone::onednn {
namespace {

using Algorithm = dnnl::algorithm;
using Primitive = dnnl::binary::primitive_desc;

struct Function {
  Algorithm algorithm = Algorithm::undef;
  bool commutes = false;
  bool squared = false;
};

std::optional<Function> FunctionOf(OpKind op) {
  switch (op) {
    case OpKind::kAdd:
    case OpKind::kBiasAdd:
      return Function{Algorithm::binary_add, true};
    case OpKind::kMul:
      return Function{Algorithm::binary_mul, true};
    case OpKind::kMaximum:
      return Function{Algorithm::binary_max, true};
    case OpKind::kMinimum:
      return Function{Algorithm::binary_min, true};
    case OpKind::kSub:
      return Function{Algorithm::binary_sub};
    case OpKind::kDiv:
      return Function{Algorithm::binary_div};
    case OpKind::kSquaredDifference:
      return Function{Algorithm::binary_sub, true, true};
    default:
      return std::nullopt;
  }
}

class BinaryKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType type = context.OutputType();
    if (context.InputType(0) != type || context.InputType(1) != type)
      return absl::UnimplementedError("operands of different types");
    const std::optional<Function> function = FunctionOf(context.node().op);
    if (!function.has_value()) return absl::UnimplementedError("oneDNN has no such function");
    const Dims out = context.OutputDims();
    const bool whole_first = context.InputDims(0) == out;
    if (!whole_first && !(function->commutes && context.InputDims(1) == out)) {
      return absl::UnimplementedError("oneDNN broadcasts the second operand only");
    }
    const int first = whole_first ? 0 : 1;
    const int second = 1 - first;
    Dims small = context.InputDims(second);
    if (context.node().op == OpKind::kBiasAdd) {
      const int axis = ChannelAxis(context.node().attributes, static_cast<int>(out.size()));
      const int64_t channels = small.empty() ? 1 : small[0];
      small.assign(out.size(), 1);
      small[axis] = channels;
    }
    small.insert(small.begin(), out.size() - small.size(), 1);

    const Placement there = context.InputPlacement(first);
    for (const DataType computed : {type, DataType::kFloat32}) {
      const Placement kept = computed == type ? there : Placement{computed};
      for (const Placement& placement : {kept, Placement{computed}}) {
        absl::StatusOr<Prepared> prepared = Build(context, *function, out, small, first, placement);
        if (prepared.ok() && !prepared->kernel.slow) return prepared;
      }
    }
    return absl::UnimplementedError("oneDNN has no fast kernel for this broadcast");
  }

 private:
  static absl::StatusOr<Prepared> Build(const NodeContext& context, const Function& function, const Dims& out,
                                        const Dims& small, int first, const Placement& placement) {
    const DataType type = placement.type;
    const bool same_shape = context.InputDims(1 - first) == out;
    const Desc src0 = DescOf(out, placement);
    const Desc src1 = same_shape ? src0 : PlainDesc(small, type);
    dnnl::primitive_attr attributes = UserScratch();
    if (function.squared) {
      dnnl::post_ops post_ops;
      post_ops.append_eltwise(Algorithm::eltwise_square, 0, 0);
      attributes.set_post_ops(post_ops);
    }
    const Primitive primitive(CpuEngine(), function.algorithm, src0, src1, src0, attributes, /*allow_empty=*/true);
    if (!primitive) return absl::UnimplementedError("no such kernel");

    Prepared prepared{.inputs = {{first, placement}, {1 - first, same_shape ? placement : Placement{type}}},
                      .outputs = {placement},
                      .may_overwrite = 0,
                      .kernel = ImplementationOf(primitive)};
    prepared.scratch_bytes = primitive.scratchpad_desc().get_size();
    auto step = std::make_unique<PrimitiveStep>();
    HALFTONE_RETURN_IF_ERROR(Guard([&] { step->AddCall(dnnl::binary(primitive)); }));
    step->AddInput(DNNL_ARG_SRC_0, src0, 0);
    step->AddInput(DNNL_ARG_SRC_1, src1, 1);
    step->AddOutput(DNNL_ARG_DST, src0);
    step->AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), 0);
    prepared.step = std::move(step);
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeBinaryKernel() { return std::make_unique<BinaryKernel>(); }

}  // namespace halftone::onednn

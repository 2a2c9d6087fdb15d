// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of int8 values: of one operand by a table of the 256 results, which the reference function
// computes; of several by a SIMD loop in f32 (runtime/cpu/simd/int8_chain.h). And quantize_linear and dequantize_linear
// with one scale, in the layout that the value has.
#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "base/status.h"
#include "ir/binary_chain.h"
#include "ir/reference/reference.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/quantized.h"
#include "runtime/cpu/simd/int8_chain.h"
#include "runtime/cpu/simd/int8_table.h"
#include "runtime/cpu/simd/loop_step.h"

namespace halftone::onednn {
namespace {

int64_t Count(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<int64_t>());
}

// The layout in which a value lies, if it is dense and has no blocks; else plain.
Desc DenseLayout(const NodeContext& context, int i) {
  const Dims dims = context.InputDims(i);
  const Placement there = context.InputPlacement(i);
  const Desc plain = PlainDesc(dims, there.type);
  if (there.plain()) return plain;
  const Desc desc = DescOf(dims, there);
  const bool simple =
      desc.get_inner_nblks() == 0 && desc.get_submemory_offset() == 0 && desc.get_padded_dims() == desc.get_dims();
  return simple && SameLayout(DenseLike(desc, dims), desc) ? desc : plain;
}

// A function of one operand, whose other inputs are constants.
class Int8TableKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    HALFTONE_ASSIGN_OR_RETURN(const Element src, InputElement(context, 0));
    HALFTONE_ASSIGN_OR_RETURN(const Element dst, OutputElement(context));
    if (context.node().outputs.size() > 1) return absl::UnimplementedError("several results");
    if (context.InputDims(0) != context.OutputDims()) return absl::UnimplementedError("another shape");
    std::vector<Tensor> inputs;
    Tensor all(src.type, {256});
    for (int i = 0; i < 256; ++i) all.mutable_raw()[i] = static_cast<std::byte>(i);
    inputs.push_back(std::move(all));
    for (int i = 1; i < context.num_inputs(); ++i) {
      if (!context.HasInput(i)) {
        inputs.emplace_back();
        continue;
      }
      const Tensor* constant = context.Constant(i);
      if (constant == nullptr || constant->num_elements() != 1)
        return absl::UnimplementedError("another operand, which is no constant number");
      inputs.push_back(*constant);
    }
    absl::StatusOr<std::vector<Tensor>> results = reference::EvaluateNode(context.graph(), context.id(), inputs);
    if (!results.ok()) return absl::UnimplementedError(results.status().message());
    const Tensor table = (*results)[0];
    if (table.num_elements() != 256) return absl::UnimplementedError("no function of one element");

    const Dims dims = context.InputDims(0);
    const Desc from = DenseLayout(context, 0);
    const DataType to = context.OutputType();
    Prepared prepared{.inputs = {{0, PlacementOf(from, src.type)}},
                      .outputs = {PlacementOf(OfType(from, to), to)},
                      .may_overwrite = dst.quantized ? 0 : -1,
                      .kernel = "int8 table"};
    const size_t entry = ElementSize(to);
    const int64_t count = Count(dims);
    prepared.step = std::make_unique<simd::LoopStep>([table, entry, count](const simd::Memory& memory) {
      simd::LookUp(table.raw(), entry, memory.inputs[0], count, memory.outputs[0]);
      return absl::OkStatus();
    });
    return prepared;
  }
};

// Operands in the layouts they have: those of the result's shape in one layout, others plain and broadcast.
class Int8ChainKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const Dims out = context.OutputDims();
    HALFTONE_ASSIGN_OR_RETURN(const Element dst, OutputElement(context));
    HALFTONE_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(context.node().attributes));
    HALFTONE_ASSIGN_OR_RETURN(std::vector<ChainStep> steps, StepsOf(context.node()));
    if (std::ranges::find(out, 0) != out.end() || out.empty()) return absl::UnimplementedError("nothing to compute");
    simd::Int8ChainTask task{.steps = std::move(steps), .finish = FinishOf(dst, epilogue)};
    const Desc layout = LayoutOf(context, out);
    const Dims strides = layout.get_strides();
    std::vector<size_t> order(out.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return strides[a] > strides[b]; });
    std::erase_if(order, [&](size_t d) { return out[d] == 1; });
    for (const size_t d : order) task.dims.push_back(out[d]);

    Prepared prepared{.outputs = {PlacementOf(OfType(layout, task.finish.type), task.finish.type)},
                      .kernel = "int8 chain"};
    for (int i = 0; i < static_cast<int>(task.steps.size()) + 1; ++i) {
      HALFTONE_ASSIGN_OR_RETURN(const Element element, InputElement(context, i));
      const DataType type = element.type == DataType::kFloat16 ? DataType::kFloat32 : element.type;
      const Dims dims = context.InputDims(i);
      const bool whole = dims == out;
      prepared.inputs.push_back({i, whole ? PlacementOf(OfType(layout, type), type) : Placement{type}});
      simd::Int8ChainOperand operand{.type = type, .scale = element.scale, .zero_point = element.zero_point};
      const Dims own = whole ? strides : PlainStrides(dims);
      const size_t missing = out.size() - dims.size();
      for (const size_t d : order) {
        const bool broadcast = d < missing || dims[d - missing] == 1;
        operand.strides.push_back(broadcast ? 0 : own[d - missing]);
      }
      task.operands.push_back(std::move(operand));
    }
    prepared.step = simd::MakeInt8ChainStep(std::move(task));
    if (prepared.step == nullptr) return absl::UnimplementedError("no loop for this function");
    return prepared;
  }

  static absl::StatusOr<std::vector<ChainStep>> StepsOf(const Node& node) {
    if (node.op == OpKind::kBinaryChain) return StepsOfChain(node);
    if (node.op == OpKind::kIdentity) return std::vector<ChainStep>();  // floats to bytes
    return std::vector<ChainStep>{{.op = node.op}};
  }

  // That of the first operand of the result's shape that does not lie plain.
  static Desc LayoutOf(const NodeContext& context, const Dims& out) {
    for (int i = 0; i < context.num_inputs(); ++i) {
      if (!context.HasInput(i) || context.InputDims(i) != out || context.Constant(i) != nullptr) continue;
      const Desc desc = DenseLayout(context, i);
      if (!IsPlain(desc)) return desc;
    }
    return PlainDesc(out, DataType::kUInt8);
  }
};

// quantize_linear and dequantize_linear with one constant scale of values in another layout than plain: the result has
// it too.
class Int8ConvertKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const bool quantizes = context.node().op == OpKind::kQuantizeLinear;
    const Desc layout = DenseLayout(context, 0);
    if (IsPlain(layout)) return absl::UnimplementedError("it lies plain");
    const std::optional<double> scale = context.ConstantScalar(1);
    const std::optional<double> zero = context.HasInput(2) ? context.ConstantScalar(2) : std::optional<double>(0);
    if (!scale.has_value() || !zero.has_value())
      return absl::UnimplementedError("several scales, or none that is known");
    const DataType integer = quantizes ? context.OutputType() : context.InputType(0);
    const DataType real = quantizes ? context.InputType(0) : context.OutputType();
    if ((integer != DataType::kUInt8 && integer != DataType::kInt8) || !IsFloat(real))
      return absl::UnimplementedError("for u8 and s8");
    const DataType number = real == DataType::kFloat16 ? DataType::kFloat32 : real;
    const DataType from = quantizes ? number : integer, to = quantizes ? integer : number;
    const float factor = static_cast<float>(*scale);
    const auto zero_point = static_cast<int32_t>(*zero);
    simd::Int8ChainTask task{.finish = {.type = to, .scale = factor, .zero_point = zero_point}};
    task.operands.push_back({.type = from, .scale = factor, .zero_point = zero_point, .strides = {1}});
    task.dims = {Count(context.InputDims(0))};
    Prepared prepared{.inputs = {{0, PlacementOf(OfType(layout, from), from)}},
                      .outputs = {PlacementOf(OfType(layout, to), to)},
                      .kernel = "int8 loop"};
    prepared.step = simd::MakeInt8ChainStep(std::move(task));
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeInt8TableKernel() { return std::make_unique<Int8TableKernel>(); }
std::unique_ptr<Kernel> MakeInt8ChainKernel() { return std::make_unique<Int8ChainKernel>(); }
std::unique_ptr<Kernel> MakeInt8ConvertKernel() { return std::make_unique<Int8ConvertKernel>(); }

}  // namespace halftone::onednn

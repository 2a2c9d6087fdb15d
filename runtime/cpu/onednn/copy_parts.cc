// SPDX-License-Identifier: Apache-2.0
// split, unstack, stack, expand, tile, reverse, strided_slice, and slices that begin where a computed number says:
// copies of boxes, as copy.cc has them.
#include <algorithm>
#include <optional>

#include "base/status.h"
#include "base/strings.h"
#include "ir/strided_slice.h"
#include "runtime/cpu/onednn/boxes.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/simd/indices.h"
#include "runtime/cpu/simd/loop_step.h"

namespace halftone::onednn {
namespace {

// `count` parts of x along the axis; unstacked ones have no such dimension.
absl::StatusOr<Prepared> Split(const NodeContext& context) {
  const Node& node = context.node();
  const bool unstack = node.op == OpKind::kUnstack;
  const Dims in = context.InputDims(0);
  std::optional<double> given = static_cast<double>(node.attributes.Int("axis", 0));
  if (!unstack) given = context.HasInput(2) ? context.ConstantScalar(2) : std::optional<double>(0);
  if (!given.has_value() || in.empty()) return absl::UnimplementedError("the axis is not constant");
  if (!unstack && context.HasInput(1) && !context.ConstantInts(1).has_value()) {
    return absl::UnimplementedError("the sizes are not constant");
  }
  const int64_t axis = static_cast<int64_t>(*given < 0 ? *given + static_cast<double>(in.size()) : *given);
  Strided input = StridedInput(in, context.InputPlacement(0));
  if (unstack) input = {Placement{input.placement.type}, PlainStrides(in)};
  const size_t bytes = ElementSize(context.InputType(0));
  auto copy = std::make_unique<BoxStep>();
  Prepared prepared{.inputs = {{0, input.placement}}, .kernel = "copy"};
  int64_t begin = 0;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const int output = static_cast<int>(i);
    if (!node.outputs[i].valid()) return absl::UnimplementedError("an output is absent");
    Dims part = context.OutputDims(output);
    Strided there = unstack ? Strided{input.placement, PlainStrides(part)} : OutputLike(in, input, part);
    prepared.outputs.push_back(there.placement);
    if (unstack) {
      part.insert(part.begin() + axis, 1);
      there.strides.insert(there.strides.begin() + axis, 1);
    }
    if (begin + part[axis] > in[axis]) return absl::InvalidArgumentError("the parts are longer than x");
    copy->Add(part, {0, begin * input.strides[axis], input.strides}, {output, 0, there.strides}, bytes);
    begin += part[axis];
  }
  prepared.step = std::move(copy);
  return prepared;
}

absl::StatusOr<Prepared> Stack(const NodeContext& context) {
  const Dims out = context.OutputDims();
  const int64_t written = context.node().attributes.Int("axis", 0);
  const int64_t axis = written < 0 ? written + static_cast<int64_t>(out.size()) : written;
  const Placement plain{context.OutputType()};
  Dims strides = PlainStrides(out);
  const int64_t step = strides[axis];
  strides.erase(strides.begin() + axis);
  auto copy = std::make_unique<BoxStep>();
  Prepared prepared{.outputs = {plain}, .kernel = "copy"};
  for (int i = 0; i < context.num_inputs(); ++i) {
    const Dims dims = context.InputDims(i);
    copy->Add(dims, {i, 0, PlainStrides(dims)}, {0, i * step, strides}, ElementSize(plain.type));
    prepared.inputs.push_back({i, plain});
  }
  prepared.step = std::move(copy);
  return prepared;
}

// One box from x, which lies plain, to y, which is [dims].
Prepared OneBox(const NodeContext& context, const Dims& dims, Dims from, int64_t offset) {
  const Placement plain{context.InputType(0)};
  auto copy = std::make_unique<BoxStep>();
  copy->Add(dims, {0, offset, std::move(from)}, {0, 0, PlainStrides(dims)}, ElementSize(plain.type));
  return Prepared{.step = std::move(copy), .inputs = {{0, plain}}, .outputs = {plain}, .kernel = "copy"};
}

Prepared Expand(const NodeContext& context) {
  const Dims in = context.InputDims(0), out = context.OutputDims(), strides = PlainStrides(in);
  Dims from(out.size(), 0);
  for (size_t i = 1; i <= in.size(); ++i) from[out.size() - i] = in[in.size() - i] == 1 ? 0 : strides[in.size() - i];
  return OneBox(context, out, std::move(from), 0);
}

Prepared Tile(const NodeContext& context) {
  const Dims in = context.InputDims(0), out = context.OutputDims(), strides = PlainStrides(in);
  Dims dims, from;  // each dimension as [repeats, size], the first of which goes nowhere
  for (size_t i = 0; i < in.size(); ++i) {
    dims.insert(dims.end(), {in[i] == 0 ? 0 : out[i] / in[i], in[i]});
    from.insert(from.end(), {0, strides[i]});
  }
  return OneBox(context, dims, std::move(from), 0);
}

absl::StatusOr<Prepared> Reverse(const NodeContext& context) {
  const Dims dims = context.InputDims(0);
  const std::optional<Dims> axes = context.ConstantInts(1);
  if (!axes.has_value()) return absl::UnimplementedError("the axes are not constant");
  Dims from = PlainStrides(dims);
  int64_t offset = 0;
  for (const int64_t written : *axes) {
    const int64_t axis = written < 0 ? written + static_cast<int64_t>(dims.size()) : written;
    offset += (dims[axis] - 1) * from[axis];
    from[axis] = -from[axis];
  }
  return OneBox(context, dims, std::move(from), offset);
}

// ---- Slices.

// What begin, end and strides say of each dimension of the output, shrunk ones included.
struct SlicePlan {
  std::vector<StridedSliceEntry> entries;
  Dims in, out;
  DataType index_type = DataType::kInt64;
  size_t element_bytes = 0;

  // begin, end, strides: of entries with an index
  absl::StatusOr<StridedCopy> Copy(const Dims& begin, const Dims& end, const Dims& strides, int64_t& offset) const {
    const Dims units = PlainStrides(in);
    Dims dims, from;
    offset = 0;
    for (const StridedSliceEntry& entry : entries) {
      SliceRange range{.size = entry.dim >= 0 ? in[entry.dim] : 1};
      if (entry.index >= 0) {
        HALFTONE_ASSIGN_OR_RETURN(
            range, RangeOf(entry, in[entry.dim], begin[entry.index], end[entry.index], strides[entry.index]));
      }
      const int64_t unit = entry.dim >= 0 ? units[entry.dim] : 0;
      offset += range.begin * unit;
      if (entry.shrink) continue;
      dims.push_back(range.size);
      from.push_back(range.stride * unit);
    }
    if (dims != out) {
      return absl::InvalidArgumentError(
          Concat("the slice is ", Shape::Of(dims).ToString(), ", the plan expects ", Shape::Of(out).ToString()));
    }
    return StridedCopy(dims, from, PlainStrides(out), element_bytes);
  }
};

// The numbers of inputs 1 to 3 are read in each run.
Prepared ComputedSlice(const NodeContext& context, const SlicePlan& plan, std::vector<int> lists) {
  const Placement plain{context.InputType(0)};
  Prepared prepared{.inputs = {{0, plain}}, .outputs = {plain}, .kernel = "copy"};
  for (const int input : lists) prepared.inputs.push_back({input, Placement{plan.index_type}});
  const int64_t count = simd::Product(context.InputDims(1));
  prepared.step = std::make_unique<simd::LoopStep>([plan, count](const simd::Memory& memory) -> absl::Status {
    Dims numbers[3] = {Dims(count), Dims(count), Dims(count, 1)};
    for (size_t list = 1; list < memory.inputs.size(); ++list) {
      for (int64_t i = 0; i < count; ++i) {
        numbers[list - 1][i] = simd::IndexAt(memory.inputs[list], plan.index_type, i);
      }
    }
    int64_t offset = 0;
    HALFTONE_ASSIGN_OR_RETURN(const StridedCopy copy, plan.Copy(numbers[0], numbers[1], numbers[2], offset));
    copy.Run(memory.inputs[0] + offset * static_cast<int64_t>(plan.element_bytes), memory.outputs[0]);
    return absl::OkStatus();
  });
  return prepared;
}

absl::StatusOr<Prepared> StridedSlice(const NodeContext& context) {
  SlicePlan plan{
      {}, context.InputDims(0), context.OutputDims(), context.InputType(1), ElementSize(context.InputType(0))};
  if (!simd::IsIndexType(plan.index_type)) return absl::UnimplementedError("indices of another type");
  const int count = static_cast<int>(simd::Product(context.InputDims(1)));
  HALFTONE_ASSIGN_OR_RETURN(plan.entries,
                            StridedSliceEntries(context.node().attributes, count, static_cast<int>(plan.in.size())));
  return ComputedSlice(context, plan, {1, 2, 3});
}

// ONNX's slice with starts or ends that are computed; copy.cc has those that are constant.
absl::StatusOr<Prepared> Slice(const NodeContext& context) {
  SlicePlan plan{
      {}, context.InputDims(0), context.OutputDims(), context.InputType(1), ElementSize(context.InputType(0))};
  if (!simd::IsIndexType(plan.index_type)) return absl::UnimplementedError("indices of another type");
  const int64_t rank = static_cast<int64_t>(plan.in.size()), count = simd::Product(context.InputDims(1));
  const std::optional<Dims> axes = context.HasInput(3) ? context.ConstantInts(3) : std::optional(Dims());
  if (!axes.has_value()) return absl::UnimplementedError("the axes are not constant");
  for (int i = 0; i < rank; ++i) plan.entries.push_back({.dim = i});
  for (int64_t i = 0; i < count; ++i) {
    const int64_t written = axes->empty() ? i : (*axes)[i], axis = written < 0 ? written + rank : written;
    if (axis < 0 || axis >= rank) return absl::UnimplementedError("an axis out of range");
    plan.entries[axis].index = static_cast<int>(i);
  }
  std::vector<int> lists{1, 2};
  if (context.HasInput(4)) lists.push_back(4);
  return ComputedSlice(context, plan, lists);
}

class CopyPartsKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    switch (context.node().op) {
      case OpKind::kSplit:
      case OpKind::kUnstack:
        return Split(context);
      case OpKind::kStack:
        return Stack(context);
      case OpKind::kExpand:
        return Expand(context);
      case OpKind::kTile:
        return Tile(context);
      case OpKind::kReverse:
        return Reverse(context);
      case OpKind::kStridedSlice:
        return StridedSlice(context);
      case OpKind::kSlice:
        return Slice(context);
      default:
        return absl::UnimplementedError("not a copy of parts");
    }
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeCopyPartsKernel() { return std::make_unique<CopyPartsKernel>(); }

}  // namespace halftone::onednn

// SPDX-License-Identifier: Apache-2.0
// slice, pad (constant), depth_to_space, space_to_depth, transpose and concat of any element type: copies
// on any layout that is described by strides.
#include <algorithm>
#include <cstring>

#include "base/status.h"
#include "base/strings.h"
#include "ir/window.h"
#include "runtime/cpu/onednn/boxes.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/support.h"

namespace halftone::onednn {
namespace {

absl::StatusOr<Prepared> Slice(const NodeContext& context) {
  const Dims in = context.InputDims(0), out = context.OutputDims();
  const int rank = static_cast<int>(in.size());
  const auto starts = context.ConstantInts(1);
  const auto axes = context.HasInput(3) ? context.ConstantInts(3) : std::optional<Dims>(Dims());
  const auto steps = context.HasInput(4) ? context.ConstantInts(4) : std::optional<Dims>(Dims());
  if (!starts.has_value() || !axes.has_value() || !steps.has_value())
    return absl::UnimplementedError("starts are not constant");
  Dims begin(rank, 0), step(rank, 1);
  for (size_t i = 0; i < starts->size(); ++i) {
    int64_t axis = i < axes->size() ? (*axes)[i] : static_cast<int64_t>(i);
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank) return absl::InvalidArgumentError("an axis is out of range");
    step[axis] = i < steps->size() ? (*steps)[i] : 1;
    int64_t start = (*starts)[i] < 0 ? (*starts)[i] + in[axis] : (*starts)[i];
    start = step[axis] < 0 ? std::clamp<int64_t>(start, -1, in[axis] - 1) : std::clamp<int64_t>(start, 0, in[axis]);
    begin[axis] = start;
  }
  const Strided input = StridedInput(in, context.InputPlacement(0));
  const Strided output = OutputLike(in, input, out);
  Dims strides = input.strides;
  strides.resize(rank);
  for (int i = 0; i < rank; ++i) strides[i] *= step[i];
  const size_t bytes = ElementSize(context.InputType(0));
  auto copy = std::make_unique<BoxStep>();
  const bool nothing = std::find(out.begin(), out.end(), 0) != out.end();
  const int64_t from = nothing ? 0 : Dot(begin, input.strides);
  copy->Add(out, {0, from, strides}, {0, 0, output.strides}, bytes);
  return Prepared{
      .step = std::move(copy), .inputs = {{0, input.placement}}, .outputs = {output.placement}, .kernel = "copy"};
}

absl::StatusOr<Prepared> Pad(const NodeContext& context) {
  if (context.node().attributes.String("mode", "constant") != "constant")
    return absl::UnimplementedError("pads with constants only");
  const Dims in = context.InputDims(0), out = context.OutputDims();
  const int rank = static_cast<int>(in.size());
  const auto pads = context.ConstantInts(1);
  std::optional<Dims> axes = Dims();
  if (context.HasInput(3)) {
    axes = context.ConstantInts(3);
  } else {
    for (int i = 0; i < rank; ++i) axes->push_back(i);
  }
  if (!pads.has_value() || !axes.has_value()) return absl::UnimplementedError("pads or axes are not constant");
  if (pads->size() != 2 * axes->size()) return absl::InvalidArgumentError("pads need two numbers a dimension");
  const bool pairs = context.InputDims(1).size() == 2;  // (begin, end) a dimension
  const DataType type = context.InputType(0);
  std::vector<std::byte> element(ElementSize(type), std::byte{0});
  if (context.HasInput(2)) {
    const Tensor* value = context.Constant(2);
    if (value == nullptr || value->num_elements() != 1 || value->type() != type)
      return absl::UnimplementedError("the value is not constant");
    std::memcpy(element.data(), value->raw(), element.size());
  }
  const Strided input = StridedInput(in, context.InputPlacement(0));
  const Strided output = OutputLike(in, input, out);
  Dims box = in, from(rank, 0), to(rank, 0);  // pads may be negative: then the input is cut
  for (size_t i = 0; i < axes->size(); ++i) {
    const int64_t axis = (*axes)[i] < 0 ? (*axes)[i] + rank : (*axes)[i];
    const int64_t begin = (*pads)[pairs ? 2 * i : i];
    const int64_t end = (*pads)[pairs ? 2 * i + 1 : axes->size() + i];
    from[axis] = std::max<int64_t>(-begin, 0);
    to[axis] = std::max<int64_t>(begin, 0);
    box[axis] = std::max<int64_t>(in[axis] - from[axis] - std::max<int64_t>(-end, 0), 0);
  }
  const size_t bytes = element.size();
  int64_t elements = 1;
  for (const int64_t dim : out) elements *= dim;
  auto copy = std::make_unique<BoxStep>();
  copy->Fill(std::move(element), static_cast<size_t>(elements) * bytes);
  copy->Add(box, {0, Dot(from, input.strides), input.strides}, {0, Dot(to, output.strides), output.strides}, bytes);
  return Prepared{
      .step = std::move(copy), .inputs = {{0, input.placement}}, .outputs = {output.placement}, .kernel = "copy"};
}

absl::StatusOr<Prepared> SpaceToDepth(const NodeContext& context) {
  const Attributes& attributes = context.node().attributes;
  const Dims dims = context.InputDims(0);
  if (dims.size() != 4) return absl::UnimplementedError("space_to_depth of images only");
  const std::vector<int> order = ChannelsFirstOrder(4, IsChannelsLast(attributes));
  const Strided input = StridedInput(dims, context.InputPlacement(0));
  const Dims in = Reordered(dims, order), from = Reordered(input.strides, order);
  const int64_t block = attributes.Int("block_size", 1);
  if (block < 1 || in[2] % block != 0 || in[3] % block != 0)
    return absl::InvalidArgumentError("block_size does not divide height and width");
  const Strided output = OutputLike(dims, input, context.OutputDims());
  const Dims to = Reordered(output.strides, order);
  const int64_t c = in[1];  // output channel = (by * block + bx) * c + channel
  const Dims box = {in[0], c, in[2] / block, block, in[3] / block, block};
  const Dims box_from = {from[0], from[1], from[2] * block, from[2], from[3] * block, from[3]};
  const Dims box_to = {to[0], to[1], to[2], to[1] * block * c, to[3], to[1] * c};
  auto copy = std::make_unique<BoxStep>();
  copy->Add(box, {0, 0, box_from}, {0, 0, box_to}, ElementSize(context.InputType(0)));
  return Prepared{
      .step = std::move(copy), .inputs = {{0, input.placement}}, .outputs = {output.placement}, .kernel = "copy"};
}

absl::StatusOr<Prepared> DepthToSpace(const NodeContext& context) {
  const Attributes& attributes = context.node().attributes;
  const Dims dims = context.InputDims(0);
  if (dims.size() != 4) return absl::UnimplementedError("depth_to_space of images only");
  const bool last = IsChannelsLast(attributes);
  const std::vector<int> order = ChannelsFirstOrder(4, last);
  const Strided input = StridedInput(dims, context.InputPlacement(0));
  const Dims in = Reordered(dims, order), in_strides = Reordered(input.strides, order);
  const int64_t block = attributes.Int("block_size", 1);
  if (block < 1 || in[1] % (block * block) != 0)
    return absl::InvalidArgumentError("block_size does not divide the channels");
  const int64_t c = in[1] / (block * block);
  const Strided output = OutputLike(dims, input, context.OutputDims());
  const Dims out_strides = Reordered(output.strides, order);
  // DCR: input channel = (by * block + bx) * c + channel; CRD: (channel * block + by) * block + bx.
  const bool crd = attributes.String("mode", "DCR") == "CRD";
  const int64_t s = in_strides[1];
  const Dims box = {in[0], c, in[2], block, in[3], block};
  const Dims from = {in_strides[0], s * (crd ? block * block : 1),
                     in_strides[2], s * block * (crd ? 1 : c),
                     in_strides[3], s * (crd ? 1 : c)};
  const Dims to = {out_strides[0], out_strides[1],         out_strides[2] * block,
                   out_strides[2], out_strides[3] * block, out_strides[3]};
  auto copy = std::make_unique<BoxStep>();
  copy->Add(box, {0, 0, from}, {0, 0, to}, ElementSize(context.InputType(0)));
  return Prepared{
      .step = std::move(copy), .inputs = {{0, input.placement}}, .outputs = {output.placement}, .kernel = "copy"};
}

absl::StatusOr<Prepared> Transpose(const NodeContext& context) {
  const Dims in = context.InputDims(0), out = context.OutputDims();
  const auto perm = context.ConstantInts(1);
  if (!perm.has_value() || perm->size() != in.size())
    return absl::UnimplementedError("the permutation is not constant");
  const std::vector<int> order(perm->begin(), perm->end());
  auto copy = std::make_unique<BoxStep>();
  copy->Add(out, {0, 0, Reordered(PlainStrides(in), order)}, {0, 0, PlainStrides(out)},
            ElementSize(context.InputType(0)));
  const Placement plain{context.InputType(0)};
  return Prepared{.step = std::move(copy), .inputs = {{0, plain}}, .outputs = {plain}, .kernel = "copy"};
}

absl::StatusOr<Prepared> Concat(const NodeContext& context) {
  const int count = context.num_inputs() - 1;
  const Dims out = context.OutputDims();
  const std::optional<double> given = context.ConstantScalar(count);
  if (!given.has_value() || out.empty()) return absl::UnimplementedError("the axis is not constant");
  const int64_t axis = static_cast<int64_t>(*given < 0 ? *given + static_cast<double>(out.size()) : *given);
  const Placement plain{context.OutputType()};
  const Dims strides = PlainStrides(out);
  const size_t bytes = ElementSize(plain.type);
  Prepared prepared{.outputs = {plain}, .kernel = "copy"};
  auto copy = std::make_unique<BoxStep>();
  int64_t offset = 0;
  for (int i = 0; i < count; ++i) {
    const Dims dims = context.InputDims(i);
    copy->Add(dims, {i, 0, PlainStrides(dims)}, {0, offset * strides[axis], strides}, bytes);
    offset += dims[axis];
    prepared.inputs.push_back({i, plain});
  }
  prepared.step = std::move(copy);
  return prepared;
}

class CopyKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    switch (context.node().op) {
      case OpKind::kSlice:
        return Slice(context);
      case OpKind::kPad:
        return Pad(context);
      case OpKind::kDepthToSpace:
        return DepthToSpace(context);
      case OpKind::kSpaceToDepth:
        return SpaceToDepth(context);
      case OpKind::kTranspose:
        return Transpose(context);
      case OpKind::kConcat:
        return Concat(context);
      default:
        return absl::UnimplementedError("not a copy");
    }
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeCopyKernel() { return std::make_unique<CopyKernel>(); }

}  // namespace halftone::onednn

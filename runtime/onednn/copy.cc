// slice, pad (constant), depth_to_space, gather, transpose and concat of any element type: copies of our own, on any
// layout that is described by strides.
#include <algorithm>
#include <cstring>

#include "base/status.h"
#include "base/strings.h"
#include "ir/window.h"
#include "runtime/onednn/kernels.h"
#include "runtime/onednn/support.h"
#include "runtime/strided_copy.h"

namespace halftone::onednn {
namespace {

// A placement as strides, if it can be said so.
struct Strided {
  Placement placement;
  Dims strides;
};

// The input as it lies, or plain where its layout has blocks.
Strided StridedInput(const Dims& dims, const Placement& there) {
  if (there.plain()) return {there, PlainStrides(dims)};
  const Desc desc = DescOf(dims, there);
  if (desc.get_inner_nblks() != 0 || desc.get_submemory_offset() != 0)
    return {Placement{there.type}, PlainStrides(dims)};
  return {there, desc.get_strides()};
}

// A dense layout for another shape with the dimensions in the same order.
Strided OutputLike(const Dims& in, const Strided& input, const Dims& out) {
  if (input.placement.plain()) return {Placement{input.placement.type}, PlainStrides(out)};
  const Desc desc = DenseLike(DescOf(in, input.placement), out);
  if (IsEmpty(desc)) return {Placement{input.placement.type}, PlainStrides(out)};
  return {PlacementOf(desc, input.placement.type), desc.get_strides()};
}

// Fills the output with one element if wanted, then copies boxes into it.
class CopyStep final : public Step {
 public:
  struct Box {
    StridedCopy copy;
    int input;
    int64_t from;  // bytes
    int64_t to;
  };

  void Fill(std::vector<std::byte> element, size_t bytes) {
    fill_ = std::move(element);
    fill_bytes_ = bytes;
  }
  void Add(Box box) { boxes_.push_back(std::move(box)); }

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) override {
    inputs_.assign(inputs.begin(), inputs.end());
    output_ = outputs[0];
  }
  absl::Status Run() override {
    if (!fill_.empty()) {
      const bool zero = std::all_of(fill_.begin(), fill_.end(), [](std::byte b) { return b == std::byte{0}; });
      if (zero) {
        std::memset(output_, 0, fill_bytes_);
      } else {
        for (size_t at = 0; at < fill_bytes_; at += fill_.size()) std::memcpy(output_ + at, fill_.data(), fill_.size());
      }
    }
    for (const Box& box : boxes_) box.copy.Run(inputs_[box.input] + box.from, output_ + box.to);
    return absl::OkStatus();
  }

 private:
  std::vector<Box> boxes_;
  std::vector<std::byte> fill_;
  size_t fill_bytes_ = 0;
  std::vector<std::byte*> inputs_;
  std::byte* output_ = nullptr;
};

class GatherStep final : public Step {
 public:
  GatherStep(int64_t outer, int64_t axis, size_t inner_bytes, int64_t count, DataType index_type)
      : outer_(outer), axis_(axis), inner_bytes_(inner_bytes), count_(count), index_type_(index_type) {}

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) override {
    data_ = inputs[0];
    indices_ = inputs[1];
    output_ = outputs[0];
  }
  absl::Status Run() override {
    for (int64_t i = 0; i < count_; ++i) {
      int64_t index = Index(i);
      if (index < 0) index += axis_;
      if (index < 0 || index >= axis_) {
        return absl::InvalidArgumentError(
            Concat("index ", Index(i), " at position ", i, " is outside of the ", axis_, " entries"));
      }
      for (int64_t o = 0; o < outer_; ++o) {
        std::memcpy(output_ + static_cast<size_t>(o * count_ + i) * inner_bytes_,
                    data_ + static_cast<size_t>(o * axis_ + index) * inner_bytes_, inner_bytes_);
      }
    }
    return absl::OkStatus();
  }

 private:
  int64_t Index(int64_t i) const {
    if (index_type_ == DataType::kInt32) return reinterpret_cast<const int32_t*>(indices_)[i];
    return reinterpret_cast<const int64_t*>(indices_)[i];
  }

  const int64_t outer_, axis_;
  const size_t inner_bytes_;
  const int64_t count_;
  const DataType index_type_;
  const std::byte* data_ = nullptr;
  const std::byte* indices_ = nullptr;
  std::byte* output_ = nullptr;
};

int64_t Dot(const Dims& a, const Dims& b) {
  int64_t sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

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
  auto copy = std::make_unique<CopyStep>();
  const bool nothing = std::find(out.begin(), out.end(), 0) != out.end();
  const int64_t from = nothing ? 0 : Dot(begin, input.strides) * static_cast<int64_t>(bytes);
  copy->Add({StridedCopy(out, strides, output.strides, bytes), 0, from, 0});
  return Prepared{
      .step = std::move(copy), .inputs = {{0, input.placement}}, .outputs = {output.placement}, .kernel = "copy"};
}

absl::StatusOr<Prepared> Pad(const NodeContext& context) {
  if (context.node().attributes.String("mode", "constant") != "constant")
    return absl::UnimplementedError("pads with constants only");
  const Dims in = context.InputDims(0), out = context.OutputDims();
  const int rank = static_cast<int>(in.size());
  const auto pads = context.ConstantInts(1);
  if (!pads.has_value() || context.HasInput(3)) return absl::UnimplementedError("pads are not constant, or have axes");
  if (static_cast<int>(pads->size()) != 2 * rank)
    return absl::InvalidArgumentError("pads need two numbers a dimension");
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
  Dims box(rank), from(rank), to(rank);  // pads may be negative: then the input is cut
  for (int i = 0; i < rank; ++i) {
    const int64_t begin = (*pads)[pairs ? 2 * i : i];
    const int64_t end = (*pads)[pairs ? 2 * i + 1 : rank + i];
    from[i] = std::max<int64_t>(-begin, 0);
    to[i] = std::max<int64_t>(begin, 0);
    box[i] = std::max<int64_t>(in[i] - from[i] - std::max<int64_t>(-end, 0), 0);
  }
  const size_t bytes = element.size();
  int64_t elements = 1;
  for (const int64_t dim : out) elements *= dim;
  auto copy = std::make_unique<CopyStep>();
  copy->Fill(std::move(element), static_cast<size_t>(elements) * bytes);
  copy->Add({StridedCopy(box, input.strides, output.strides, bytes), 0,
             Dot(from, input.strides) * static_cast<int64_t>(bytes),
             Dot(to, output.strides) * static_cast<int64_t>(bytes)});
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
  auto copy = std::make_unique<CopyStep>();
  copy->Add({StridedCopy(box, box_from, box_to, ElementSize(context.InputType(0))), 0, 0, 0});
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
  auto copy = std::make_unique<CopyStep>();
  copy->Add({StridedCopy(box, from, to, ElementSize(context.InputType(0))), 0, 0, 0});
  return Prepared{
      .step = std::move(copy), .inputs = {{0, input.placement}}, .outputs = {output.placement}, .kernel = "copy"};
}

absl::StatusOr<Prepared> Transpose(const NodeContext& context) {
  const Dims in = context.InputDims(0), out = context.OutputDims();
  const auto perm = context.ConstantInts(1);
  if (!perm.has_value() || perm->size() != in.size())
    return absl::UnimplementedError("the permutation is not constant");
  const std::vector<int> order(perm->begin(), perm->end());
  auto copy = std::make_unique<CopyStep>();
  copy->Add({StridedCopy(out, Reordered(PlainStrides(in), order), PlainStrides(out), ElementSize(context.InputType(0))),
             0, 0, 0});
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
  auto copy = std::make_unique<CopyStep>();
  int64_t offset = 0;
  for (int i = 0; i < count; ++i) {
    const Dims dims = context.InputDims(i);
    copy->Add({StridedCopy(dims, PlainStrides(dims), strides, bytes), i, 0,
               offset * strides[axis] * static_cast<int64_t>(bytes)});
    offset += dims[axis];
    prepared.inputs.push_back({i, plain});
  }
  prepared.step = std::move(copy);
  return prepared;
}

absl::StatusOr<Prepared> Gather(const NodeContext& context) {
  const Dims dims = context.InputDims(0);
  const std::optional<double> given = context.HasInput(2) ? context.ConstantScalar(2) : std::optional<double>(0);
  const DataType index_type = context.InputType(1);
  if (!given.has_value() || dims.empty()) return absl::UnimplementedError("the axis is not constant");
  if (index_type != DataType::kInt64 && index_type != DataType::kInt32)
    return absl::UnimplementedError("indices of another type");
  const int64_t axis = static_cast<int64_t>(*given < 0 ? *given + static_cast<double>(dims.size()) : *given);
  int64_t outer = 1, inner = 1, count = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (static_cast<int64_t>(i) < axis) outer *= dims[i];
    if (static_cast<int64_t>(i) > axis) inner *= dims[i];
  }
  for (const int64_t dim : context.InputDims(1)) count *= dim;
  const Placement plain{context.InputType(0)};
  return Prepared{.step = std::make_unique<GatherStep>(
                      outer, dims[axis], static_cast<size_t>(inner) * ElementSize(plain.type), count, index_type),
                  .inputs = {{0, plain}, {1, Placement{index_type}}},
                  .outputs = {plain},
                  .kernel = "copy"};
}

class CopyKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    if (ElementSize(context.OutputType()) == 0) return absl::UnimplementedError("elements without a size");
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
      case OpKind::kGather:
        return Gather(context);
      default:
        return absl::UnimplementedError("not a copy");
    }
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeCopyKernel() { return std::make_unique<CopyKernel>(); }

}  // namespace halftone::onednn

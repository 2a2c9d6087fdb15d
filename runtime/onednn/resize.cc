// resize: nearest by tables of our own on any strided layout; linear with half-pixel centres by
// dnnl::resampling_forward.
//
// Which input each output position reads is not worked out here a second time: the reference function resizes a ramp
// along each axis, and the ramp's values are the positions.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/status.h"
#include "ir/editor.h"
#include "ir/reference/reference.h"
#include "runtime/onednn/kernels.h"
#include "runtime/onednn/support.h"

namespace halftone::onednn {
namespace {

// Positions on the input's axis, one an output position.
using Table = std::vector<float>;

// A graph of the node alone, in f32.
absl::StatusOr<Graph> Isolate(const NodeContext& context) {
  Graph graph;
  GraphEditor edit(graph);
  std::vector<ValueId> inputs = {edit.AddInput("x", DataType::kFloat32, Shape::Of(context.InputDims(0)))};
  for (int i = 1; i < context.num_inputs(); ++i) {
    if (!context.HasInput(i)) {
      inputs.push_back(kNoValue);
      continue;
    }
    const Tensor* constant = context.Constant(i);
    if (constant == nullptr) return absl::UnimplementedError("scales or sizes are not constant");
    inputs.push_back(edit.AddConstant("", *constant));
  }
  const NodeId node = edit.Add(OpKind::kResize, "resize", std::move(inputs),
                               {DataType::kFloat32, Shape::Of(context.OutputDims()), "y"}, context.node().attributes);
  edit.AddGraphOutput("y", graph.output(node));
  return graph;
}

absl::StatusOr<std::vector<Table>> TablesOf(const NodeContext& context) {
  HALFTONE_ASSIGN_OR_RETURN(const Graph graph, Isolate(context));
  const Dims in = context.InputDims(0), out = context.OutputDims();
  const Dims in_strides = PlainStrides(in), out_strides = PlainStrides(out);
  std::vector<Table> tables(in.size());
  for (size_t axis = 0; axis < in.size(); ++axis) {
    if (in[axis] == out[axis] && axis < 2) {  // batch and channels, nearly always
      for (int64_t i = 0; i < out[axis]; ++i) tables[axis].push_back(static_cast<float>(i));
      continue;
    }
    Tensor ramp(DataType::kFloat32, in);
    const std::span<float> values = ramp.mutable_data<float>();
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(static_cast<int64_t>(i) / in_strides[axis] % in[axis]);
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<Tensor> results, reference::EvaluateGraph(graph, {ramp}));
    if (results[0].dims() != out) return absl::UnimplementedError("the output has another shape than declared");
    const std::span<const float> positions = results[0].data<float>();
    for (int64_t i = 0; i < out[axis]; ++i) tables[axis].push_back(positions[i * out_strides[axis]]);
  }
  return tables;
}

class NearestStep final : public Step {
 public:
  // Offsets in bytes, outermost axis in memory first; the innermost one is copied as one run if it is not resized.
  NearestStep(std::vector<std::vector<int64_t>> offsets, size_t run_bytes)
      : offsets_(std::move(offsets)), run_bytes_(run_bytes) {}

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) override {
    from_ = inputs[0];
    to_ = outputs[0];
  }

  absl::Status Run() override {
    std::byte* to = to_;
    std::vector<size_t> index(offsets_.size(), 0);
    while (true) {
      int64_t base = 0;
      for (size_t i = 0; i + 1 < offsets_.size(); ++i) base += offsets_[i][index[i]];
      for (const int64_t offset : offsets_.back()) {
        switch (run_bytes_) {
          case 2:
            std::memcpy(to, from_ + base + offset, 2);
            break;
          case 4:
            std::memcpy(to, from_ + base + offset, 4);
            break;
          default:
            std::memcpy(to, from_ + base + offset, run_bytes_);
        }
        to += run_bytes_;
      }
      size_t i = offsets_.size() - 1;
      while (i > 0 && ++index[i - 1] == offsets_[i - 1].size()) index[--i] = 0;
      if (i == 0) return absl::OkStatus();
    }
  }

 private:
  const std::vector<std::vector<int64_t>> offsets_;
  const size_t run_bytes_;
  const std::byte* from_ = nullptr;
  std::byte* to_ = nullptr;
};

absl::StatusOr<Prepared> Nearest(const NodeContext& context, const std::vector<Table>& tables) {
  const Dims in = context.InputDims(0), out = context.OutputDims();
  const DataType type = context.InputType(0);
  Placement from = context.InputPlacement(0), to{type};
  Dims strides = PlainStrides(in), to_strides = PlainStrides(out);
  if (!from.plain()) {
    const Desc desc = DescOf(in, from);
    const Desc like = desc.get_inner_nblks() == 0 ? DenseLike(desc, out) : Desc();
    if (IsEmpty(like)) {
      from = Placement{type};
    } else {
      strides = desc.get_strides();
      to_strides = like.get_strides();
      to = PlacementOf(like, type);
    }
  }
  // Axes in the order of the output's memory, so that it is written from end to end.
  std::vector<size_t> order(out.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return (out[a] == 1 ? 0 : to_strides[a]) > (out[b] == 1 ? 0 : to_strides[b]);
  });
  const int64_t bytes = static_cast<int64_t>(ElementSize(type));
  std::vector<std::vector<int64_t>> offsets;
  for (const size_t axis : order) {
    if (out[axis] == 1 && in[axis] == 1) continue;
    std::vector<int64_t> axis_offsets;
    for (const float position : tables[axis])
      axis_offsets.push_back(static_cast<int64_t>(position) * strides[axis] * bytes);
    offsets.push_back(std::move(axis_offsets));
  }
  if (offsets.empty()) offsets.push_back({0});
  int64_t run = bytes;
  const bool unit = std::all_of(
      offsets.back().begin(), offsets.back().end(),
      [&, next = int64_t{0}](int64_t offset) mutable { return offset == std::exchange(next, next + bytes); });
  if (unit) {  // the last axis is not resized
    run = bytes * static_cast<int64_t>(offsets.back().size());
    offsets.pop_back();
    if (offsets.empty()) offsets.push_back({0});
  }
  return Prepared{.step = std::make_unique<NearestStep>(std::move(offsets), static_cast<size_t>(run)),
                  .inputs = {{0, from}},
                  .outputs = {to},
                  .kernel = "nearest"};
}

// Whether oneDNN's linear resampling reads at these positions: half-pixel centres, clamped to the image.
bool IsHalfPixel(const Table& table, int64_t in) {
  const float out = static_cast<float>(table.size());
  for (size_t i = 0; i < table.size(); ++i) {
    const float centre = (static_cast<float>(i) + 0.5f) * static_cast<float>(in) / out - 0.5f;
    if (std::fabs(std::clamp(centre, 0.0f, static_cast<float>(in - 1)) - table[i]) > 1e-4f) return false;
  }
  return true;
}

absl::StatusOr<Prepared> Linear(const NodeContext& context, const std::vector<Table>& tables) {
  const Dims in = context.InputDims(0), out = context.OutputDims();
  const int rank = static_cast<int>(in.size());
  if (rank < 3 || rank > 5 || in[0] != out[0])
    return absl::UnimplementedError("oneDNN resamples tensors of rank 3 to 5");
  const bool last = in[1] != out[1];  // resized images with channels last
  const std::vector<int> order = ChannelsFirstOrder(rank, last);
  for (int i = 2; i < rank; ++i) {
    if (!IsHalfPixel(tables[order[i]], in[order[i]]))
      return absl::UnimplementedError("oneDNN resamples at half-pixel centres only");
  }
  if (in[order[1]] != out[order[1]]) return absl::UnimplementedError("oneDNN does not resample channels");
  const Placement there = context.InputPlacement(0);
  for (const Placement& placement : {there, Placement{there.type}, Placement{DataType::kFloat32}}) {
    const Desc src = Reordered(DescOf(in, placement), order);
    if (IsEmpty(src)) continue;
    const dnnl::resampling_forward::primitive_desc primitive(
        CpuEngine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::resampling_linear, src,
        AnyDesc(Reordered(out, order), placement.type), UserScratch(),
        /*allow_empty=*/true);
    if (!primitive) continue;
    const Desc dst = Reordered(primitive.dst_desc(), ValueOrder(rank, last));
    Prepared prepared{.inputs = {{0, placement}},
                      .outputs = {PlacementOf(dst, placement.type)},
                      .kernel = ImplementationName(primitive)};
    prepared.scratch_bytes = primitive.scratchpad_desc().get_size();
    auto step = std::make_unique<PrimitiveStep>();
    HALFTONE_RETURN_IF_ERROR(Guard([&] { step->AddCall(dnnl::resampling_forward(primitive)); }));
    step->AddInput(DNNL_ARG_SRC, src, 0);
    step->AddOutput(DNNL_ARG_DST, primitive.dst_desc());
    step->AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), 0);
    prepared.step = std::move(step);
    return prepared;
  }
  return absl::UnimplementedError("oneDNN has no such resampling");
}

class ResizeKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType type = context.InputType(0);
    const Attributes& attributes = context.node().attributes;
    const std::string mode = attributes.String("mode", "nearest");
    if ((type != DataType::kFloat32 && type != DataType::kBFloat16) || type != context.OutputType()) {
      return absl::UnimplementedError("for f32 and bf16");
    }
    if (mode != "nearest" && mode != "linear") return absl::UnimplementedError("no kernel for this mode");
    if (attributes.String("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize") {
      return absl::UnimplementedError("no kernel for crops");
    }
    const Dims in = context.InputDims(0), out = context.OutputDims();
    if (in.size() != out.size() || in.empty() ||
        std::count(in.begin(), in.end(), 0) + std::count(out.begin(), out.end(), 0) > 0) {
      return absl::UnimplementedError("nothing to resize");
    }
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<Table> tables, TablesOf(context));
    return mode == "nearest" ? Nearest(context, tables) : Linear(context, tables);
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeResizeKernel() { return std::make_unique<ResizeKernel>(); }

}  // namespace halftone::onednn

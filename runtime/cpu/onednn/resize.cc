// SPDX-License-Identifier: Apache-2.0
// resize: nearest by tables of our own on any strided layout; linear with half-pixel centres by
// dnnl::resampling_forward; the rest by SIMD loops (runtime/cpu/simd/resize.h).
#include "runtime/cpu/simd/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/status.h"
#include "ir/resize_taps.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/support.h"

namespace halftone::onednn {
namespace {

// Positions on the input's axis, one per output position.
using Table = std::vector<float>;

// One an axis: the centre of what each output position reads.
std::vector<Table> TablesOf(const ResizePlan& plan) {
  std::vector<Table> tables(plan.dims.size());
  for (const ResizedAxis& axis : plan.axes) {
    for (const ResizeTaps& taps : axis.taps) {
      double position = 0;
      for (size_t t = 0; t < taps.from.size(); ++t) position += static_cast<double>(taps.from[t]) * taps.weights[t];
      tables[axis.axis].push_back(static_cast<float>(position));
    }
  }
  for (size_t i = 0; i < tables.size(); ++i) {
    if (!tables[i].empty()) continue;
    for (int64_t k = 0; k < plan.dims[i]; ++k) tables[i].push_back(static_cast<float>(k));
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

// Where x lies, and y in the same order of dimensions: strides and placements.
struct Layouts {
  Placement from, to;
  Dims strides, to_strides;
};
Layouts LayoutsOf(const NodeContext& context, DataType type) {
  const Dims in = context.InputDims(0), out = context.OutputDims();
  const Placement there = context.InputPlacement(0);
  Layouts l{Placement{type}, Placement{type}, PlainStrides(in), PlainStrides(out)};
  if (there.plain() || there.type != type) return l;
  const Desc desc = DescOf(in, there);
  const bool dense = desc.get_inner_nblks() == 0 && SameLayout(desc, DenseLike(desc, in));
  if (!dense) return l;
  const Desc like = DenseLike(desc, out);
  return Layouts{there, PlacementOf(like, type), desc.get_strides(), like.get_strides()};
}

absl::StatusOr<Prepared> Nearest(const NodeContext& context, const std::vector<Table>& tables) {
  const Dims in = context.InputDims(0), out = context.OutputDims();
  const DataType type = context.InputType(0);
  const auto [from, to, strides, to_strides] = LayoutsOf(context, type);
  // Axes in the order of the output's memory, so that it is written from end to end.
  std::vector<size_t> order(out.size());
  const Dims& places = to_strides;
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return (out[a] == 1 ? 0 : places[a]) > (out[b] == 1 ? 0 : places[b]); });
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
                      .kernel = ImplementationOf(primitive)};
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

// One pass an axis, on dimensions in the order of memory.
absl::StatusOr<Prepared> Separable(const NodeContext& context, ResizePlan plan) {
  const Dims in = context.InputDims(0);
  const DataType type = context.InputType(0) == DataType::kBFloat16 ? DataType::kBFloat16 : DataType::kFloat32;
  const Layouts l = LayoutsOf(context, type);
  std::vector<size_t> order(in.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (!l.from.plain()) {  // in the order of DenseLike
    const auto stride_of = [&](size_t i) { return in[i] == 1 ? int64_t{-1} : l.strides[i]; };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return stride_of(a) > stride_of(b); });
  }
  std::vector<int> place(in.size());
  for (size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int>(i);
  Dims dims;
  for (const size_t i : order) dims.push_back(in[i]);
  for (ResizedAxis& axis : plan.axes) axis.axis = place[axis.axis];
  Prepared prepared{.inputs = {{0, l.from}}, .outputs = {l.to}, .kernel = "loop"};
  prepared.step = simd::MakeResizeStep(type, dims, plan.axes, plan.extrapolation, prepared.scratch_bytes);
  return prepared;
}

absl::StatusOr<ResizePlan> PlanOf(const NodeContext& context) {
  const Tensor* given[4] = {};
  for (int i = 1; i < 4; ++i) {
    if (!context.HasInput(i)) continue;
    given[i] = context.Constant(i);
    if (given[i] == nullptr) return absl::UnimplementedError("scales or sizes are not constant");
  }
  return PlanResize(context.node().attributes, context.InputDims(0), given[1], given[2], given[3]);
}

class ResizeKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType type = context.InputType(0);
    const Attributes& attributes = context.node().attributes;
    const std::string mode = attributes.String("mode", "nearest");
    if (type != context.OutputType() || ElementSize(type) == 0)
      return absl::UnimplementedError("elements without a size");
    const Dims in = context.InputDims(0), out = context.OutputDims();
    if (in.size() != out.size() || in.empty() ||
        std::count(in.begin(), in.end(), 0) + std::count(out.begin(), out.end(), 0) > 0) {
      return absl::UnimplementedError("nothing to resize");
    }
    HALFTONE_ASSIGN_OR_RETURN(ResizePlan plan, PlanOf(context));
    if (plan.dims != out) return absl::UnimplementedError("the output has another shape than declared");
    const bool crop = attributes.String("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize";
    if (mode == "nearest" && !crop) return Nearest(context, TablesOf(plan));
    if (!IsFloat(type)) return absl::UnimplementedError("sums of floats only");
    // oneDNN is faster where channels lie innermost, our loops where it is the image's width.
    const bool by_columns = context.InputPlacement(0).plain() && in.back() != out.back();
    const bool smooth = mode == "linear" && !crop && attributes.Int("antialias", 0) == 0;
    if (smooth && !by_columns && type != DataType::kFloat16) {
      absl::StatusOr<Prepared> linear = Linear(context, TablesOf(plan));
      if (linear.ok() && !linear->kernel.slow) return linear;
      if (!linear.ok() && !absl::IsUnimplemented(linear.status())) return linear;
    }
    return Separable(context, std::move(plan));
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeResizeKernel() { return std::make_unique<ResizeKernel>(); }

}  // namespace halftone::onednn

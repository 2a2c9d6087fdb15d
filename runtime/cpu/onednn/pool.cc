// SPDX-License-Identifier: Apache-2.0
// max_pool, average_pool, global_average_pool, global_max_pool, and reduce_mean over all spatial dimensions. Three
// kernels:
//
//   int8, channels last                             SIMD loops (runtime/cpu/simd/int8_pool.h)
//   bf16, channels last, windows at every pixel     SIMD loops (runtime/cpu/simd/image_pool.h): half the time of oneDNN
//   all other floats                                dnnl::pooling_forward
#include <algorithm>

#include "base/status.h"
#include "ir/window.h"
#include "runtime/cpu/onednn/boxes.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/quantized.h"
#include "runtime/cpu/onednn/support.h"
#include "runtime/cpu/simd/image_pool.h"
#include "runtime/cpu/simd/int8_pool.h"
#include "runtime/cpu/simd/loop_step.h"

namespace halftone::onednn {
namespace {

using Primitive = dnnl::pooling_forward::primitive_desc;

struct Problem {
  dnnl::algorithm algorithm = dnnl::algorithm::pooling_max;
  bool channels_last = false;
  Dims dst;  // in oneDNN's order
  Dims strides, kernel, dilations, pads_begin, pads_end;
};

absl::StatusOr<Problem> GlobalProblem(const Dims& src, bool channels_last, bool max = false) {
  const size_t spatial = src.size() - 2;
  Problem problem{.algorithm = max ? dnnl::algorithm::pooling_max : dnnl::algorithm::pooling_avg_exclude_padding,
                  .channels_last = channels_last};
  problem.dst.assign(src.size(), 1);
  problem.dst[0] = src[0];
  problem.dst[1] = src[1];
  problem.kernel.assign(src.begin() + 2, src.end());
  problem.strides.assign(spatial, 1);
  problem.dilations = problem.pads_begin = problem.pads_end = Dims(spatial, 0);
  return problem;
}

// Channels first, whether the reduced axes are exactly the spatial ones; nullopt if they are not in either layout.
std::optional<bool> ReducesSpatial(const NodeContext& context, int rank) {
  const auto given = context.ConstantInts(1);
  if (!given.has_value()) return std::nullopt;
  std::vector<int64_t> axes = *given;
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  if (static_cast<int>(axes.size()) != rank - 2) return std::nullopt;
  for (int i = 0; i < rank - 2; ++i) {
    if (axes[i] != axes[0] + i) return std::nullopt;
  }
  if (axes[0] == 2) return false;
  if (axes[0] == 1) return true;
  return std::nullopt;
}

absl::StatusOr<Problem> ProblemOf(const NodeContext& context) {
  const Node& node = context.node();
  const Dims dims = context.InputDims(0);
  const int rank = static_cast<int>(dims.size());
  if (rank < 3 || rank > 5) return absl::UnimplementedError("oneDNN pools tensors of rank 3 to 5");
  if (node.op == OpKind::kReduceMean) {
    const std::optional<bool> channels_last = ReducesSpatial(context, rank);
    if (!channels_last.has_value()) return absl::UnimplementedError("not a mean over the spatial dimensions");
    return GlobalProblem(Reordered(dims, ChannelsFirstOrder(rank, *channels_last)), *channels_last);
  }
  const bool channels_last = IsChannelsLast(node.attributes);
  const Dims src = Reordered(dims, ChannelsFirstOrder(rank, channels_last));
  if (node.op == OpKind::kGlobalAveragePool || node.op == OpKind::kGlobalMaxPool)
    return GlobalProblem(src, channels_last, node.op == OpKind::kGlobalMaxPool);

  const std::vector<int64_t> kernel = node.attributes.Ints("kernel");
  HALFTONE_ASSIGN_OR_RETURN(const Window window,
                            ResolveWindow(node.attributes, std::span<const int64_t>(src).subspan(2), kernel));
  Problem problem{.channels_last = channels_last,
                  .dst = {src[0], src[1]},
                  .strides = window.strides,
                  .kernel = window.kernel,
                  .dilations = window.dilations,
                  .pads_begin = window.pads_begin,
                  .pads_end = window.pads_end};
  problem.dst.insert(problem.dst.end(), window.output.begin(), window.output.end());
  bool beyond = false;
  for (size_t i = 0; i < problem.kernel.size(); ++i) {
    const int64_t reach = (problem.kernel[i] - 1) * window.dilations[i] + 1;
    const int64_t end = (window.output[i] - 1) * window.strides[i] + reach - src[2 + i] - window.pads_begin[i];
    beyond = beyond || end > problem.pads_end[i];
    problem.pads_end[i] = std::max(problem.pads_end[i], end);
    --problem.dilations[i];
  }
  if (node.op == OpKind::kAveragePool) {
    const bool include = node.attributes.Bool("count_include_pad", false);
    if (include && beyond) return absl::UnimplementedError("oneDNN counts what lies beyond the padding");
    problem.algorithm =
        include ? dnnl::algorithm::pooling_avg_include_padding : dnnl::algorithm::pooling_avg_exclude_padding;
  }
  return problem;
}

// No window lies in the padding alone.
bool EveryWindowHasElements(const simd::PoolAxis& axis) {
  const int64_t last = (axis.out - 1) * axis.stride - axis.pad_begin;
  return axis.kernel > axis.pad_begin && last < axis.in;
}

// Loops of our own, on channels that lie next to each other.
class ImagePoolKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override;
};

absl::StatusOr<Prepared> ImagePoolKernel::Prepare(const NodeContext& context) const {
  if (context.node().outputs.size() > 1 && context.OutputUsed(1)) return absl::UnimplementedError("no indices");
  HALFTONE_ASSIGN_OR_RETURN(const Problem problem, ProblemOf(context));
  const DataType type = context.InputType(0);
  const Placement there = context.InputPlacement(0);
  const bool side_by_side = problem.strides == Dims{1, 1};  // else, and in f32, oneDNN is as fast or faster
  if (there.type != type || type != DataType::kBFloat16 || problem.dst.size() != 4 || !side_by_side) {
    return absl::UnimplementedError("our loops pool images in bf16 at every pixel");
  }
  const Dims given = context.InputDims(0);
  const std::vector<int> order = ChannelsFirstOrder(4, problem.channels_last);
  const Strided input = StridedInput(given, there);
  if (input.placement.plain() != there.plain()) return absl::UnimplementedError("the image lies in blocks");
  const Dims in = Reordered(given, order), strides = Reordered(input.strides, order);
  const auto axis = [&](int i) {
    return simd::PoolAxis{in[2 + i],          problem.dst[2 + i],    problem.kernel[i],
                          problem.strides[i], problem.pads_begin[i], problem.pads_end[i]};
  };
  using dnnl::algorithm;
  const simd::ImagePool pool{.max = problem.algorithm == algorithm::pooling_max,
                             .include_pad = problem.algorithm == algorithm::pooling_avg_include_padding,
                             .images = in[0],
                             .channels = in[1],
                             .rows = axis(0),
                             .columns = axis(1),
                             .image_step = strides[0],
                             .row_step = strides[2]};
  const bool dense = problem.dilations == Dims{0, 0};
  if (strides[1] != 1 || strides[3] != pool.channels || pool.channels < simd::PoolLanes(type) || !dense ||
      !EveryWindowHasElements(pool.rows) || !EveryWindowHasElements(pool.columns)) {
    return absl::UnimplementedError("another layout or window");
  }
  const Dims& dst = problem.dst;
  const Desc desc(dst, *DnnlType(type), Dims{dst[1] * dst[2] * dst[3], 1, dst[1] * dst[3], dst[1]});
  Prepared prepared{
      .inputs = {{0, there}}, .scratch_bytes = simd::PoolScratch(pool, context.threads()), .kernel = "image pool"};
  prepared.outputs.assign(context.node().outputs.size(), Placement{});
  prepared.outputs[0] = PlacementOf(Reordered(desc, ValueOrder(4, problem.channels_last)), type);
  prepared.step = std::make_unique<simd::LoopStep>([pool, type](const simd::Memory& memory) {
    simd::PoolImages(pool, type, memory.inputs[0], memory.outputs[0], memory.scratch);
    return absl::OkStatus();
  });
  return prepared;
}

class PoolKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType type = context.InputType(0);
    if (!IsFloat(type) || type != context.OutputType()) return absl::UnimplementedError("oneDNN pools floats");
    if (context.node().outputs.size() > 1 && context.OutputUsed(1))
      return absl::UnimplementedError("oneDNN gives no indices");
    HALFTONE_ASSIGN_OR_RETURN(const Problem problem, ProblemOf(context));
    const Placement there = context.InputPlacement(0);
    std::optional<absl::StatusOr<Prepared>> slow;
    for (const DataType computed : {type, DataType::kFloat32}) {
      for (const Placement& placement : {computed == type ? there : Placement{computed}, Placement{computed}}) {
        absl::StatusOr<Prepared> prepared = Build(context, problem, placement);
        if (prepared.ok() && !prepared->kernel.slow) return prepared;
        if (prepared.ok() && !slow.has_value()) slow = std::move(prepared);
      }
    }
    const OpKind op = context.node().op;
    const bool own_loop = op == OpKind::kMaxPool || op == OpKind::kAveragePool;  // runtime/cpu/simd/pools.cc
    if (slow.has_value() && own_loop) return absl::UnimplementedError("oneDNN has no fast kernel for it");
    if (slow.has_value()) return *std::move(slow);
    return absl::UnimplementedError("oneDNN has no such pooling");
  }

 private:
  static absl::StatusOr<Prepared> Build(const NodeContext& context, const Problem& problem,
                                        const Placement& placement) {
    const int rank = static_cast<int>(problem.dst.size());
    const Desc src =
        Reordered(DescOf(context.InputDims(0), placement), ChannelsFirstOrder(rank, problem.channels_last));
    if (IsEmpty(src)) return absl::UnimplementedError("no such layout");
    const Primitive primitive(CpuEngine(), dnnl::prop_kind::forward_inference, problem.algorithm, src,
                              AnyDesc(problem.dst, placement.type), problem.strides, problem.kernel, problem.dilations,
                              problem.pads_begin, problem.pads_end, UserScratch(),
                              /*allow_empty=*/true);
    if (!primitive) return absl::UnimplementedError("no such kernel");
    // reduce_mean may drop the dimensions of size 1.
    Desc dst = Reordered(primitive.dst_desc(), ValueOrder(rank, problem.channels_last));
    const Dims out = context.OutputDims();
    if (dst.get_dims() != out) dst = dst.reshape(out, /*allow_empty=*/true);
    if (IsEmpty(dst)) return absl::UnimplementedError("no view of the result");

    Prepared prepared{.inputs = {{0, placement}}, .kernel = ImplementationOf(primitive)};
    prepared.outputs.assign(context.node().outputs.size(), Placement{});
    prepared.outputs[0] = PlacementOf(dst, placement.type);
    prepared.scratch_bytes = primitive.scratchpad_desc().get_size();
    auto step = std::make_unique<PrimitiveStep>();
    HALFTONE_RETURN_IF_ERROR(Guard([&] { step->AddCall(dnnl::pooling_forward(primitive)); }));
    step->AddInput(DNNL_ARG_SRC, src, 0);
    step->AddOutput(DNNL_ARG_DST, primitive.dst_desc());
    step->AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), 0);
    prepared.step = std::move(step);
    return prepared;
  }
};

// Int8, channels last. Where input and output have the same quantization, the maximum of the integers is the integer of
// the maximum; an average is computed on the dequantized numbers.
class Int8PoolKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    if (context.node().outputs.size() > 1 && context.OutputUsed(1)) return absl::UnimplementedError("no indices");
    const DataType type = context.InputType(0);
    HALFTONE_ASSIGN_OR_RETURN(const Problem problem, ProblemOf(context));
    if (problem.dst.size() != 4 || problem.dilations != Dims{0, 0}) return absl::UnimplementedError("no images");
    const Dims src = Reordered(context.InputDims(0), ChannelsFirstOrder(4, problem.channels_last));
    const auto axis = [&](int i) {
      return simd::PoolAxis{src[2 + i],         problem.dst[2 + i],    problem.kernel[i],
                            problem.strides[i], problem.pads_begin[i], problem.pads_end[i]};
    };
    simd::Int8Pool pool{.src = type, .images = src[0], .channels = src[1], .rows = axis(0), .columns = axis(1)};
    if (!EveryWindowHasElements(pool.rows) || !EveryWindowHasElements(pool.columns))
      return absl::UnimplementedError("a window in the padding");
    const bool max = problem.algorithm == dnnl::algorithm::pooling_max;
    if (max && !MovesIntegers(context.graph(), context.id()))
      return absl::UnimplementedError("the largest of another quantization");
    if (!max) {
      HALFTONE_ASSIGN_OR_RETURN(const Element from, InputElement(context, 0));
      HALFTONE_ASSIGN_OR_RETURN(const Element to, OutputElement(context));
      pool.scale = from.scale;
      pool.zero_point = from.zero_point;
      pool.include_pad = problem.algorithm == dnnl::algorithm::pooling_avg_include_padding;
      pool.finish = FinishOf(to, Epilogue());
    } else {
      pool.finish.type = type;
    }
    Desc dst = Reordered(ChannelsLastDesc(problem.dst, pool.finish.type), ValueOrder(4, problem.channels_last));
    const Dims out = context.OutputDims();  // reduce_mean may drop the dimensions of size 1
    if (dst.get_dims() != out) dst = dst.reshape(out, /*allow_empty=*/true);
    if (IsEmpty(dst)) return absl::UnimplementedError("no view of the result");
    Prepared prepared{.inputs = {{0, ChannelsLast(src, type, problem.channels_last)}},
                      .scratch_bytes = simd::Int8PoolScratch(pool, context.threads()),
                      .kernel = "int8 pool"};
    prepared.outputs.assign(context.node().outputs.size(), Placement{});
    prepared.outputs[0] = PlacementOf(dst, pool.finish.type);
    prepared.step = std::make_unique<simd::LoopStep>([pool, max](const simd::Memory& memory) {
      (max ? simd::MaxPoolInt8 : simd::AveragePoolInt8)(pool, memory.inputs[0], memory.outputs[0], memory.scratch);
      return absl::OkStatus();
    });
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeInt8PoolKernel() { return std::make_unique<Int8PoolKernel>(); }
std::unique_ptr<Kernel> MakeImagePoolKernel() { return std::make_unique<ImagePoolKernel>(); }
std::unique_ptr<Kernel> MakePoolKernel() { return std::make_unique<PoolKernel>(); }

}  // namespace halftone::onednn

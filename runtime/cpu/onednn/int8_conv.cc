// SPDX-License-Identifier: Apache-2.0
// conv of int8 images, channels last, with constant int8 weights (one scale, or one per output channel). Three kernels:
//
//   depthwise 3 x 3 and 5 x 5   SIMD loops, more than twice as fast as oneDNN (runtime/cpu/simd/int8_depthwise.h)
//   all others                  dnnl::convolution_forward with bias, residual and activation in the same primitive
//   on AVX2 without VNNI        weights that might saturate oneDNN's sums of 16 bits: im2col and the exact int8 matmul
//                               (runtime/cpu/simd/int8_matmul_avx2.h)
#include <array>
#include <memory>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "runtime/cpu/onednn/int8_problem.h"
#include "runtime/cpu/onednn/isa.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/simd/cpu.h"
#include "runtime/cpu/simd/int8_depthwise.h"
#include "runtime/cpu/simd/int8_matmul_avx2.h"
#include "runtime/cpu/simd/loop_step.h"

namespace halftone::onednn {
namespace {

using Primitive = dnnl::convolution_forward::primitive_desc;

constexpr int kWeights = 1, kBias = 2, kResidual = 3;

// The node in numbers.
struct Int8Conv {
  ConvProblem problem;
  Int8Problem int8;
  Int8Weights weights;
  std::vector<float> bias;  // empty: none
  Desc weights_given;
};

// Which dimension of the weights is the result's channels.
absl::Status CheckAxis(const Attributes& attributes, const Int8Weights& weights, int64_t channels) {
  if (weights.scales.size() == 1) return absl::OkStatus();
  const std::string layout = attributes.String("weights_layout", "OIHW");
  const int rank = weights.tensor.rank();
  const int axis = layout == "OIHW" ? 0 : layout == "HWIO" ? rank - 1 : rank - 2;
  if (weights.axis == axis && static_cast<int64_t>(weights.scales.size()) == channels) return absl::OkStatus();
  return absl::UnimplementedError("scales of the weights along another axis than the result's channels");
}

absl::StatusOr<Int8Conv> Describe(const NodeContext& context) {
  const Attributes& attributes = context.node().attributes;
  Int8Conv conv;
  HALFTONE_ASSIGN_OR_RETURN(conv.int8.src, InputElement(context, 0));
  HALFTONE_ASSIGN_OR_RETURN(conv.int8.dst, OutputElement(context));
  HALFTONE_ASSIGN_OR_RETURN(conv.weights, WeightsOf(context, kWeights));
  HALFTONE_ASSIGN_OR_RETURN(conv.int8.epilogue, EpilogueOf(attributes));
  HALFTONE_ASSIGN_OR_RETURN(conv.problem,
                            MakeConvProblem(attributes, context.InputDims(0), context.InputDims(kWeights)));
  HALFTONE_RETURN_IF_ERROR(CheckAxis(attributes, conv.weights, conv.problem.out_channels));
  if (context.HasInput(kBias)) {
    std::optional<std::vector<float>> bias = RealNumbers(context, kBias);
    if (!bias.has_value() || static_cast<int64_t>(bias->size()) != conv.problem.out_channels)
      return absl::UnimplementedError("the bias is no constant vector");
    conv.bias = *std::move(bias);
  }
  if (context.HasInput(kResidual)) {
    HALFTONE_ASSIGN_OR_RETURN(conv.int8.residual, InputElement(context, kResidual));
  }
  conv.weights_given =
      Desc(conv.problem.weights, *DnnlType(DataType::kInt8), conv.problem.weights_strides, /*allow_empty=*/true);
  return conv;
}

Primitive MakePrimitive(const Int8Conv& conv, const Int8Attributes& attributes, const Desc& src, const Desc& dst) {
  const ConvProblem& problem = conv.problem;
  const Desc weights = AnyDesc(problem.weights, DataType::kInt8);
  constexpr auto kKind = dnnl::prop_kind::forward_inference;
  constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
  if (conv.bias.empty()) {
    return Primitive(CpuEngine(), kKind, kAlgorithm, src, weights, dst, problem.strides, problem.dilations,
                     problem.pads_begin, problem.pads_end, attributes.attributes, /*allow_empty=*/true);
  }
  const Desc bias = PlainDesc(Dims{problem.out_channels}, DataType::kFloat32);
  return Primitive(CpuEngine(), kKind, kAlgorithm, src, weights, bias, dst, problem.strides, problem.dilations,
                   problem.pads_begin, problem.pads_end, attributes.attributes, /*allow_empty=*/true);
}

// The types and the mask of scales that oneDNN computes with; images have channels last.
void SetProblem(const Element& given, Int8Conv& conv) {
  Int8Problem& int8 = conv.int8;
  int8.src = ReadAs(given);
  const bool grouped = conv.problem.weights.size() > conv.problem.src.size();
  if (conv.weights.scales.size() > 1) int8.weights_mask = grouped ? 3 : 1;
  if (int8.dst.type == DataType::kFloat16) int8.dst.type = DataType::kFloat32;
  if (int8.residual.has_value() && int8.residual->type == DataType::kFloat16) int8.residual->type = DataType::kFloat32;
}

// The ways of adding the residual, in order of preference: where it lies if nothing else reads it; else from there.
std::array<ResidualMode, 3> ResidualModes(const NodeContext& context, const Int8Conv& conv) {
  const Int8Problem& int8 = conv.int8;
  const Placement there = context.InputPlacement(kResidual),
                  wanted = ChannelsLast(conv.problem.dst, int8.residual->type, conv.problem.channels_last);
  const bool alike = int8.residual->quantized ? int8.dst.quantized : int8.residual->type == int8.dst.type;
  const bool ours = there.type == wanted.type && context.DiesHere(kResidual) &&
                    SameLayout(DescOf(context.OutputDims(), there), DescOf(context.OutputDims(), wanted));
  return {ours && alike ? ResidualMode::kSum : ResidualMode::kBinary, ResidualMode::kBinary,
          alike ? ResidualMode::kSum : ResidualMode::kBinary};
}

struct Choice {
  Int8Attributes attributes;
  Primitive primitive;
};

// The first fast primitive; it sets the epilogue's residual. UNIMPLEMENTED: there is none.
absl::StatusOr<Choice> Choose(const NodeContext& context, Int8Conv& conv) {
  Int8Problem& int8 = conv.int8;
  const Desc src = ChannelsLastDesc(conv.problem.src, int8.src.type);
  const Desc dst = ChannelsLastDesc(conv.problem.dst, int8.dst.type);
  Choice choice;
  const auto make = [&] {
    choice.attributes = AttributesOf(int8);
    choice.primitive = MakePrimitive(conv, choice.attributes, src, dst);
    return choice.primitive && !IsSlow(choice.primitive);
  };
  bool fast = false;
  if (int8.residual.has_value()) {
    for (const ResidualMode mode : ResidualModes(context, conv)) {
      int8.epilogue.residual = mode;
      int8.epilogue.residual_desc = ChannelsLastDesc(conv.problem.dst, int8.residual->type);
      fast = make();
      if (fast) break;
    }
  } else {
    fast = make();
  }
  if (!fast) return absl::UnimplementedError("oneDNN has no fast int8 convolution of these shapes");
  return choice;
}

// The primitive with its weights, bias and scales; the residual is an argument of the caller.
absl::StatusOr<std::unique_ptr<PrimitiveStep>> MakeStep(const Choice& choice, Int8Conv& conv) {
  const Primitive& primitive = choice.primitive;
  auto step = std::make_unique<PrimitiveStep>();
  HALFTONE_RETURN_IF_ERROR(Guard([&] { step->AddCall(dnnl::convolution_forward(primitive)); }));
  step->AddInput(DNNL_ARG_SRC, primitive.src_desc(), 0);
  step->AddOutput(DNNL_ARG_DST, primitive.dst_desc());
  step->AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), 0);
  HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed,
                            Pack(conv.weights.tensor, conv.weights_given, primitive.weights_desc()));
  step->AddPrepacked(DNNL_ARG_WEIGHTS, std::move(packed));
  if (!conv.bias.empty()) {
    for (float& number : conv.bias) number /= choice.attributes.unit;
    HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory bias, PrepackedFloats(std::move(conv.bias), primitive.bias_desc()));
    step->AddPrepacked(DNNL_ARG_BIAS, std::move(bias));
  }
  HALFTONE_RETURN_IF_ERROR(AddScales(conv.int8, choice.attributes, conv.weights.scales, *step));
  return step;
}

class Int8ConvKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override;
};

absl::StatusOr<Prepared> Int8ConvKernel::Prepare(const NodeContext& context) const {
  HALFTONE_ASSIGN_OR_RETURN(Int8Conv conv, Describe(context));
  const Element given = conv.int8.src;
  SetProblem(given, conv);
  HALFTONE_RETURN_IF_ERROR(CannotSaturate(conv.int8.src, context.node(), conv.weights.tensor));
  HALFTONE_ASSIGN_OR_RETURN(const Choice choice, Choose(context, conv));

  const ConvProblem& problem = conv.problem;
  const Int8Problem& int8 = conv.int8;
  Prepared prepared{.kernel = ImplementationOf(choice.primitive), .weights_type = DataType::kInt8};
  prepared.scratch_bytes = choice.primitive.scratchpad_desc().get_size();
  prepared.outputs.push_back(ChannelsLast(problem.dst, int8.dst.type, problem.channels_last));
  prepared.inputs.push_back({0, ChannelsLast(problem.src, given.type, problem.channels_last)});
  if (context.only_asks()) return prepared;
  HALFTONE_ASSIGN_OR_RETURN(std::unique_ptr<PrimitiveStep> step, MakeStep(choice, conv));
  if (int8.residual.has_value()) {
    prepared.inputs.push_back({kResidual, ChannelsLast(problem.dst, int8.residual->type, problem.channels_last)});
    if (int8.epilogue.residual == ResidualMode::kSum) {
      prepared.overwrites = 1;
    } else {
      step->AddInput(choice.attributes.residual_argument, int8.epilogue.residual_desc, 1);
    }
  }
  prepared.step = std::move(step);
  AddShift(given, problem.src, prepared);
  return prepared;
}

// Loops of our own.
class Int8DepthwiseKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    HALFTONE_ASSIGN_OR_RETURN(const Int8Conv conv, Describe(context));
    const ConvProblem& problem = conv.problem;
    const int64_t channels = problem.src[1];
    const bool depthwise = problem.src.size() == 4 && problem.weights.size() == 5 && problem.weights[0] == channels &&
                           problem.out_channels == channels;
    if (!depthwise || context.HasInput(kResidual))
      return absl::UnimplementedError("no depthwise convolution of images");
    const int64_t kernel = problem.weights[3];
    if (problem.weights[4] != kernel || problem.strides[0] != problem.strides[1] || problem.dilations != Dims{0, 0})
      return absl::UnimplementedError("another window");
    const Element &src = conv.int8.src, &dst = conv.int8.dst;
    const auto axis = [&](int i) {
      return simd::DepthwiseAxis{problem.src[2 + i], problem.dst[2 + i], problem.pads_begin[i]};
    };
    simd::DepthwiseTask task{.images = problem.src[0],
                             .channels = channels,
                             .kernel = kernel,
                             .stride = problem.strides[0],
                             .rows = axis(0),
                             .columns = axis(1),
                             .src = src.type,
                             .src_zero = src.zero_point,
                             .offsets = conv.bias,
                             .finish = FinishOf(dst, conv.int8.epilogue)};
    const std::span<const int8_t> given = conv.weights.tensor.data<int8_t>();
    const Dims& strides = problem.weights_strides;
    for (int64_t tap = 0; tap < kernel * kernel; ++tap) {
      for (int64_t c = 0; c < channels; ++c)
        task.weights.push_back(given[c * strides[0] + tap / kernel * strides[3] + tap % kernel * strides[4]]);
    }
    for (int64_t c = 0; c < channels; ++c)
      task.factors.push_back(src.scale * conv.weights.scales[conv.weights.scales.size() > 1 ? c : 0]);
    task.offsets.resize(channels, 0.0f);
    absl::StatusOr<std::unique_ptr<simd::DepthwiseLoop>> loop = simd::MakeDepthwise(task);
    if (!loop.ok()) return loop.status();
    const simd::DepthwiseCpu cpu = (*loop)->cpu();
    Prepared prepared{.inputs = {{0, ChannelsLast(problem.src, src.type, problem.channels_last)}},
                      .outputs = {ChannelsLast(problem.dst, task.finish.type, problem.channels_last)},
                      .scratch_bytes = (*loop)->scratch_bytes(context.threads()),
                      .kernel = {Concat("depthwise loop ", simd::NameOf(cpu)), /*slow=*/false, simd::VectorBits(cpu)},
                      .weights_type = DataType::kInt8};
    const std::shared_ptr<const simd::DepthwiseLoop> shared = *std::move(loop);
    prepared.step = std::make_unique<simd::LoopStep>([shared](const simd::Memory& memory) {
      shared->Run(memory.inputs[0], memory.outputs[0], memory.scratch);
      return absl::OkStatus();
    });
    return prepared;
  }
};

// Weights as the windows of images are widened: [O][spatial][I].
Tensor ColumnsOf(const Int8Conv& conv) {
  const Dims &dims = conv.problem.weights, &strides = conv.problem.weights_strides;
  const std::span<const int8_t> from = conv.weights.tensor.data<int8_t>();
  int64_t taps = 1;
  for (size_t i = 2; i < dims.size(); ++i) taps *= dims[i];
  Tensor columns(DataType::kInt8, {dims[0], taps * dims[1]});
  int8_t* to = columns.mutable_data<int8_t>().data();
  for (int64_t o = 0; o < dims[0]; ++o) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      int64_t place = o * strides[0], rest = tap;
      for (size_t i = dims.size(); i-- > 2; rest /= dims[i]) place += rest % dims[i] * strides[i];
      for (int64_t c = 0; c < dims[1]; ++c) *to++ = from[place + c * strides[1]];
    }
  }
  return columns;
}

class Int8ConvAvx2Kernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    HALFTONE_ASSIGN_OR_RETURN(const Int8Conv conv, Describe(context));
    const ConvProblem& problem = conv.problem;
    const Element &src = conv.int8.src, &dst = conv.int8.dst;
    const size_t rank = problem.src.size();
    if (rank > 4 || problem.weights.size() != rank) return absl::UnimplementedError("groups, or three dimensions");
    const bool residual = conv.int8.residual.has_value();
    if (residual && conv.int8.epilogue.activation_first)
      return absl::UnimplementedError("a residual after an activation");
    const auto axis = [&](size_t i) {
      return simd::ConvWindows::Axis{problem.src[i],
                                     problem.dst[i],
                                     problem.weights[i],
                                     problem.strides[i - 2],
                                     problem.dilations[i - 2] + 1,
                                     problem.pads_begin[i - 2]};
    };
    simd::ConvWindows windows{.columns = axis(rank - 1), .channels = problem.src[1]};
    if (rank == 4) windows.rows = axis(2);
    const int64_t columns = problem.out_channels, depth = windows.depth();
    simd::Int8MatMulTask task{.rows = problem.dst[0] * windows.rows.out * windows.columns.out,
                              .depth = depth,
                              .columns = columns,
                              .windows = windows,
                              .matrices = {{}},
                              .offsets = conv.bias,
                              .finish = FinishOf(dst, conv.int8.epilogue)};
    task.a = {src.type, src.zero_point, depth, 1};
    task.b = {DataType::kInt8, 0, depth, 1};
    task.offsets.resize(columns, 0.0f);
    for (int64_t c = 0; c < columns; ++c)
      task.factors.push_back(src.scale * conv.weights.scales[conv.weights.scales.size() > 1 ? c : 0]);
    if (residual) {
      const Element& added = *conv.int8.residual;
      task.has_addend = true;
      task.addend = {added.quantized ? added.type : DataType::kFloat32, added.scale, added.zero_point, columns, 1};
    }
    const DataType addend_type = task.addend.type;
    Prepared prepared{.inputs = {{0, ChannelsLast(problem.src, src.type, problem.channels_last)}},
                      .outputs = {ChannelsLast(problem.dst, task.finish.type, problem.channels_last)},
                      .kernel = {"int8 matmul avx2", /*slow=*/false, simd::kAvx2Bits},
                      .weights_type = DataType::kInt8};
    if (residual) prepared.inputs.push_back({kResidual, ChannelsLast(problem.dst, addend_type, problem.channels_last)});
    const Tensor weights = ColumnsOf(conv);
    HALFTONE_ASSIGN_OR_RETURN(std::shared_ptr<const simd::Int8MatMul> matmul,
                              simd::MakeInt8MatMul(std::move(task), context.only_asks() ? nullptr : weights.raw()));
    prepared.scratch_bytes = matmul->scratch_bytes(context.threads());
    prepared.step = std::make_unique<simd::LoopStep>([matmul, residual](const simd::Memory& memory) {
      matmul->Run(memory.inputs[0], nullptr, residual ? memory.inputs[1] : nullptr, memory.outputs[0], memory.scratch);
      return absl::OkStatus();
    });
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeInt8ConvAvx2Kernel() { return std::make_unique<Int8ConvAvx2Kernel>(); }
std::unique_ptr<Kernel> MakeInt8ConvKernel() { return std::make_unique<Int8ConvKernel>(); }
std::unique_ptr<Kernel> MakeInt8DepthwiseKernel() { return std::make_unique<Int8DepthwiseKernel>(); }

}  // namespace halftone::onednn

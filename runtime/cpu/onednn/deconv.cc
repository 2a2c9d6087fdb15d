// SPDX-License-Identifier: Apache-2.0
// conv_transpose: dnnl::deconvolution_forward with the bias in the same primitive, of floats and of int8.
//
// The implementation chooses the layouts; the layout that the value has is taken where the same implementation runs on
// it. bf16 for which the CPU's instruction set has no kernel is computed in f32.
#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "ir/transposed_window.h"
#include "ir/window.h"
#include "runtime/cpu/onednn/int8_problem.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/problem.h"
#include "runtime/cpu/simd/add_bias.h"

namespace halftone::onednn {
namespace {

using Primitive = dnnl::deconvolution_forward::primitive_desc;

constexpr int kWeights = 1, kBias = 2, kOutputShape = 3;

struct Problem {
  Dims src, dst;         // N, C, spatial
  Dims weights, places;  // [groups,] O, I, spatial; strides of the tensor as the graph has it, in that order
  Dims strides, dilations, pads_begin, pads_end;
  bool channels_last = false;
};

absl::StatusOr<Problem> ProblemOf(const NodeContext& context) {
  const Attributes& attributes = context.node().attributes;
  const Dims dims = context.InputDims(0), weights = context.InputDims(kWeights), out = context.OutputDims();
  const int rank = static_cast<int>(dims.size());
  if (rank < 3 || rank > 5 || static_cast<int>(weights.size()) != rank)
    return absl::UnimplementedError("oneDNN transposes convolutions of rank 3 to 5");
  Problem p;
  p.channels_last = IsChannelsLast(attributes);
  const std::vector<int> order = ChannelsFirstOrder(rank, p.channels_last);
  p.src = Reordered(dims, order);
  p.dst = Reordered(out, order);
  const bool first = attributes.String("weights_layout", "IOHW") == "IOHW";
  const Dims plain = PlainStrides(weights);
  const size_t in = first ? 0 : rank - 1, made = first ? 1 : rank - 2, spatial = first ? 2 : 0;
  const int64_t groups = attributes.Int("group", 1);
  if (groups < 1 || weights[in] != p.src[1] || weights[in] % groups != 0 || weights[made] * groups != p.dst[1])
    return absl::InvalidArgumentError(Concat("weights for ", weights[in], " x ", weights[made], " channels in ", groups,
                                             " groups do not fit ", p.src[1], " channels to ", p.dst[1]));
  if (groups > 1) {
    p.weights.push_back(groups);
    p.places.push_back(weights[in] / groups * plain[in]);
  }
  p.weights.insert(p.weights.end(), {weights[made], weights[in] / groups});
  p.places.insert(p.places.end(), {plain[made], plain[in]});
  Dims kernel;
  for (int i = 0; i < rank - 2; ++i) {
    kernel.push_back(weights[spatial + i]);
    p.places.push_back(plain[spatial + i]);
  }
  p.weights.insert(p.weights.end(), kernel.begin(), kernel.end());
  const std::span<const int64_t> image = std::span<const int64_t>(p.src).subspan(2);
  const std::span<const int64_t> given =
      context.HasInput(kOutputShape) ? std::span<const int64_t>(p.dst).subspan(2) : std::span<const int64_t>();
  HALFTONE_ASSIGN_OR_RETURN(const TransposedWindow window, ResolveTransposedWindow(attributes, image, kernel, given));
  p.strides = window.strides;
  p.dilations = window.dilations;
  for (int64_t& dilation : p.dilations) --dilation;
  p.pads_begin = window.pads_begin;
  p.pads_end = window.pads_end;
  for (int i = 0; i < rank - 2; ++i) {
    if (p.pads_end[i] <= -p.strides[i]) return absl::UnimplementedError("the result is longer than oneDNN makes it");
  }
  return p;
}

Primitive Make(const Problem& p, const OperandTypes& types, const Desc& src, const Desc& dst) {
  constexpr auto kKind = dnnl::prop_kind::forward_inference;
  constexpr auto kAlgorithm = dnnl::algorithm::deconvolution_direct;
  const Desc weights = AnyDesc(p.weights, types.weights);
  dnnl::primitive_attr attributes = UserScratch();
  if (types.bf16_math) attributes.set_fpmath_mode(dnnl::fpmath_mode::bf16);
  if (types.bias == DataType::kUnknown) {
    return Primitive(CpuEngine(), kKind, kAlgorithm, src, weights, dst, p.strides, p.dilations, p.pads_begin,
                     p.pads_end, attributes, /*allow_empty=*/true);
  }
  return Primitive(CpuEngine(), kKind, kAlgorithm, src, weights, PlainDesc(Dims{p.dst[1]}, types.bias), dst, p.strides,
                   p.dilations, p.pads_begin, p.pads_end, attributes, /*allow_empty=*/true);
}

bool IsSlowDeconvolution(const Primitive& primitive) { return HasSlowPart(ImplementationOf(primitive)); }

// oneDNN's convolution backward adds the bias number by number where channels lie last (3x3 with stride 2, 128 channels
// at 28x28: 2.7 instead of 1.4 ms, in bf16 3.8 instead of 0.3 ms).
bool HasDenseRows(const Desc& dst) {
  const Dims dims = dst.get_dims();
  int64_t count = sizeof(float);
  for (const int64_t dim : dims) count *= dim;
  return dst.get_inner_nblks() == 0 && dst.get_strides()[1] == 1 && static_cast<int64_t>(dst.get_size()) <= count;
}
bool AddsBiasSlowly(const Primitive& primitive) {
  return RunsConvolution(ImplementationOf(primitive)) && HasDenseRows(primitive.dst_desc());
}

size_t AlignedBytes(size_t bytes) { return (bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment; }

// Sums in f32, and the bias after them.
class BiasedStep final : public Step {
 public:
  // The sums are where the result is if that is f32, else `sums` bytes into the scratch memory. The bias is input
  // `bias_input` where `bias` is empty.
  BiasedStep(std::unique_ptr<Step> compute, std::vector<float> bias, int bias_input, Dims dst, DataType type,
             size_t sums)
      : compute_(std::move(compute)),
        fixed_(std::move(bias)),
        bias_input_(bias_input),
        channels_(dst[1]),
        type_(type),
        sums_at_(sums) {
    for (const int64_t dim : dst) rows_ *= dim;
    rows_ /= channels_;
  }

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte* scratch) override {
    compute_->Bind(inputs, outputs, scratch);
    y_ = outputs[0];
    sums_ = reinterpret_cast<const float*>(type_ == DataType::kFloat32 ? y_ : scratch + sums_at_);
    bias_ = fixed_.empty() ? reinterpret_cast<const float*>(inputs[bias_input_]) : fixed_.data();
  }
  absl::Status Run() override {
    HALFTONE_RETURN_IF_ERROR(compute_->Run());
    simd::AddBiasToRows(sums_, bias_, rows_, channels_, type_, y_);
    return absl::OkStatus();
  }
  StepFacts facts() const override { return compute_->facts(); }

 private:
  const std::unique_ptr<Step> compute_;
  const std::vector<float> fixed_;
  const int bias_input_;
  const int64_t channels_;
  const DataType type_;
  const size_t sums_at_;
  int64_t rows_ = 1;
  std::byte* y_ = nullptr;
  const float *sums_ = nullptr, *bias_ = nullptr;
};

// With the present layout of the source where the implementation stays the same.
Primitive Choose(const Problem& p, const OperandTypes& types, const Desc& there) {
  const Primitive any = Make(p, types, AnyDesc(p.src, types.src), AnyDesc(p.dst, types.dst));
  if (!any || IsEmpty(there)) return any;
  const Primitive other = Make(p, types, there, AnyDesc(p.dst, types.dst));
  return other && ImplementationName(other) == ImplementationName(any) ? other : any;
}

// Makes the step of one node with the chosen primitive.
class DeconvBuilder {
 public:
  DeconvBuilder(const NodeContext& context, const Problem& problem, const OperandTypes& types,
                const Primitive& primitive)
      : context_(context),
        p_(problem),
        types_(types),
        primitive_(primitive),
        given_(problem.weights, *DnnlType(context.InputType(kWeights)), problem.places),
        weights_(context.Constant(kWeights)),
        bias_after_(types.bias != DataType::kUnknown && IsEmpty(primitive.bias_desc())) {}

  absl::StatusOr<Prepared> Build() {
    Describe();
    if (weights_ == nullptr) HALFTONE_RETURN_IF_ERROR(AddPacking());
    HALFTONE_RETURN_IF_ERROR(AddDeconvolution());
    if (types_.bias == DataType::kUnknown) {
      prepared_.step = std::move(step_);
    } else {
      HALFTONE_RETURN_IF_ERROR(AddBias());
    }
    return std::move(prepared_);
  }

 private:
  void Describe() {
    const std::vector<int> back = ValueOrder(static_cast<int>(p_.src.size()), p_.channels_last);
    prepared_.kernel = ImplementationOf(primitive_);
    prepared_.weights_type = types_.weights;
    prepared_.inputs.push_back({0, PlacementOf(Reordered(primitive_.src_desc(), back), types_.src)});
    const Desc dst = bias_after_ ? OfType(primitive_.dst_desc(), types_.dst) : primitive_.dst_desc();
    prepared_.outputs.push_back(PlacementOf(Reordered(dst, back), types_.dst));
    prepared_.scratch_bytes = primitive_.scratchpad_desc().get_size();
  }

  // Computed weights are packed in each run, before the convolution.
  absl::Status AddPacking() {
    packed_at_ = AlignedBytes(prepared_.scratch_bytes);
    prepared_.scratch_bytes = packed_at_ + primitive_.weights_desc().get_size();
    const dnnl::reorder::primitive_desc reorder(CpuEngine(), given_, CpuEngine(), primitive_.weights_desc(),
                                                UserScratch(), /*allow_empty=*/true);
    if (!reorder || reorder.scratchpad_desc().get_size() > 0)
      return absl::UnimplementedError("oneDNN cannot pack these weights");
    prepared_.inputs.push_back({kWeights, Placement{context_.InputType(kWeights)}});
    HALFTONE_RETURN_IF_ERROR(Guard([&] { step_->AddCall(dnnl::reorder(reorder)); }));
    step_->AddInput(DNNL_ARG_FROM, given_, 1);
    step_->AddScratch(DNNL_ARG_TO, primitive_.weights_desc(), packed_at_);
    return absl::OkStatus();
  }

  absl::Status AddDeconvolution() {
    HALFTONE_RETURN_IF_ERROR(Guard([&] { step_->AddCall(dnnl::deconvolution_forward(primitive_)); }));
    step_->AddInput(DNNL_ARG_SRC, primitive_.src_desc(), 0);
    sums_at_ = AlignedBytes(prepared_.scratch_bytes);
    if (bias_after_ && types_.dst != DataType::kFloat32) {
      step_->AddScratch(DNNL_ARG_DST, primitive_.dst_desc(), sums_at_);
      prepared_.scratch_bytes = sums_at_ + primitive_.dst_desc().get_size();
    } else {
      step_->AddOutput(DNNL_ARG_DST, primitive_.dst_desc());
    }
    step_->AddScratch(DNNL_ARG_SCRATCHPAD, primitive_.scratchpad_desc(), 0);
    if (weights_ == nullptr) {
      step_->AddScratch(DNNL_ARG_WEIGHTS, primitive_.weights_desc(), packed_at_);
    } else {
      HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed, Pack(*weights_, given_, primitive_.weights_desc()));
      step_->AddPrepacked(DNNL_ARG_WEIGHTS, std::move(packed));
    }
    return absl::OkStatus();
  }

  // As an argument of the primitive, or by a loop after it.
  absl::Status AddBias() {
    if (context_.InputDims(kBias) != Dims{p_.dst[1]})
      return absl::InvalidArgumentError("the bias is not one a channel");
    const Tensor* bias = context_.Constant(kBias);
    if (bias == nullptr) prepared_.inputs.push_back({kBias, Placement{types_.bias}});
    const int input = static_cast<int>(prepared_.inputs.size()) - 1;
    if (bias_after_) {
      std::optional<std::vector<float>> numbers = RealNumbers(context_, kBias);
      prepared_.step = std::make_unique<BiasedStep>(std::move(step_), std::move(numbers).value_or(std::vector<float>()),
                                                    input, p_.dst, types_.dst, sums_at_);
      prepared_.kernel.name += " + bias";
      return absl::OkStatus();
    }
    const Desc desc = primitive_.bias_desc();
    if (bias == nullptr) {
      step_->AddInput(DNNL_ARG_BIAS, desc, input);
    } else {
      HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed, Pack(*bias, PlainDesc(desc.get_dims(), bias->type()), desc));
      step_->AddPrepacked(DNNL_ARG_BIAS, std::move(packed));
    }
    prepared_.step = std::move(step_);
    return absl::OkStatus();
  }

  const NodeContext& context_;
  const Problem& p_;
  const OperandTypes& types_;
  const Primitive& primitive_;
  const Desc given_;
  const Tensor* const weights_;  // null: computed
  const bool bias_after_;        // after the primitive, whose results are f32 then
  size_t packed_at_ = 0, sums_at_ = 0;
  Prepared prepared_;
  std::unique_ptr<PrimitiveStep> step_ = std::make_unique<PrimitiveStep>();
};

class DeconvKernel final : public Kernel {
 public:
  bool WritesType(const Graph& graph, NodeId node, DataType operand, DataType result) const override;

  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType src_type = context.InputType(0), weights_type = context.InputType(kWeights),
                   dst_type = context.OutputType();
    if (!IsFloat(src_type) || !IsFloat(weights_type) || !IsFloat(dst_type))
      return absl::UnimplementedError("oneDNN convolves floats only");
    for (const Dims& dims : {context.InputDims(0), context.InputDims(kWeights), context.OutputDims()}) {
      if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return absl::UnimplementedError("nothing to compute");
    }
    HALFTONE_ASSIGN_OR_RETURN(const Problem p, ProblemOf(context));
    const bool has_bias = context.HasInput(kBias);
    const DataType bias_type = !has_bias ? DataType::kUnknown : DataType::kFloat32;
    const Placement there = context.InputPlacement(0);
    const std::vector<int> order = ChannelsFirstOrder(static_cast<int>(p.src.size()), p.channels_last);
    for (const OperandTypes& types : TypesToTry(context, {src_type, weights_type, bias_type, dst_type})) {
      const bool as_it_lies = there.type == types.src;
      const Desc seen = as_it_lies ? Reordered(DescOf(context.InputDims(0), there), order) : Desc();
      const Primitive primitive = Choose(p, types, seen);
      if (!primitive || IsSlowDeconvolution(primitive)) continue;
      if (!has_bias || !AddsBiasSlowly(primitive)) return DeconvBuilder(context, p, types, primitive).Build();
      OperandTypes sums = types;
      sums.bias = DataType::kUnknown;
      sums.dst = DataType::kFloat32;
      const Primitive alone = Choose(p, sums, seen);
      const bool is_fast = alone && !IsSlowDeconvolution(alone) && HasDenseRows(alone.dst_desc());
      return DeconvBuilder(context, p, types, is_fast ? alone : primitive).Build();
    }
    return absl::UnimplementedError("oneDNN has no fast transposed convolution here");
  }
};

// For any shapes.
bool DeconvKernel::WritesType(const Graph&, NodeId, DataType operand, DataType result) const {
  const OperandTypes types{.src = operand, .weights = operand, .dst = result};
  const Problem problem{.src = {1, 16, 8, 8},
                        .dst = {1, 16, 16, 16},
                        .weights = {16, 16, 2, 2},
                        .places = {},
                        .strides = {2, 2},
                        .dilations = {0, 0},
                        .pads_begin = {0, 0},
                        .pads_end = {0, 0}};
  const Primitive primitive = Choose(problem, types, Desc());
  return primitive && !IsSlowDeconvolution(primitive);
}

// Of int8, on images with channels last.
class Int8DeconvKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    Int8Problem int8;
    HALFTONE_ASSIGN_OR_RETURN(const Element given, InputElement(context, 0));
    HALFTONE_ASSIGN_OR_RETURN(int8.dst, OutputElement(context));
    int8.src = ReadAs(given);
    HALFTONE_ASSIGN_OR_RETURN(const Int8Weights weights, WeightsOf(context, kWeights));
    HALFTONE_RETURN_IF_ERROR(CannotSaturate(int8.src, context.node(), weights.tensor));
    HALFTONE_ASSIGN_OR_RETURN(const Problem p, ProblemOf(context));
    const bool first = context.node().attributes.String("weights_layout", "IOHW") == "IOHW";
    const bool grouped = p.weights.size() > p.src.size();
    if (weights.scales.size() > 1 && (grouped || weights.axis != (first ? 1 : weights.tensor.rank() - 2)))
      return absl::UnimplementedError("scales of the weights along another axis than the result's channels");
    if (weights.scales.size() > 1) int8.weights_mask = 1;
    if (int8.dst.type == DataType::kFloat16) int8.dst.type = DataType::kFloat32;
    std::vector<float> bias;
    if (context.HasInput(kBias)) {
      const std::optional<std::vector<float>> numbers = RealNumbers(context, kBias);
      if (!numbers.has_value() || static_cast<int64_t>(numbers->size()) != p.dst[1])
        return absl::UnimplementedError("the bias is no constant vector");
      bias = *numbers;
    }
    const Int8Attributes attributes = AttributesOf(int8);
    const Desc src = ChannelsLastDesc(p.src, int8.src.type), dst = ChannelsLastDesc(p.dst, int8.dst.type);
    const Primitive primitive = MakeInt8(p, attributes, !bias.empty(), src, dst);
    if (!primitive || IsSlowDeconvolution(primitive))
      return absl::UnimplementedError("oneDNN has no fast int8 transposed convolution of these shapes");

    Prepared prepared{.inputs = {{0, ChannelsLast(p.src, given.type, p.channels_last)}},
                      .outputs = {ChannelsLast(p.dst, int8.dst.type, p.channels_last)},
                      .scratch_bytes = primitive.scratchpad_desc().get_size(),
                      .kernel = ImplementationOf(primitive),
                      .weights_type = DataType::kInt8};
    if (context.only_asks()) return prepared;
    auto step = std::make_unique<PrimitiveStep>();
    HALFTONE_RETURN_IF_ERROR(Guard([&] { step->AddCall(dnnl::deconvolution_forward(primitive)); }));
    step->AddInput(DNNL_ARG_SRC, primitive.src_desc(), 0);
    step->AddOutput(DNNL_ARG_DST, primitive.dst_desc());
    step->AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), 0);
    const Desc plain(p.weights, *DnnlType(DataType::kInt8), p.places);
    HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed, Pack(weights.tensor, plain, primitive.weights_desc()));
    step->AddPrepacked(DNNL_ARG_WEIGHTS, std::move(packed));
    if (!bias.empty()) {
      for (float& number : bias) number /= attributes.unit;
      HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory fixed, PrepackedFloats(std::move(bias), primitive.bias_desc()));
      step->AddPrepacked(DNNL_ARG_BIAS, std::move(fixed));
    }
    HALFTONE_RETURN_IF_ERROR(AddScales(int8, attributes, weights.scales, *step));
    prepared.step = std::move(step);
    AddShift(given, p.src, prepared);
    return prepared;
  }

  static Primitive MakeInt8(const Problem& p, const Int8Attributes& attributes, bool bias, const Desc& src,
                            const Desc& dst) {
    constexpr auto kKind = dnnl::prop_kind::forward_inference;
    constexpr auto kAlgorithm = dnnl::algorithm::deconvolution_direct;
    const Desc weights = AnyDesc(p.weights, DataType::kInt8);
    if (!bias) {
      return Primitive(CpuEngine(), kKind, kAlgorithm, src, weights, dst, p.strides, p.dilations, p.pads_begin,
                       p.pads_end, attributes.attributes, /*allow_empty=*/true);
    }
    return Primitive(CpuEngine(), kKind, kAlgorithm, src, weights, PlainDesc(Dims{p.dst[1]}, DataType::kFloat32), dst,
                     p.strides, p.dilations, p.pads_begin, p.pads_end, attributes.attributes, /*allow_empty=*/true);
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeInt8DeconvKernel() { return std::make_unique<Int8DeconvKernel>(); }
std::unique_ptr<Kernel> MakeDeconvKernel() { return std::make_unique<DeconvKernel>(); }

}  // namespace halftone::onednn

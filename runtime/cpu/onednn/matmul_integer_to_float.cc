// SPDX-License-Identifier: Apache-2.0
// matmul_integer_to_float (dynamic quantization) with constant weights: dnnl::matmul of int8. The scale and the zero
// point of a are computed in each run; the weights' scales, the bias and the activation are in the same primitive.
//
// Where int8 cannot be multiplied exactly (no VNNI, and pairs of products may saturate sums of 16 bits:
// ir/pair_sums.h), or the weights have zero points, the same integers are multiplied in f32, which holds them up to
// 2^24: as fast as a matmul of floats.
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/pair_sums.h"
#include "runtime/cpu/onednn/isa.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/matmul_integer_weights.h"
#include "runtime/cpu/onednn/problem.h"
#include "runtime/cpu/onednn/quantized.h"
#include "runtime/cpu/onednn/support.h"
#include "runtime/cpu/simd/parallel.h"

namespace halftone::onednn {
namespace {

using Primitive = dnnl::matmul::primitive_desc;

constexpr int kAScale = 2, kBScale = 3, kAZeroPoint = 4, kBZeroPoint = 5, kBias = 6;
constexpr size_t kLine = 64;  // bytes; what lies in scratch memory begins at multiples of it

size_t Lines(int64_t floats) { return (static_cast<size_t>(floats) * sizeof(float) + kLine - 1) / kLine * kLine; }

// What both ways need to know of the node.
struct Problem {
  int64_t rows = 0;
  DataType a_type = DataType::kUnknown;
  IntegerWeights weights;
  std::vector<float> scales;  // of b: one, or one per column
  Epilogue epilogue;          // its activation
  bool has_zero_point = false, has_bias = false;

  int64_t k() const { return weights.rows(); }
  int64_t n() const { return weights.columns(); }
};

// Places in Prepared::inputs; -1: absent.
struct Needs {
  int scale = -1, zero_point = -1, bias = -1;
};

absl::StatusOr<Problem> ReadProblem(const NodeContext& context) {
  Problem problem;
  HALFTONE_ASSIGN_OR_RETURN(problem.weights, ReadIntegerWeights(context, kBZeroPoint));
  HALFTONE_ASSIGN_OR_RETURN(problem.rows, RowsOfIntegers(context, problem.weights));
  problem.a_type = context.InputType(0);
  if (context.OutputType() != DataType::kFloat32) return absl::UnimplementedError("for results of f32");
  const Tensor* scale = context.Constant(kBScale);
  if (scale == nullptr) return absl::UnimplementedError("a computed scale of b");
  problem.scales = scale->ToFloats();
  const int64_t n = problem.n();
  const auto count = [&context](int input) {
    int64_t product = 1;
    for (const int64_t dim : context.InputDims(input)) product *= dim;
    return product;
  };
  if ((problem.scales.size() != 1 && static_cast<int64_t>(problem.scales.size()) != n) || count(kAScale) != 1) {
    return absl::UnimplementedError("scales that are neither one nor one a column");
  }
  HALFTONE_ASSIGN_OR_RETURN(problem.epilogue, EpilogueOf(context.node().attributes));
  problem.has_zero_point = context.HasInput(kAZeroPoint);
  if (problem.has_zero_point && count(kAZeroPoint) != 1) return absl::UnimplementedError("a zero point a row");
  problem.has_bias = context.HasInput(kBias);
  if (problem.has_bias && count(kBias) != n) return absl::UnimplementedError("a bias that does not fit");
  return problem;
}

// On a CPU without VNNI: whether no pair of products can saturate.
bool MultipliesExactly(const Problem& problem) {
  if (HasNativeInt8()) return true;
  if (problem.a_type != DataType::kUInt8) return false;  // oneDNN halves weights for s8
  WeightChannels channels;
  channels.outputs = problem.n();
  channels.inputs = problem.k();
  channels.output_stride = 1;
  channels.input_stride = problem.n();
  return PairSumsOf(problem.weights.tensor.data<int8_t>(), channels).fit();
}

int32_t ReadInt8(DataType type, const std::byte* from) {
  return type == DataType::kUInt8 ? static_cast<int32_t>(*reinterpret_cast<const uint8_t*>(from))
                                  : static_cast<int32_t>(*reinterpret_cast<const int8_t*>(from));
}

// Converts the zero point to 32 bits, as oneDNN reads it, then runs the primitive.
class Int8MatMulStep final : public Step {
 public:
  Int8MatMulStep(std::unique_ptr<Step> matmul, DataType type, int zero_point)
      : matmul_(std::move(matmul)), type_(type), zero_point_(zero_point) {}

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte* scratch) override {
    from_ = inputs[zero_point_];
    to_ = reinterpret_cast<int32_t*>(scratch);
    matmul_->Bind(inputs, outputs, scratch);
  }
  StepFacts facts() const override { return matmul_->facts(); }
  absl::Status Run() override {
    *to_ = ReadInt8(type_, from_);
    return matmul_->Run();
  }

 private:
  const std::unique_ptr<Step> matmul_;
  const DataType type_;
  const int zero_point_;
  const std::byte* from_ = nullptr;
  int32_t* to_ = nullptr;
};

// Writes a without its zero point and the products of the scales, one per column, before the primitive's scratch
// memory, then runs the primitive of f32.
class F32MatMulStep final : public Step {
 public:
  F32MatMulStep(std::unique_ptr<Step> matmul, const Problem& problem, Needs needs)
      : matmul_(std::move(matmul)),
        type_(problem.a_type),
        count_(problem.rows * problem.k()),
        columns_(problem.n()),
        scales_(problem.scales),
        needs_(needs) {}

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte* scratch) override {
    a_ = inputs[0];
    scale_ = reinterpret_cast<const float*>(inputs[needs_.scale]);
    zero_point_ = needs_.zero_point >= 0 ? inputs[needs_.zero_point] : nullptr;
    numbers_ = reinterpret_cast<float*>(scratch);
    steps_ = reinterpret_cast<float*>(scratch + Lines(count_));
    matmul_->Bind(inputs, outputs, scratch);
  }
  StepFacts facts() const override { return matmul_->facts(); }
  absl::Status Run() override {
    const int32_t zero = zero_point_ == nullptr ? 0 : ReadInt8(type_, zero_point_);
    simd::ParallelFor(count_, 16384, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) numbers_[i] = static_cast<float>(ReadInt8(type_, a_ + i) - zero);
    });
    for (int64_t j = 0; j < columns_; ++j) steps_[j] = *scale_ * scales_[scales_.size() == 1 ? 0 : j];
    return matmul_->Run();
  }

 private:
  const std::unique_ptr<Step> matmul_;
  const DataType type_;
  const int64_t count_, columns_;
  const std::vector<float> scales_;
  const Needs needs_;
  const std::byte* a_ = nullptr;
  const std::byte* zero_point_ = nullptr;
  const float* scale_ = nullptr;
  float* numbers_ = nullptr;
  float* steps_ = nullptr;
};

class MatMulIntegerToFloatKernel final : public Kernel {
 public:
  absl::Status SupportsInputs(const Graph& graph, std::span<const ValueId> inputs) const override {
    if (!IsInt8(graph.type(inputs[0])) || !IsInt8(graph.type(inputs[1])))
      return absl::UnimplementedError("no kernel for other types than int8");
    const Tensor* weights = graph.ConstantTensor(inputs[1]);
    if (weights == nullptr || weights->rank() != 2)
      return absl::UnimplementedError("no kernel for weights that are no constant matrix");
    const bool constant_zeros =
        inputs.size() <= kBZeroPoint || !inputs[kBZeroPoint].valid() || graph.IsConstant(inputs[kBZeroPoint]);
    return constant_zeros ? absl::OkStatus()
                          : absl::UnimplementedError("no kernel with computed zero points of weights");
  }

  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    HALFTONE_ASSIGN_OR_RETURN(const Problem problem, ReadProblem(context));
    const bool bytes = problem.weights.symmetric() && MultipliesExactly(problem);
    Prepared prepared{.inputs = {{0, Placement{problem.a_type}}},
                      .outputs = {Placement{DataType::kFloat32}},
                      .weights_type = bytes ? DataType::kInt8 : DataType::kFloat32};
    const auto need = [&prepared](int index, DataType type) {
      prepared.inputs.push_back({index, Placement{type}});
      return static_cast<int>(prepared.inputs.size()) - 1;
    };
    Needs needs;
    needs.scale = need(kAScale, DataType::kFloat32);
    if (problem.has_zero_point) needs.zero_point = need(kAZeroPoint, problem.a_type);
    if (problem.has_bias) needs.bias = need(kBias, DataType::kFloat32);
    HALFTONE_RETURN_IF_ERROR(bytes ? MakeInt8(problem, needs, context.only_asks(), prepared)
                                   : MakeF32(problem, needs, context.only_asks(), prepared));
    return prepared;
  }

 private:
  static Desc ColumnsDesc(const Problem& problem) { return PlainDesc(Dims{1, problem.n()}, DataType::kFloat32); }

  static absl::StatusOr<Primitive> Choose(const Problem& problem, DataType a, DataType b, bool bias,
                                          const dnnl::primitive_attr& attributes) {
    const Desc src = PlainDesc(Dims{problem.rows, problem.k()}, a);
    const Desc weights = AnyDesc(Dims{problem.k(), problem.n()}, b);
    const Desc dst = PlainDesc(Dims{problem.rows, problem.n()}, DataType::kFloat32);
    const Primitive primitive =
        bias ? Primitive(CpuEngine(), src, weights, ColumnsDesc(problem), dst, attributes, /*allow_empty=*/true)
             : Primitive(CpuEngine(), src, weights, dst, attributes, /*allow_empty=*/true);
    if (!primitive || IsSlow(primitive)) {
      return absl::UnimplementedError("oneDNN has no fast matmul of these integers");
    }
    return primitive;
  }

  // What does not depend on how a is read. The scratchpad begins at `scratch`.
  static absl::StatusOr<std::unique_ptr<PrimitiveStep>> MakeStep(const Primitive& primitive, const Tensor& weights,
                                                                 size_t scratch) {
    auto step = std::make_unique<PrimitiveStep>();
    HALFTONE_RETURN_IF_ERROR(Guard([&] { step->AddCall(dnnl::matmul(primitive)); }));
    step->AddOutput(DNNL_ARG_DST, primitive.dst_desc());
    step->AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), scratch);
    HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed,
                              Pack(weights, PlainDesc(weights.dims(), weights.type()), primitive.weights_desc()));
    step->AddPrepacked(DNNL_ARG_WEIGHTS, std::move(packed));
    return step;
  }

  static absl::Status MakeInt8(const Problem& problem, const Needs& needs, bool only_asks, Prepared& prepared) {
    const bool of_columns = problem.scales.size() > 1;
    dnnl::post_ops post_ops;
    AddActivation(problem.epilogue, post_ops);
    dnnl::primitive_attr attributes = UserScratch();
    attributes.set_post_ops(post_ops);
    attributes.set_scales_mask(DNNL_ARG_SRC, 0);
    attributes.set_scales_mask(DNNL_ARG_WEIGHTS, of_columns ? 1 << 1 : 0);
    if (problem.has_zero_point) attributes.set_zero_points_mask(DNNL_ARG_SRC, 0);
    HALFTONE_ASSIGN_OR_RETURN(const Primitive primitive,
                              Choose(problem, problem.a_type, DataType::kInt8, problem.has_bias, attributes));
    prepared.kernel = ImplementationOf(primitive);
    prepared.scratch_bytes = kLine + primitive.scratchpad_desc().get_size();
    if (only_asks) return absl::OkStatus();
    HALFTONE_ASSIGN_OR_RETURN(std::unique_ptr<PrimitiveStep> step, MakeStep(primitive, problem.weights.tensor, kLine));
    step->AddInput(DNNL_ARG_SRC, primitive.src_desc(), 0);
    step->AddInput(DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, PlainDesc(Dims{1}, DataType::kFloat32), needs.scale);
    if (problem.has_bias) step->AddInput(DNNL_ARG_BIAS, ColumnsDesc(problem), needs.bias);
    const Dims scale_dims = {static_cast<int64_t>(problem.scales.size())};
    HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory scales,
                              PrepackedFloats(problem.scales, PlainDesc(scale_dims, DataType::kFloat32)));
    step->AddPrepacked(DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, std::move(scales));
    if (!problem.has_zero_point) {
      prepared.step = std::move(step);
      return absl::OkStatus();
    }
    step->AddScratch(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, PlainDesc(Dims{1}, DataType::kInt32), 0);
    prepared.step = std::make_unique<Int8MatMulStep>(std::move(step), problem.a_type, needs.zero_point);
    return absl::OkStatus();
  }

  static absl::Status MakeF32(const Problem& problem, const Needs& needs, bool only_asks, Prepared& prepared) {
    dnnl::post_ops post_ops;
    post_ops.append_binary(dnnl::algorithm::binary_mul, ColumnsDesc(problem));
    if (problem.has_bias) post_ops.append_binary(dnnl::algorithm::binary_add, ColumnsDesc(problem));
    AddActivation(problem.epilogue, post_ops);
    dnnl::primitive_attr attributes = UserScratch();
    attributes.set_post_ops(post_ops);
    HALFTONE_ASSIGN_OR_RETURN(const Primitive primitive,
                              Choose(problem, DataType::kFloat32, DataType::kFloat32, /*bias=*/false, attributes));
    const size_t steps = Lines(problem.rows * problem.k()), scratchpad = steps + Lines(problem.n());
    prepared.kernel = ImplementationOf(primitive);
    prepared.scratch_bytes = scratchpad + primitive.scratchpad_desc().get_size();
    if (only_asks) return absl::OkStatus();
    HALFTONE_ASSIGN_OR_RETURN(std::unique_ptr<PrimitiveStep> step,
                              MakeStep(primitive, CenteredWeights(problem), scratchpad));
    step->AddScratch(DNNL_ARG_SRC, primitive.src_desc(), 0);
    step->AddScratch(DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, ColumnsDesc(problem), steps);
    if (problem.has_bias) {
      step->AddInput(DNNL_ARG_ATTR_MULTIPLE_POST_OP(1) | DNNL_ARG_SRC_1, ColumnsDesc(problem), needs.bias);
    }
    prepared.step = std::make_unique<F32MatMulStep>(std::move(step), problem, needs);
    return absl::OkStatus();
  }

  // b without its zero points, as f32.
  static Tensor CenteredWeights(const Problem& problem) {
    const std::span<const int8_t> from = problem.weights.tensor.data<int8_t>();
    Tensor numbers(DataType::kFloat32, problem.weights.tensor.dims());
    const std::span<float> to = numbers.mutable_data<float>();
    const size_t n = static_cast<size_t>(problem.n());
    for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(from[i] - problem.weights.zero_points[i % n]);
    return numbers;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeMatMulIntegerToFloatKernel() { return std::make_unique<MatMulIntegerToFloatKernel>(); }

}  // namespace halftone::onednn

// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/onednn/int8_problem.h"

#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "ir/pair_sums.h"
#include "ir/weight_channels.h"
#include "runtime/cpu/onednn/isa.h"
#include "runtime/cpu/simd/parallel.h"
#include "runtime/plan/memory.h"

namespace halftone::onednn {
namespace {

using dnnl::algorithm;

constexpr int kShift = 128;  // from s8 to u8

// f(c y) = c f(y) for c > 0.
bool IsHomogeneous(Activation activation) {
  return activation == Activation::kNone || activation == Activation::kRelu || activation == Activation::kLeakyRelu;
}

// An activation that the bounds of dst's type are already is none.
Activation NeededActivation(const Int8Problem& problem) {
  const Epilogue& epilogue = problem.epilogue;
  const bool last = !epilogue.activation_first || !problem.residual.has_value();
  if (!problem.dst.quantized || !last) return epilogue.activation;
  const simd::Int8Finish finish = FinishOf(problem.dst, epilogue);
  const simd::Int8Finish bare = FinishOf(problem.dst, Epilogue());
  const std::optional<simd::IntegerBounds> bounds = simd::BoundsOf(finish), whole = simd::BoundsOf(bare);
  const bool same = bounds.has_value() && bounds->low == whole->low && bounds->high == whole->high;
  return same ? Activation::kNone : epilogue.activation;
}

// Brings its first input into scratch memory, with 128 added to each element, and runs the step that reads it there.
class ShiftedStep final : public Step {
 public:
  // The step's own scratch memory begins after these `bytes`.
  ShiftedStep(std::unique_ptr<Step> step, int64_t count, size_t bytes)
      : step_(std::move(step)), count_(count), bytes_(bytes) {}

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte* scratch) override {
    from_ = inputs[0];
    to_ = scratch;
    std::vector<std::byte*> all(inputs.begin(), inputs.end());
    all[0] = scratch;
    step_->Bind(all, outputs, scratch + bytes_);
  }
  StepFacts facts() const override { return step_->facts(); }
  absl::Status Run() override {
    simd::ParallelFor(count_, 1 << 18, [this](int64_t first, int64_t last) {
      simd::ShiftInt8(from_ + first, last - first, to_ + first);
    });
    return step_->Run();
  }

 private:
  const std::unique_ptr<Step> step_;
  const int64_t count_;
  const size_t bytes_;
  const std::byte* from_ = nullptr;
  std::byte* to_ = nullptr;
};

}  // namespace

Int8Attributes AttributesOf(const Int8Problem& problem) {
  Int8Attributes result;
  Epilogue epilogue = problem.epilogue;
  epilogue.activation = NeededActivation(problem);
  const bool homogeneous = IsHomogeneous(epilogue.activation);
  const bool residual = problem.residual.has_value(), binary = epilogue.residual == ResidualMode::kBinary;
  const bool bytes = residual && problem.residual->quantized;
  const bool folds = problem.dst.quantized && homogeneous && (!residual || bytes);
  const float last_unit = folds ? problem.dst.scale : 1.0f;
  result.unit = last_unit;

  dnnl::post_ops post_ops;
  const bool first = residual && epilogue.activation_first;
  if (residual && binary && bytes) {
    // In units of the residual, which is added as it is.
    result.unit = first && !homogeneous ? 1.0f : problem.residual->scale;
    if (first) AddActivation(epilogue, post_ops);
    if (result.unit != problem.residual->scale)
      post_ops.append_eltwise(algorithm::eltwise_linear, 1 / problem.residual->scale, 0);
    result.residual_argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(post_ops.len()) | DNNL_ARG_SRC_1;
    post_ops.append_binary(algorithm::binary_add, epilogue.residual_desc);
    const float factor = problem.residual->scale / last_unit;
    post_ops.append_eltwise(algorithm::eltwise_linear, factor,
                            -factor * static_cast<float>(problem.residual->zero_point));
  } else {
    if (first) AddActivation(epilogue, post_ops);
    if (residual && binary) {
      result.residual_argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(post_ops.len()) | DNNL_ARG_SRC_1;
      post_ops.append_binary(algorithm::binary_add, epilogue.residual_desc);
    } else if (residual) {
      post_ops.append_sum(problem.residual->scale / last_unit, problem.residual->zero_point,
                          *DnnlType(problem.residual->type));
    }
  }
  if (!first) AddActivation(epilogue, post_ops);

  result.attributes = UserScratch();
  result.attributes.set_post_ops(post_ops);
  result.attributes.set_scales_mask(DNNL_ARG_WEIGHTS, problem.weights_mask);
  result.dst_scale = problem.dst.quantized && !folds;
  if (result.dst_scale) result.attributes.set_scales_mask(DNNL_ARG_DST, 0);
  if (problem.src.zero_point != 0) result.attributes.set_zero_points_mask(DNNL_ARG_SRC, 0);
  if (problem.weights_zero_point != 0) result.attributes.set_zero_points_mask(DNNL_ARG_WEIGHTS, 0);
  if (problem.dst.zero_point != 0) result.attributes.set_zero_points_mask(DNNL_ARG_DST, 0);
  return result;
}

absl::Status AddScales(const Int8Problem& problem, const Int8Attributes& attributes, const std::vector<float>& scales,
                       PrimitiveStep& step) {
  std::vector<float> factors = scales;
  for (float& factor : factors) {
    factor *= problem.src.scale / attributes.unit;
    if (!std::isfinite(factor)) return absl::UnimplementedError("factors beyond f32");
  }
  const auto count = static_cast<int64_t>(factors.size());
  HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory fixed,
                            PrepackedFloats(std::move(factors), PlainDesc(Dims{count}, DataType::kFloat32)));
  step.AddPrepacked(DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, std::move(fixed));
  if (attributes.dst_scale) {
    HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory scale,
                              PrepackedFloats({problem.dst.scale}, PlainDesc(Dims{1}, DataType::kFloat32)));
    step.AddPrepacked(DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, std::move(scale));
  }
  HALFTONE_RETURN_IF_ERROR(AddZeroPoint(DNNL_ARG_SRC, problem.src.zero_point, step));
  HALFTONE_RETURN_IF_ERROR(AddZeroPoint(DNNL_ARG_WEIGHTS, problem.weights_zero_point, step));
  return AddZeroPoint(DNNL_ARG_DST, problem.dst.zero_point, step);
}

Element ReadAs(const Element& src) {
  if (HasNativeInt8() || src.type != DataType::kInt8) return src;
  return {DataType::kUInt8, src.quantized, src.scale, src.zero_point + kShift};
}

void AddShift(const Element& src, std::span<const int64_t> dims, Prepared& prepared) {
  if (ReadAs(src).type == src.type) return;
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  const size_t bytes = (static_cast<size_t>(count) + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
  prepared.scratch_bytes += bytes;
  prepared.step = std::make_unique<ShiftedStep>(std::move(prepared.step), count, bytes);
}

absl::Status CheckScalesOfColumns(const NodeContext& context, const Int8Weights& weights) {
  if (weights.scales.size() == 1) return absl::OkStatus();
  const bool transposed = context.node().attributes.Bool("transpose_b", false);
  const int rank = weights.tensor.rank();
  if (rank >= 2 && weights.axis == rank - (transposed ? 2 : 1)) return absl::OkStatus();
  return absl::UnimplementedError("scales of the weights along another axis than the result's columns");
}

absl::StatusOr<ColumnNumbers> ColumnNumbersOf(const NodeContext& context, float scale, const std::vector<float>& scales,
                                              const MatMulOperands& operands) {
  constexpr int kBias = 2;
  if (operands.has_addend) return absl::UnimplementedError("gemm with a matrix to add");
  if (operands.has_bias && !std::isfinite(operands.bias_factor)) return absl::UnimplementedError("alpha is 0");
  const auto columns = static_cast<size_t>(operands.problem.dst.back());
  ColumnNumbers numbers{.factors = {}, .offsets = std::vector<float>(columns)};
  for (size_t j = 0; j < columns; ++j)
    numbers.factors.push_back(scale * scales[scales.size() == 1 ? 0 : j] * operands.scale);
  if (!operands.has_bias) return numbers;
  const std::optional<std::vector<float>> bias = RealNumbers(context, kBias);
  if (!bias.has_value() || bias->size() != columns) return absl::UnimplementedError("the bias is no constant vector");
  for (size_t j = 0; j < columns; ++j) numbers.offsets[j] = (*bias)[j] * operands.scale * operands.bias_factor;
  return numbers;
}

absl::Status CannotSaturate(const Element& src, const Node& node, const Tensor& weights) {
  if (HasNativeInt8()) return absl::OkStatus();
  if (src.type == DataType::kInt8) return absl::UnimplementedError("s8 halves the weights where there is no VNNI");
  const std::span<const int8_t> numbers = weights.data<int8_t>();
  const std::optional<WeightChannels> channels = WeightChannelsOf(node, weights.dims());
  const PairSums sums = channels.has_value() ? PairSumsOf(numbers, *channels) : PairSumsOfAny(numbers);
  if (sums.fit()) return absl::OkStatus();
  return absl::UnimplementedError("pairs of products may saturate sums of 16 bits where there is no VNNI");
}

}  // namespace halftone::onednn

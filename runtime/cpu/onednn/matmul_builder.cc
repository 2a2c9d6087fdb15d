// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/onednn/matmul_builder.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "base/status.h"

namespace halftone::onednn {
namespace {

using Primitive = dnnl::matmul::primitive_desc;

constexpr int kWeights = 1, kBias = 2, kResidual = 3;

absl::StatusOr<Tensor> Scaled(const Tensor& tensor, float factor) {
  if (factor == 1) return tensor;
  std::vector<float> numbers = tensor.ToFloats();
  for (float& number : numbers) number *= factor;
  return Tensor::Of<float>(tensor.dims(), numbers);
}

// [M, 1] => [M, N]
absl::StatusOr<Tensor> SpreadColumn(const Tensor& column, const Dims& dims) {
  const std::vector<float> numbers = column.ToFloats();
  Tensor whole(DataType::kFloat32, dims);
  float* to = whole.mutable_data<float>().data();
  for (const float number : numbers) to = std::fill_n(to, dims[1], number);
  return whole;
}

// Plans what is fused, chooses the primitive, then attaches memory to the step.
class MatMulBuilder {
 public:
  MatMulBuilder(const NodeContext& context, const MatMulOperands& operands, Epilogue epilogue, OperandTypes types,
                const MatMulPlacements& placements)
      : context_(context),
        o_(operands),
        placements_(placements),
        weights_(context.Constant(kWeights)),
        bias_(operands.has_bias ? context.Constant(kBias) : nullptr),
        has_residual_(!operands.residual_dims.empty()),
        epilogue_(std::move(epilogue)),
        types_(types) {}

  absl::StatusOr<Prepared> Build() {
    PlanResidual(has_residual_ ? context_.InputType(kResidual) : types_.dst);
    PlanBias();
    PlanAddend();
    HALFTONE_RETURN_IF_ERROR(Choose());
    HALFTONE_RETURN_IF_ERROR(AttachOperands());
    HALFTONE_RETURN_IF_ERROR(AttachBias());
    HALFTONE_RETURN_IF_ERROR(AttachAddend());
    AttachResidual();
    step_->AddOutput(DNNL_ARG_DST, primitive_.dst_desc());
    prepared_.step = std::move(step_);
    return std::move(prepared_);
  }

 private:
  // One of another type is read as it is where that is as fast: f32 onto a result of bf16, and the other way round.
  void PlanResidual(DataType type) {
    if (!has_residual_) return;
    residual_type_ = type;
    const bool ours = context_.DiesHere(kResidual) || context_.InputType(kResidual) != types_.dst;
    epilogue_.residual = ours ? ResidualMode::kSum : ResidualMode::kBinary;
    epilogue_.residual_desc = Desc();
    if (o_.residual_dims != o_.problem.dst || type != types_.dst) {
      epilogue_.residual = ResidualMode::kBinary;
      epilogue_.residual_desc = PlainDesc(o_.residual_dims, type);
    }
  }

  void PlanBias() {
    bias_dims_ = Dims(o_.problem.dst.size(), 1);
    bias_dims_.back() = o_.problem.dst.back();
    bias_type_ = !o_.has_bias                                           ? DataType::kUnknown
                 : bias_ != nullptr || types_.src == DataType::kFloat32 ? DataType::kFloat32
                                                                        : context_.InputType(kBias);
    // A bias that cannot be divided by the factor is added after it.
    bias_after_ = o_.has_bias && o_.bias_factor != 1 && (bias_ == nullptr || !std::isfinite(o_.bias_factor));
    if (bias_after_) {
      epilogue_.bias = PlainDesc(bias_dims_, bias_type_);
      bias_ = nullptr;
    } else {
      types_.bias = bias_type_;
    }
    epilogue_.scale = o_.scale;
  }

  // A constant column is written out: oneDNN adds a matrix fast.
  void PlanAddend() {
    addend_ = o_.has_addend ? context_.Constant(kBias) : nullptr;
    spread_ = addend_ != nullptr && o_.addend_dims[1] == 1 && o_.addend_dims[0] > 1;
    addend_dims_ = spread_ ? o_.problem.dst : o_.addend_dims;
  }

  // alpha a b + beta c = beta (alpha / beta a b + c)
  Primitive WithAddend(const MatMulLayouts& layouts) const {
    dnnl::primitive_attr attributes = UserScratch();
    if (types_.bf16_math) attributes.set_fpmath_mode(dnnl::fpmath_mode::bf16);
    dnnl::post_ops post_ops;
    const auto scale_by = [&post_ops](float factor) {
      if (factor != 1) post_ops.append_eltwise(dnnl::algorithm::eltwise_linear, factor, 0);
    };
    scale_by(o_.scale / o_.addend_scale);
    post_ops.append_binary(dnnl::algorithm::binary_add, PlainDesc(addend_dims_, types_.dst));
    scale_by(o_.addend_scale);
    attributes.set_post_ops(post_ops);
    return Primitive(CpuEngine(), layouts.src, layouts.weights, layouts.dst, attributes, /*allow_empty=*/true);
  }

  absl::Status Choose() {
    const MatMulProblem& problem = o_.problem;
    MatMulLayouts layouts{.src = o_.src.desc(types_.src),
                          .weights = o_.weights.desc(types_.weights),
                          .dst = PlainDesc(problem.dst, types_.dst)};
    if (placements_.dst_strides.has_value())
      layouts.dst = OperandView{problem.dst, *placements_.dst_strides}.desc(types_.dst);
    if (weights_ != nullptr) layouts.weights = AnyDesc(problem.weights, types_.weights);
    primitive_ = o_.has_addend ? WithAddend(layouts) : MakeMatMul(problem, types_, epilogue_, layouts);
    if (!o_.has_addend && has_residual_ && residual_type_ != types_.dst && (!primitive_ || IsSlow(primitive_))) {
      PlanResidual(types_.dst);
      primitive_ = MakeMatMul(problem, types_, epilogue_, layouts);
    }
    if (!primitive_) return absl::UnimplementedError("oneDNN has no such matmul");
    if (weights_ == nullptr) return absl::OkStatus();
    return Guard([&] { primitive_ = WithPackedWeights(std::move(primitive_)); });
  }

  int Need(int index, DataType type, Placement placement = {}) {
    placement.type = type;
    prepared_.inputs.push_back(InputNeed{index, std::move(placement)});
    return static_cast<int>(prepared_.inputs.size()) - 1;
  }

  absl::Status AttachOperands() {
    prepared_.kernel = ImplementationOf(primitive_);
    prepared_.weights_type = types_.weights;
    prepared_.scratch_bytes = primitive_.scratchpad_desc().get_size();
    prepared_.outputs.push_back(placements_.dst);
    prepared_.outputs[0].type = types_.dst;
    HALFTONE_RETURN_IF_ERROR(Guard([&] { step_->AddCall(dnnl::matmul(primitive_)); }));
    step_->AddInput(DNNL_ARG_SRC, primitive_.src_desc(), Need(0, types_.src, placements_.src));
    step_->AddScratch(DNNL_ARG_SCRATCHPAD, primitive_.scratchpad_desc(), 0);
    if (weights_ == nullptr) {
      step_->AddInput(DNNL_ARG_WEIGHTS, primitive_.weights_desc(), Need(kWeights, types_.weights, placements_.weights));
      return absl::OkStatus();
    }
    HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed,
                              Pack(*weights_, o_.weights.desc(weights_->type()), primitive_.weights_desc()));
    step_->AddPrepacked(DNNL_ARG_WEIGHTS, std::move(packed));
    return absl::OkStatus();
  }

  absl::Status AttachBias() {
    if (bias_ != nullptr) {
      HALFTONE_ASSIGN_OR_RETURN(const Tensor scaled, Scaled(*bias_, o_.bias_factor));
      HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed,
                                Pack(scaled, PlainDesc(bias_dims_, scaled.type()), PlainDesc(bias_dims_, types_.bias)));
      step_->AddPrepacked(DNNL_ARG_BIAS, std::move(packed));
    } else if (o_.has_bias) {
      step_->AddInput(bias_after_ ? BiasArgument(epilogue_) : DNNL_ARG_BIAS, PlainDesc(bias_dims_, bias_type_),
                      Need(kBias, bias_type_));
    }
    return absl::OkStatus();
  }

  absl::Status AttachAddend() {
    if (!o_.has_addend) return absl::OkStatus();
    const int argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(o_.scale / o_.addend_scale != 1 ? 1 : 0) | DNNL_ARG_SRC_1;
    const Desc desc = PlainDesc(addend_dims_, types_.dst);
    if (!spread_) {
      step_->AddInput(argument, desc, Need(kBias, types_.dst));
      return absl::OkStatus();
    }
    HALFTONE_ASSIGN_OR_RETURN(const Tensor whole, SpreadColumn(*addend_, o_.problem.dst));
    HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed, Pack(whole, PlainDesc(addend_dims_, whole.type()), desc));
    step_->AddPrepacked(argument, std::move(packed));
    return absl::OkStatus();
  }

  void AttachResidual() {
    if (!has_residual_) return;
    const int index = Need(kResidual, residual_type_);
    if (epilogue_.residual == ResidualMode::kSum) {
      prepared_.overwrites = index;
    } else {
      step_->AddInput(ResidualArgument(epilogue_), PlainDesc(o_.residual_dims, residual_type_), index);
    }
  }

  const NodeContext& context_;
  const MatMulOperands& o_;
  const MatMulPlacements& placements_;
  const Tensor* const weights_;  // null: computed
  const Tensor* bias_;           // the constant that is packed; null: absent, computed, or added after the factor
  const bool has_residual_;
  Epilogue epilogue_;
  OperandTypes types_;
  DataType residual_type_ = DataType::kUnknown, bias_type_ = DataType::kUnknown;
  Dims bias_dims_, addend_dims_;
  bool bias_after_ = false;
  const Tensor* addend_ = nullptr;
  bool spread_ = false;
  Primitive primitive_;
  Prepared prepared_;
  std::unique_ptr<PrimitiveStep> step_ = std::make_unique<PrimitiveStep>();
};

}  // namespace

absl::StatusOr<Prepared> BuildMatMul(const NodeContext& context, const MatMulOperands& operands,
                                     const Epilogue& epilogue, const OperandTypes& types,
                                     const MatMulPlacements& placements) {
  return MatMulBuilder(context, operands, epilogue, types, placements).Build();
}

}  // namespace halftone::onednn

// SPDX-License-Identifier: Apache-2.0
// matmul and gemm of int8 by dnnl::matmul, with bias, residual and activation in the same primitive. Weights are
// constants of s8 with one scale or one per column, or a computed int8 value with one scale. Which kernel serves which
// case: runtime/cpu/matmul.md.
#include <cmath>

#include "base/status.h"
#include "runtime/cpu/onednn/int8_problem.h"
#include "runtime/cpu/onednn/isa.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/matmul_operands.h"

namespace halftone::onednn {
namespace {

using Primitive = dnnl::matmul::primitive_desc;

constexpr int kWeights = 1, kBias = 2, kResidual = 3;

// One node: operands and what is fused (Describe...), the primitive (Choose), then the step with packed weights (Attach).
class Int8MatMulBuilder {
 public:
  explicit Int8MatMulBuilder(const NodeContext& context) : context_(context) {}

  absl::StatusOr<Prepared> Build() {
    HALFTONE_RETURN_IF_ERROR(DescribeTypes());
    HALFTONE_RETURN_IF_ERROR(DescribeWeights());
    HALFTONE_RETURN_IF_ERROR(DescribeShapes());
    HALFTONE_RETURN_IF_ERROR(DescribeBias());
    HALFTONE_RETURN_IF_ERROR(DescribeResidual());
    HALFTONE_RETURN_IF_ERROR(Choose());
    if (!context_.only_asks()) HALFTONE_RETURN_IF_ERROR(Attach());
    return std::move(prepared_);
  }

 private:
  absl::Status DescribeTypes() {
    HALFTONE_ASSIGN_OR_RETURN(given_, InputElement(context_, 0));
    int8_.src = ReadAs(given_);
    HALFTONE_ASSIGN_OR_RETURN(int8_.dst, OutputElement(context_));
    if (int8_.dst.type == DataType::kFloat16) int8_.dst.type = DataType::kFloat32;
    HALFTONE_ASSIGN_OR_RETURN(int8_.epilogue, EpilogueOf(context_.node().attributes));
    return absl::OkStatus();
  }

  absl::Status DescribeWeights() {
    constant_ = context_.Constant(kWeights) != nullptr;
    if (constant_) {
      HALFTONE_ASSIGN_OR_RETURN(weights_, WeightsOf(context_, kWeights));
      HALFTONE_RETURN_IF_ERROR(CheckScalesOfColumns(context_, weights_));
      return CannotSaturate(int8_.src, context_.node(), weights_.tensor);
    }
    HALFTONE_ASSIGN_OR_RETURN(const Element right, InputElement(context_, kWeights));
    if (!right.quantized) return absl::UnimplementedError("the right operand is not int8");
    // int8_matmul_avx2.cc multiplies them.
    if (!HasNativeInt8()) return absl::UnimplementedError("sums of 16 bits may saturate where there is no VNNI");
    weights_.scales = {right.scale};
    weights_type_ = right.type;
    int8_.weights_zero_point = right.zero_point;
    return absl::OkStatus();
  }

  absl::Status DescribeShapes() {
    const OperandStrides plain = {PlainStrides(context_.InputDims(0)), PlainStrides(context_.InputDims(kWeights))};
    HALFTONE_ASSIGN_OR_RETURN(o_, DescribeMatMul(context_, plain, HasResidual(context_)));
    if (o_.has_bias && !std::isfinite(o_.bias_factor)) return absl::UnimplementedError("alpha is 0");
    if (o_.has_addend) return absl::UnimplementedError("gemm with a matrix to add");
    if (weights_.scales.size() > 1) int8_.weights_mask = 1 << (o_.problem.dst.size() - 1);
    return absl::OkStatus();
  }

  absl::Status DescribeBias() {
    Dims dims(o_.problem.dst.size(), 1);
    dims.back() = o_.problem.dst.back();
    bias_desc_ = PlainDesc(dims, DataType::kFloat32);
    if (!o_.has_bias) return absl::OkStatus();
    const std::optional<std::vector<float>> numbers = RealNumbers(context_, kBias);
    if (!numbers.has_value() || static_cast<int64_t>(numbers->size()) != dims.back())
      return absl::UnimplementedError("the bias is no constant vector");
    bias_ = *numbers;
    for (float& number : bias_) number *= o_.scale * o_.bias_factor;
    return absl::OkStatus();
  }

  absl::Status DescribeResidual() {
    if (!HasResidual(context_)) return absl::OkStatus();
    HALFTONE_ASSIGN_OR_RETURN(int8_.residual, InputElement(context_, kResidual));
    if (int8_.residual->type == DataType::kFloat16) int8_.residual->type = DataType::kFloat32;
    int8_.epilogue.residual = ResidualMode::kBinary;
    int8_.epilogue.residual_desc = PlainDesc(o_.residual_dims, int8_.residual->type);
    return absl::OkStatus();
  }

  absl::Status Choose() {
    attributes_ = AttributesOf(int8_);
    const Desc src = o_.src.desc(int8_.src.type), dst = PlainDesc(o_.problem.dst, int8_.dst.type);
    const Desc right = constant_ ? AnyDesc(o_.problem.weights, weights_type_) : o_.weights.desc(weights_type_);
    const dnnl::primitive_attr& attributes = attributes_.attributes;
    primitive_ = bias_.empty() ? Primitive(CpuEngine(), src, right, dst, attributes, /*allow_empty=*/true)
                               : Primitive(CpuEngine(), src, right, bias_desc_, dst, attributes, /*allow_empty=*/true);
    if (!primitive_ || IsSlow(primitive_))
      return absl::UnimplementedError("oneDNN has no fast int8 matmul of these shapes");
    prepared_ = Prepared{.inputs = {{0, Placement{given_.type}}},
                         .outputs = {Placement{int8_.dst.type}},
                         .scratch_bytes = primitive_.scratchpad_desc().get_size(),
                         .kernel = ImplementationOf(primitive_),
                         .weights_type = weights_type_};
    return absl::OkStatus();
  }

  int Need(int index, DataType type) {
    prepared_.inputs.push_back({index, Placement{type}});
    return static_cast<int>(prepared_.inputs.size()) - 1;
  }

  absl::Status Attach() {
    auto step = std::make_unique<PrimitiveStep>();
    HALFTONE_RETURN_IF_ERROR(Guard([&] { step->AddCall(dnnl::matmul(primitive_)); }));
    step->AddInput(DNNL_ARG_SRC, primitive_.src_desc(), 0);
    step->AddOutput(DNNL_ARG_DST, primitive_.dst_desc());
    step->AddScratch(DNNL_ARG_SCRATCHPAD, primitive_.scratchpad_desc(), 0);
    if (constant_) {
      HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed,
                                Pack(weights_.tensor, o_.weights.desc(DataType::kInt8), primitive_.weights_desc()));
      step->AddPrepacked(DNNL_ARG_WEIGHTS, std::move(packed));
    } else {
      step->AddInput(DNNL_ARG_WEIGHTS, primitive_.weights_desc(), Need(kWeights, weights_type_));
    }
    if (!bias_.empty()) {
      for (float& number : bias_) number /= attributes_.unit;
      HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed, PrepackedFloats(std::move(bias_), bias_desc_));
      step->AddPrepacked(DNNL_ARG_BIAS, std::move(packed));
    }
    for (float& scale : weights_.scales) scale *= o_.scale;
    HALFTONE_RETURN_IF_ERROR(AddScales(int8_, attributes_, weights_.scales, *step));
    if (int8_.residual.has_value()) {
      step->AddInput(attributes_.residual_argument, int8_.epilogue.residual_desc,
                     Need(kResidual, int8_.residual->type));
    }
    prepared_.step = std::move(step);
    AddShift(given_, context_.InputDims(0), prepared_);
    return absl::OkStatus();
  }

  const NodeContext& context_;
  Element given_;  // src, before ReadAs
  Int8Problem int8_;
  bool constant_ = false;  // the weights
  Int8Weights weights_;
  DataType weights_type_ = DataType::kInt8;
  MatMulOperands o_;
  std::vector<float> bias_;  // empty: none
  Desc bias_desc_;
  Int8Attributes attributes_;
  Primitive primitive_;
  Prepared prepared_;
};

class Int8MatMulKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    return Int8MatMulBuilder(context).Build();
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeInt8MatMulKernel() { return std::make_unique<Int8MatMulKernel>(); }

}  // namespace halftone::onednn

// matmul and gemm of bytes: dnnl::matmul with bias, residual and activation in the same primitive. Weights are
// constants of s8, with one scale or one for each column, or another image of bytes with one scale.
#include <cmath>

#include "base/status.h"
#include "runtime/cpu/onednn/int8_product.h"
#include "runtime/cpu/onednn/isa.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/matrix_product.h"

namespace halftone::onednn {
namespace {

using Primitive = dnnl::matmul::primitive_desc;

constexpr int kWeights = 1, kBias = 2, kResidual = 3;

class Int8MatMulKernel final : public QuantizedKernel {
 private:
  absl::StatusOr<Prepared> PrepareQuantized(const NodeContext& context) const override;
};

absl::StatusOr<Prepared> Int8MatMulKernel::PrepareQuantized(const NodeContext& context) const {
  Int8Product product;
  HALFTONE_ASSIGN_OR_RETURN(const Element given, InputElement(context, 0));
  if (!given.bytes) return absl::UnimplementedError("the left operand has no bytes");
  product.src = ReadAs(given);
  HALFTONE_ASSIGN_OR_RETURN(product.dst, OutputElement(context));
  HALFTONE_ASSIGN_OR_RETURN(product.epilogue, EpilogueOf(context.node().attributes));
  const bool constant = context.Constant(kWeights) != nullptr;
  Int8Weights weights;
  DataType weights_type = DataType::kInt8;
  if (constant) {
    HALFTONE_ASSIGN_OR_RETURN(weights, WeightsOf(context, kWeights));
    HALFTONE_RETURN_IF_ERROR(CheckScalesOfColumns(context, weights));
    HALFTONE_RETURN_IF_ERROR(CannotSaturate(product.src, context.node(), weights.tensor));
  } else {
    HALFTONE_ASSIGN_OR_RETURN(const Element right, InputElement(context, kWeights));
    if (!right.bytes) return absl::UnimplementedError("the right operand has no bytes");
    // There byte_product.cc multiplies them.
    if (!HasNativeInt8()) return absl::UnimplementedError("sums of 16 bits may saturate where there is no VNNI");
    weights.scales = {right.scale};
    weights_type = right.type;
    product.weights_zero_point = right.zero_point;
  }
  const bool residual = HasResidual(context);
  const OperandStrides plain = {PlainStrides(context.InputDims(0)), PlainStrides(context.InputDims(kWeights))};
  HALFTONE_ASSIGN_OR_RETURN(const MatrixProduct matrix, DescribeProduct(context, plain, residual));
  const MatMulProblem& problem = matrix.problem;
  const size_t rank = problem.dst.size();
  if (matrix.has_bias && !std::isfinite(matrix.bias_factor)) return absl::UnimplementedError("a product times 0");
  if (matrix.has_addend) return absl::UnimplementedError("gemm with a matrix to add");
  if (weights.scales.size() > 1) product.weights_mask = 1 << (rank - 1);
  if (product.dst.type == DataType::kFloat16) product.dst.type = DataType::kFloat32;

  std::vector<float> bias;
  if (matrix.has_bias) {
    const std::optional<std::vector<float>> numbers = RealNumbers(context, kBias);
    if (!numbers.has_value() || static_cast<int64_t>(numbers->size()) != problem.dst.back())
      return absl::UnimplementedError("the bias is no constant vector");
    bias = *numbers;
    for (float& number : bias) number *= matrix.scale * matrix.bias_factor;
  }
  if (residual) {
    HALFTONE_ASSIGN_OR_RETURN(product.residual, InputElement(context, kResidual));
    if (product.residual->type == DataType::kFloat16) product.residual->type = DataType::kFloat32;
    product.epilogue.residual = ResidualMode::kBinary;
    product.epilogue.residual_desc = PlainDesc(matrix.residual_dims, product.residual->type);
  }
  const Int8Attributes attributes = AttributesOf(product);
  const Desc src = matrix.src.desc(product.src.type), dst = PlainDesc(problem.dst, product.dst.type);
  const Desc right = constant ? AnyDesc(problem.weights, weights_type) : matrix.weights.desc(weights_type);
  Dims bias_dims(rank, 1);
  bias_dims.back() = problem.dst.back();
  const Desc bias_desc = PlainDesc(bias_dims, DataType::kFloat32);
  const Primitive primitive =
      bias.empty() ? Primitive(CpuEngine(), src, right, dst, attributes.attributes, /*allow_empty=*/true)
                   : Primitive(CpuEngine(), src, right, bias_desc, dst, attributes.attributes, /*allow_empty=*/true);
  if (!primitive || IsSlow(ImplementationName(primitive)))
    return absl::UnimplementedError("oneDNN has no fast matrix product of these bytes");

  Prepared prepared{.inputs = {{0, Placement{given.type}}},
                    .outputs = {Placement{product.dst.type}},
                    .scratch_bytes = primitive.scratchpad_desc().get_size(),
                    .kernel = ImplementationName(primitive),
                    .weights_type = weights_type};
  if (context.only_asks()) return prepared;
  auto step = std::make_unique<PrimitiveStep>();
  HALFTONE_RETURN_IF_ERROR(Guard([&] { step->AddCall(dnnl::matmul(primitive)); }));
  step->AddInput(DNNL_ARG_SRC, primitive.src_desc(), 0);
  step->AddOutput(DNNL_ARG_DST, primitive.dst_desc());
  step->AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), 0);
  const auto need = [&](int index, DataType type) {
    prepared.inputs.push_back({index, Placement{type}});
    return static_cast<int>(prepared.inputs.size()) - 1;
  };
  if (constant) {
    HALFTONE_ASSIGN_OR_RETURN(FixedMemory packed,
                              Pack(weights.tensor, matrix.weights.desc(DataType::kInt8), primitive.weights_desc()));
    step->AddFixed(DNNL_ARG_WEIGHTS, std::move(packed));
  } else {
    step->AddInput(DNNL_ARG_WEIGHTS, primitive.weights_desc(), need(kWeights, weights_type));
  }
  if (!bias.empty()) {
    for (float& number : bias) number /= attributes.unit;
    HALFTONE_ASSIGN_OR_RETURN(FixedMemory fixed, FixedNumbers(std::move(bias), bias_desc));
    step->AddFixed(DNNL_ARG_BIAS, std::move(fixed));
  }
  for (float& scale : weights.scales) scale *= matrix.scale;
  HALFTONE_RETURN_IF_ERROR(AddScales(product, attributes, weights.scales, *step));
  if (residual)
    step->AddInput(attributes.residual_argument, product.epilogue.residual_desc,
                   need(kResidual, product.residual->type));
  prepared.step = std::move(step);
  AddShift(given, context.InputDims(0), prepared);
  return prepared;
}

}  // namespace

std::unique_ptr<Kernel> MakeInt8MatMulKernel() { return std::make_unique<Int8MatMulKernel>(); }

}  // namespace halftone::onednn

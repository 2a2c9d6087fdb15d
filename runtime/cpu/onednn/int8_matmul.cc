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

class Int8MatMulKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override;
};

absl::StatusOr<Prepared> Int8MatMulKernel::Prepare(const NodeContext& context) const {
  Int8Problem int8;
  HALFTONE_ASSIGN_OR_RETURN(const Element given, InputElement(context, 0));
  int8.src = ReadAs(given);
  HALFTONE_ASSIGN_OR_RETURN(int8.dst, OutputElement(context));
  HALFTONE_ASSIGN_OR_RETURN(int8.epilogue, EpilogueOf(context.node().attributes));
  const bool constant = context.Constant(kWeights) != nullptr;
  Int8Weights weights;
  DataType weights_type = DataType::kInt8;
  if (constant) {
    HALFTONE_ASSIGN_OR_RETURN(weights, WeightsOf(context, kWeights));
    HALFTONE_RETURN_IF_ERROR(CheckScalesOfColumns(context, weights));
    HALFTONE_RETURN_IF_ERROR(CannotSaturate(int8.src, context.node(), weights.tensor));
  } else {
    HALFTONE_ASSIGN_OR_RETURN(const Element right, InputElement(context, kWeights));
    if (!right.quantized) return absl::UnimplementedError("the right operand is not int8");
    // There int8_matmul_avx2.cc multiplies them.
    if (!HasNativeInt8()) return absl::UnimplementedError("sums of 16 bits may saturate where there is no VNNI");
    weights.scales = {right.scale};
    weights_type = right.type;
    int8.weights_zero_point = right.zero_point;
  }
  const bool residual = HasResidual(context);
  const OperandStrides plain = {PlainStrides(context.InputDims(0)), PlainStrides(context.InputDims(kWeights))};
  HALFTONE_ASSIGN_OR_RETURN(const MatMulOperands operands, DescribeMatMul(context, plain, residual));
  const MatMulProblem& problem = operands.problem;
  const size_t rank = problem.dst.size();
  if (operands.has_bias && !std::isfinite(operands.bias_factor)) return absl::UnimplementedError("alpha is 0");
  if (operands.has_addend) return absl::UnimplementedError("gemm with a matrix to add");
  if (weights.scales.size() > 1) int8.weights_mask = 1 << (rank - 1);
  if (int8.dst.type == DataType::kFloat16) int8.dst.type = DataType::kFloat32;

  std::vector<float> bias;
  if (operands.has_bias) {
    const std::optional<std::vector<float>> numbers = RealNumbers(context, kBias);
    if (!numbers.has_value() || static_cast<int64_t>(numbers->size()) != problem.dst.back())
      return absl::UnimplementedError("the bias is no constant vector");
    bias = *numbers;
    for (float& number : bias) number *= operands.scale * operands.bias_factor;
  }
  if (residual) {
    HALFTONE_ASSIGN_OR_RETURN(int8.residual, InputElement(context, kResidual));
    if (int8.residual->type == DataType::kFloat16) int8.residual->type = DataType::kFloat32;
    int8.epilogue.residual = ResidualMode::kBinary;
    int8.epilogue.residual_desc = PlainDesc(operands.residual_dims, int8.residual->type);
  }
  const Int8Attributes attributes = AttributesOf(int8);
  const Desc src = operands.src.desc(int8.src.type), dst = PlainDesc(problem.dst, int8.dst.type);
  const Desc right = constant ? AnyDesc(problem.weights, weights_type) : operands.weights.desc(weights_type);
  Dims bias_dims(rank, 1);
  bias_dims.back() = problem.dst.back();
  const Desc bias_desc = PlainDesc(bias_dims, DataType::kFloat32);
  const Primitive primitive =
      bias.empty() ? Primitive(CpuEngine(), src, right, dst, attributes.attributes, /*allow_empty=*/true)
                   : Primitive(CpuEngine(), src, right, bias_desc, dst, attributes.attributes, /*allow_empty=*/true);
  if (!primitive || IsSlow(primitive))
    return absl::UnimplementedError("oneDNN has no fast int8 matmul of these shapes");

  Prepared prepared{.inputs = {{0, Placement{given.type}}},
                    .outputs = {Placement{int8.dst.type}},
                    .scratch_bytes = primitive.scratchpad_desc().get_size(),
                    .kernel = ImplementationOf(primitive),
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
    HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed,
                              Pack(weights.tensor, operands.weights.desc(DataType::kInt8), primitive.weights_desc()));
    step->AddPrepacked(DNNL_ARG_WEIGHTS, std::move(packed));
  } else {
    step->AddInput(DNNL_ARG_WEIGHTS, primitive.weights_desc(), need(kWeights, weights_type));
  }
  if (!bias.empty()) {
    for (float& number : bias) number /= attributes.unit;
    HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory fixed, PrepackedFloats(std::move(bias), bias_desc));
    step->AddPrepacked(DNNL_ARG_BIAS, std::move(fixed));
  }
  for (float& scale : weights.scales) scale *= operands.scale;
  HALFTONE_RETURN_IF_ERROR(AddScales(int8, attributes, weights.scales, *step));
  if (residual)
    step->AddInput(attributes.residual_argument, int8.epilogue.residual_desc, need(kResidual, int8.residual->type));
  prepared.step = std::move(step);
  AddShift(given, context.InputDims(0), prepared);
  return prepared;
}

}  // namespace

std::unique_ptr<Kernel> MakeInt8MatMulKernel() { return std::make_unique<Int8MatMulKernel>(); }

}  // namespace halftone::onednn

// matmul, gemm: dnnl::matmul with bias, residual and activation in the same primitive.
//
// Transposes are strides. Constant weights are packed once; leading dimensions of src are folded into its rows where
// the weights have none. gemm(a, b, c) = alpha a b + beta c: c is the bias or a binary post-op.
#include <algorithm>

#include "base/status.h"
#include "runtime/onednn/kernels.h"
#include "runtime/onednn/problem.h"

namespace halftone::onednn {
namespace {

using Primitive = dnnl::matmul::primitive_desc;

constexpr int kWeights = 1, kBias = 2, kResidual = 3;

// How an operand lies, with dimensions of our choice over its plain bytes.
struct View {
  Dims dims;
  Dims strides;
  Desc desc(DataType type) const { return Desc(dims, *DnnlType(type), strides, /*allow_empty=*/true); }
};

// What the node computes, in oneDNN's dimensions.
struct Product {
  MatMulProblem problem;
  View src, weights;
  bool has_bias = false;    // input 2 is a vector over the last dimension, added as it is
  bool has_addend = false;  // gemm's c in any other form: a binary post-op
  Dims addend_dims;
  float scale = 1;
  float addend_scale = 1;
};

// The operand as [.., rows, columns], transposed if wanted; a vector becomes one row or one column.
View Operand(Dims dims, bool transpose, bool is_left) {
  if (dims.size() == 1) {
    if (is_left) return View{{1, dims[0]}, {dims[0], 1}};
    return View{{dims[0], 1}, {1, 1}};
  }
  View view{dims, PlainStrides(dims)};
  if (transpose) {
    std::swap(view.dims[view.dims.size() - 1], view.dims[view.dims.size() - 2]);
    std::swap(view.strides[view.strides.size() - 1], view.strides[view.strides.size() - 2]);
  }
  return view;
}

void Widen(View& view, size_t rank) {
  while (view.dims.size() < rank) {
    view.dims.insert(view.dims.begin(), 1);
    view.strides.insert(view.strides.begin(), view.strides.empty() ? 1 : view.dims[1] * view.strides[0]);
  }
}

// [a, b, M, K] plain => [a * b * M, K].
void FoldRows(View& view) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < view.dims.size(); ++i) rows *= view.dims[i];
  view = View{{rows, view.dims.back()}, {view.dims.back(), 1}};
}

absl::StatusOr<Product> Describe(const NodeContext& context) {
  const Attributes& attributes = context.node().attributes;
  Product product;
  const Dims a = context.InputDims(0), b = context.InputDims(kWeights);
  if (a.empty() || b.empty()) return absl::UnimplementedError("a matrix product of scalars");
  const bool transpose_a = attributes.Bool("transpose_a", false);
  product.src = Operand(a, transpose_a, /*is_left=*/true);
  product.weights = Operand(b, attributes.Bool("transpose_b", false), /*is_left=*/false);
  if (b.size() <= 2 && a.size() > 2 && !transpose_a) FoldRows(product.src);
  const size_t rank = std::max(product.src.dims.size(), product.weights.dims.size());
  Widen(product.src, rank);
  Widen(product.weights, rank);
  if (product.src.dims.back() != product.weights.dims[rank - 2]) {
    return absl::InvalidArgumentError("the inner dimensions of the operands differ");
  }
  MatMulProblem& problem = product.problem;
  problem.src = product.src.dims;
  problem.weights = product.weights.dims;
  for (size_t i = 0; i + 2 < rank; ++i) {
    if (problem.src[i] != problem.weights[i] && problem.src[i] != 1 && problem.weights[i] != 1) {
      return absl::InvalidArgumentError("the leading dimensions of the operands differ");
    }
    problem.dst.push_back(std::max(problem.src[i], problem.weights[i]));
  }
  problem.dst.push_back(problem.src[rank - 2]);
  problem.dst.push_back(problem.weights[rank - 1]);

  if (context.node().op == OpKind::kGemm) {
    product.scale = attributes.Float("alpha", 1);
    product.addend_scale = attributes.Float("beta", 1);
    if (context.HasInput(kBias) && product.addend_scale != 0) {
      Dims c = context.InputDims(kBias);
      while (c.size() < 2) c.insert(c.begin(), 1);
      const bool vector = c[0] == 1 && c[1] == problem.dst[1];
      product.has_bias = vector && product.scale == 1 && product.addend_scale == 1;
      product.has_addend = !product.has_bias;
      product.addend_dims = c;
      if (product.has_addend && product.addend_scale != 1)
        return absl::UnimplementedError("gemm with a beta other than 0 and 1");
    }
  } else {
    product.has_bias = context.HasInput(kBias);
    if (product.has_bias && b.size() == 1)
      return absl::UnimplementedError("a bias over the rows of a product with a vector");
  }
  return product;
}

class MatMulKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override;

 private:
  static absl::StatusOr<Prepared> Build(const NodeContext& context, const Product& product, Epilogue epilogue,
                                        ProductTypes types);
};

absl::StatusOr<Prepared> MatMulKernel::Build(const NodeContext& context, const Product& product, Epilogue epilogue,
                                             ProductTypes types) {
  const MatMulProblem& problem = product.problem;
  const Tensor* weights = context.Constant(kWeights);
  const Tensor* bias = product.has_bias ? context.Constant(kBias) : nullptr;
  const bool residual = context.node().op == OpKind::kMatMul && context.HasInput(kResidual);
  if (residual) {
    const bool ours = context.DiesHere(kResidual) || context.InputType(kResidual) != types.dst;
    epilogue.residual = ours ? ResidualMode::kSum : ResidualMode::kBinary;
  }
  if (product.has_bias)
    types.bias = bias != nullptr || types.src == DataType::kFloat32 ? DataType::kFloat32 : context.InputType(kBias);

  MatMulLayouts layouts{.src = product.src.desc(types.src),
                        .weights = product.weights.desc(types.weights),
                        .dst = PlainDesc(problem.dst, types.dst)};
  if (weights != nullptr) layouts.weights = AnyDesc(problem.weights, types.weights);
  Primitive primitive;
  if (product.has_addend) {
    dnnl::primitive_attr attributes = UserScratch();
    dnnl::post_ops post_ops;
    if (product.scale != 1) post_ops.append_eltwise(dnnl::algorithm::eltwise_linear, product.scale, 0);
    post_ops.append_binary(dnnl::algorithm::binary_add, PlainDesc(product.addend_dims, types.dst));
    attributes.set_post_ops(post_ops);
    primitive = Primitive(CpuEngine(), layouts.src, layouts.weights, layouts.dst, attributes, /*allow_empty=*/true);
  } else {
    primitive = MakeMatMul(problem, types, epilogue, layouts, product.scale);
  }
  if (!primitive) return absl::UnimplementedError("oneDNN has no such matrix product");

  Prepared prepared;
  prepared.kernel = ImplementationName(primitive);
  prepared.scratch_bytes = primitive.scratchpad_desc().get_size();
  prepared.outputs.push_back(Placement{types.dst});
  const auto need = [&](int index, DataType type) {
    prepared.inputs.push_back(InputNeed{index, Placement{type}});
    return static_cast<int>(prepared.inputs.size()) - 1;
  };
  auto step = std::make_unique<PrimitiveStep>();
  HALFTONE_RETURN_IF_ERROR(Guard([&] { step->AddCall(dnnl::matmul(primitive)); }));
  step->AddInput(DNNL_ARG_SRC, primitive.src_desc(), need(0, types.src));
  step->AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), 0);
  if (weights != nullptr) {
    HALFTONE_ASSIGN_OR_RETURN(FixedMemory packed,
                              Pack(*weights, product.weights.desc(weights->type()), primitive.weights_desc()));
    step->AddFixed(DNNL_ARG_WEIGHTS, std::move(packed));
  } else {
    step->AddInput(DNNL_ARG_WEIGHTS, primitive.weights_desc(), need(kWeights, types.weights));
  }
  if (bias != nullptr) {
    Dims dims(problem.dst.size(), 1);
    dims.back() = problem.dst.back();
    HALFTONE_ASSIGN_OR_RETURN(FixedMemory packed,
                              Pack(*bias, PlainDesc(dims, bias->type()), PlainDesc(dims, types.bias)));
    step->AddFixed(DNNL_ARG_BIAS, std::move(packed));
  } else if (product.has_bias) {
    Dims dims(problem.dst.size(), 1);
    dims.back() = problem.dst.back();
    step->AddInput(DNNL_ARG_BIAS, PlainDesc(dims, types.bias), need(kBias, types.bias));
  }
  if (product.has_addend) {
    const int position = product.scale != 1 ? 1 : 0;
    step->AddInput(DNNL_ARG_ATTR_MULTIPLE_POST_OP(position) | DNNL_ARG_SRC_1, PlainDesc(product.addend_dims, types.dst),
                   need(kBias, types.dst));
  }
  if (residual) {
    const int index = need(kResidual, types.dst);
    if (epilogue.residual == ResidualMode::kSum) {
      prepared.overwrites = index;
    } else {
      step->AddInput(DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, PlainDesc(problem.dst, types.dst), index);
    }
  }
  step->AddOutput(DNNL_ARG_DST, primitive.dst_desc());
  prepared.step = std::move(step);
  return prepared;
}

absl::StatusOr<Prepared> MatMulKernel::Prepare(const NodeContext& context) const {
  const ProductTypes types{
      .src = context.InputType(0), .weights = context.InputType(kWeights), .dst = context.OutputType()};
  if (!IsFloat(types.src) || !IsFloat(types.weights) || !IsFloat(types.dst)) {
    return absl::UnimplementedError("oneDNN multiplies matrices of floats only");
  }
  HALFTONE_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(context.node().attributes));
  HALFTONE_ASSIGN_OR_RETURN(const Product product, Describe(context));
  absl::StatusOr<Prepared> as_written = Build(context, product, epilogue, types);
  if (as_written.ok() && !IsSlow(as_written->kernel)) return as_written;
  absl::StatusOr<Prepared> in_f32 = Build(context, product, epilogue, ProductTypes());
  if (in_f32.ok() && (!as_written.ok() || !IsSlow(in_f32->kernel))) return in_f32;
  return as_written;
}

}  // namespace

std::unique_ptr<Kernel> MakeMatMulKernel() { return std::make_unique<MatMulKernel>(); }

}  // namespace halftone::onednn

// matmul, gemm: dnnl::matmul with bias, residual and activation in the same primitive.
//
// Transposes are strides. Constant weights are packed once; leading dimensions of src are folded into its rows where
// the weights have none. gemm(a, b, c) = alpha a b + beta c: c is the bias, or a binary post-op between two factors.
#include <algorithm>
#include <cmath>

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
  float bias_factor = 1;  // by which a constant bias is multiplied
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
      // The bias is added before alpha multiplies.
      const bool vector = c[0] == 1 && c[1] == problem.dst[1];
      product.bias_factor = product.addend_scale / product.scale;
      product.has_bias = vector && std::isfinite(product.bias_factor) &&
                         (product.bias_factor == 1 || context.Constant(kBias) != nullptr);
      product.has_addend = !product.has_bias;
      product.addend_dims = c;
      if (product.has_addend && !std::isnormal(product.scale / product.addend_scale))
        return absl::UnimplementedError("gemm with an alpha of 0");
    }
  } else {
    product.has_bias = context.HasInput(kBias);
    if (product.has_bias && b.size() == 1)
      return absl::UnimplementedError("a bias over the rows of a product with a vector");
  }
  return product;
}

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

  // A constant column is written out: oneDNN adds a matrix fast.
  const Tensor* addend = product.has_addend ? context.Constant(kBias) : nullptr;
  const bool spread = addend != nullptr && product.addend_dims[1] == 1 && product.addend_dims[0] > 1;
  const Dims& addend_dims = spread ? problem.dst : product.addend_dims;

  MatMulLayouts layouts{.src = product.src.desc(types.src),
                        .weights = product.weights.desc(types.weights),
                        .dst = PlainDesc(problem.dst, types.dst)};
  if (weights != nullptr) layouts.weights = AnyDesc(problem.weights, types.weights);
  Primitive primitive;
  if (product.has_addend) {
    dnnl::primitive_attr attributes = UserScratch();
    dnnl::post_ops post_ops;
    const auto scale_by = [&post_ops](float factor) {
      if (factor != 1) post_ops.append_eltwise(dnnl::algorithm::eltwise_linear, factor, 0);
    };
    // alpha a b + beta c = beta (alpha / beta a b + c)
    scale_by(product.scale / product.addend_scale);
    post_ops.append_binary(dnnl::algorithm::binary_add, PlainDesc(addend_dims, types.dst));
    scale_by(product.addend_scale);
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
    HALFTONE_ASSIGN_OR_RETURN(const Tensor scaled, Scaled(*bias, product.bias_factor));
    HALFTONE_ASSIGN_OR_RETURN(FixedMemory packed,
                              Pack(scaled, PlainDesc(dims, scaled.type()), PlainDesc(dims, types.bias)));
    step->AddFixed(DNNL_ARG_BIAS, std::move(packed));
  } else if (product.has_bias) {
    Dims dims(problem.dst.size(), 1);
    dims.back() = problem.dst.back();
    step->AddInput(DNNL_ARG_BIAS, PlainDesc(dims, types.bias), need(kBias, types.bias));
  }
  if (product.has_addend) {
    const int argument =
        DNNL_ARG_ATTR_MULTIPLE_POST_OP(product.scale / product.addend_scale != 1 ? 1 : 0) | DNNL_ARG_SRC_1;
    const Desc desc = PlainDesc(addend_dims, types.dst);
    if (spread) {
      HALFTONE_ASSIGN_OR_RETURN(const Tensor whole, SpreadColumn(*addend, problem.dst));
      HALFTONE_ASSIGN_OR_RETURN(FixedMemory packed, Pack(whole, PlainDesc(addend_dims, whole.type()), desc));
      step->AddFixed(argument, std::move(packed));
    } else {
      step->AddInput(argument, desc, need(kBias, types.dst));
    }
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

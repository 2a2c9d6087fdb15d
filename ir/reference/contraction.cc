// SPDX-License-Identifier: Apache-2.0
// Matrix multiplication, and the activation that is fused into contractions.

#include <type_traits>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/reference/math_internal.h"

namespace halftone::reference {

absl::StatusOr<FusedActivation> FusedActivation::Of(const Attributes& attributes) {
  FusedActivation result;
  const std::string name = attributes.String("activation", "");
  const std::optional<Activation> kind = ActivationFromName(name);
  if (!kind.has_value()) return Error("activation '", name, "' is unknown");
  result.kind = *kind;
  const ActivationParameters parameters = ParametersOf(*kind);
  result.alpha = attributes.Float("activation_alpha", parameters.alpha);
  result.beta = attributes.Float("activation_beta", parameters.beta);
  return result;
}

double FusedActivation::operator()(double x) const {
  switch (kind) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return ReluOf(x);
    case Activation::kRelu6:
      return ClipOf(x, 0, 6);
    case Activation::kClip:
      return ClipOf(x, alpha, beta);
    case Activation::kElu:
      return EluOf(x, alpha);
    case Activation::kLeakyRelu:
      return LeakyReluOf(x, alpha);
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSigmoid:
      return SigmoidOf(x);
    case Activation::kSwish:
      return SwishOf(x, alpha);
    case Activation::kHardSwish:
      return HardSwishOf(x);
    case Activation::kHardSigmoid:
      return HardSigmoidOf(x, alpha, beta);
    case Activation::kGelu:
      return GeluOf(x);
    case Activation::kGeluTanh:
      return GeluTanhOf(x);
    case Activation::kMish:
      return MishOf(x);
  }
  return x;
}

absl::StatusOr<Tensor> OperandOf(const Call& call, int index) {
  const Tensor& given = call.in(index);
  const bool rounds = call.attributes().String("math_mode", "") == "bf16" && given.type() == DataType::kFloat32;
  if (!rounds) return given;
  return given.ConvertTo(DataType::kBFloat16);
}

void Finish(const Attributes& attributes, const FusedActivation& activation, const std::vector<double>& residual,
            std::vector<double>& y) {
  const bool first = attributes.Bool("activation_first", false);
  for (size_t i = 0; i < y.size(); ++i) {
    const double addend = residual.empty() ? 0 : residual[i];
    y[i] = first ? activation(y[i]) + addend : activation(y[i] + addend);
  }
}

namespace {

// c[i,j] = sum of a[i,k] * b[k,j], all row-major and dense; c is zero before. Acc is unsigned for integers: wraps
// around.
template <typename T, typename Acc>
void Multiply(const T* a, const T* b, Acc* c, int64_t m, int64_t k, int64_t n) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t p = 0; p < k; ++p) {
      const Acc factor = static_cast<Acc>(a[i * k + p]);
      const T* row = b + p * n;
      Acc* out = c + i * n;
      for (int64_t j = 0; j < n; ++j) out[j] += factor * static_cast<Acc>(row[j]);
    }
  }
}

// A matrix, or several with leading (batch) dimensions.
template <typename T>
struct Matrices {
  Dims leading;
  int64_t rows = 0, columns = 0;
  std::vector<T> elements;
};

template <typename T>
Matrices<T> ReadMatrices(const Tensor& tensor, bool transpose, bool is_left) {
  Dims dims = tensor.dims();
  if (dims.size() == 1) {  // a vector is a row on the left, a column on the right
    dims.insert(is_left ? dims.begin() : dims.end(), 1);
    transpose = false;
  }
  Matrices<T> result;
  result.elements = Elements<T>(tensor);
  const int rank = static_cast<int>(dims.size());
  if (transpose) {
    std::vector<int> perm;
    for (int i = 0; i < rank; ++i) perm.push_back(i);
    std::swap(perm[rank - 1], perm[rank - 2]);
    result.elements = Permute(result.elements, dims, perm);
    std::swap(dims[rank - 1], dims[rank - 2]);
  }
  result.rows = dims[rank - 2];
  result.columns = dims[rank - 1];
  result.leading.assign(dims.begin(), dims.end() - 2);
  return result;
}

template <typename Acc>
struct Product {
  Dims dims;
  std::vector<Acc> elements;
};

template <typename T, typename Acc>
absl::StatusOr<Product<Acc>> MultiplyTensors(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b) {
  if (a.rank() == 0 || b.rank() == 0) return Error("a scalar cannot be multiplied as a matrix");
  const Matrices<T> left = ReadMatrices<T>(a, transpose_a, true);
  const Matrices<T> right = ReadMatrices<T>(b, transpose_b, false);
  if (left.columns != right.rows) {
    return Error(a.shape().ToString(), " and ", b.shape().ToString(), " do not multiply: ", left.columns, " against ",
                 right.rows);
  }
  HALFTONE_ASSIGN_OR_RETURN(const Dims leading, BroadcastDims(left.leading, right.leading));
  Product<Acc> result;
  result.dims = leading;
  if (a.rank() > 1) result.dims.push_back(left.rows);
  if (b.rank() > 1) result.dims.push_back(right.columns);
  HALFTONE_RETURN_IF_ERROR(CheckDims(result.dims));
  result.elements.assign(Count(result.dims), Acc{0});
  const std::vector<int64_t> left_matrix = Offsets(leading, BroadcastStrides(left.leading, leading));
  const std::vector<int64_t> right_matrix = Offsets(leading, BroadcastStrides(right.leading, leading));
  const int64_t m = left.rows, k = left.columns, n = right.columns;
  for (size_t i = 0; i < left_matrix.size(); ++i) {
    Multiply<T, Acc>(left.elements.data() + left_matrix[i] * m * k, right.elements.data() + right_matrix[i] * k * n,
                     result.elements.data() + static_cast<int64_t>(i) * m * n, m, k, n);
  }
  return result;
}

// For each element of y the offset of its element in an addend that is broadcast to y.
absl::StatusOr<std::vector<int64_t>> OffsetsOfAddend(std::string_view name, const Tensor& addend, const Dims& y) {
  const absl::StatusOr<Dims> both = BroadcastDims(addend.dims(), y);
  if (!both.ok() || *both != y) {
    return Error(name, " is ", addend.shape().ToString(), ", which does not broadcast to y's ",
                 Shape::Of(y).ToString());
  }
  return Offsets(y, BroadcastStrides(addend.dims(), y));
}

bool NeedsDouble(DataType type) { return type == DataType::kFloat64 || IsInteger(type); }

absl::StatusOr<Product<double>> MultiplyReals(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b) {
  if (NeedsDouble(a.type()) || NeedsDouble(b.type())) {
    return MultiplyTensors<double, double>(a, b, transpose_a, transpose_b);
  }
  return MultiplyTensors<float, double>(a, b, transpose_a, transpose_b);
}

// Sums modulo 2^64.
absl::StatusOr<Tensor> MultiplyIntegers(const Call& call, bool transpose_a, bool transpose_b) {
  HALFTONE_ASSIGN_OR_RETURN(auto result,
                            (MultiplyTensors<int64_t, uint64_t>(call.in(0), call.in(1), transpose_a, transpose_b)));
  const std::vector<int64_t> numbers(result.elements.begin(), result.elements.end());
  return FromInts(call.type(), std::move(result.dims), numbers);
}

}  // namespace

Outputs MatMul(const Call& call) {
  const bool transpose_a = call.attributes().Bool("transpose_a", false);
  const bool transpose_b = call.attributes().Bool("transpose_b", false);
  HALFTONE_ASSIGN_OR_RETURN(const FusedActivation activation, FusedActivation::Of(call.attributes()));
  const float scale = call.attributes().Float("scale", 1);
  if (IsInteger(call.in(0).type()) && !call.has(2) && !call.has(3) && activation.kind == Activation::kNone &&
      scale == 1) {
    HALFTONE_ASSIGN_OR_RETURN(Tensor y, MultiplyIntegers(call, transpose_a, transpose_b));
    return std::vector<Tensor>{std::move(y)};
  }
  HALFTONE_ASSIGN_OR_RETURN(const Tensor a, OperandOf(call, 0));
  HALFTONE_ASSIGN_OR_RETURN(const Tensor b, OperandOf(call, 1));
  HALFTONE_ASSIGN_OR_RETURN(auto result, MultiplyReals(a, b, transpose_a, transpose_b));
  std::vector<double>& y = result.elements;
  for (double& element : y) element *= scale;
  if (call.has(2)) {
    const std::vector<double> bias = call.in(2).ToDoubles();
    const size_t columns = result.dims.empty() ? 1 : result.dims.back();
    if (call.in(2).rank() != 1 || bias.size() != columns)
      return Error("bias is ", call.in(2).shape().ToString(), ", need [", columns, "]");
    for (size_t i = 0; i < y.size(); ++i) y[i] += bias[i % columns];
  }
  std::vector<double> residual;
  if (call.has(3)) {
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<int64_t> at, OffsetsOfAddend("residual", call.in(3), result.dims));
    const std::vector<double> elements = call.in(3).ToDoubles();
    for (const int64_t offset : at) residual.push_back(elements[offset]);
  }
  Finish(call.attributes(), activation, residual, y);
  return std::vector<Tensor>{FromDoubles(call.type(), std::move(result.dims), y)};
}

namespace {

// alpha a b + beta c modulo 2^64, for whole alpha and beta.
absl::StatusOr<Tensor> GemmOfIntegers(const Call& call) {
  HALFTONE_ASSIGN_OR_RETURN(auto result, (MultiplyTensors<int64_t, uint64_t>(
                                             call.in(0), call.in(1), call.attributes().Bool("transpose_a", false),
                                             call.attributes().Bool("transpose_b", false))));
  const auto factor = [&](std::string_view name) {
    return static_cast<uint64_t>(static_cast<int64_t>(call.attributes().Float(name, 1)));
  };
  std::vector<int64_t> y(result.elements.begin(), result.elements.end());
  for (int64_t& element : y) element = static_cast<int64_t>(static_cast<uint64_t>(element) * factor("alpha"));
  if (call.has(2)) {
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<int64_t> at, OffsetsOfAddend("c", call.in(2), result.dims));
    const std::vector<int64_t> c = call.in(2).ToInts();
    for (size_t i = 0; i < y.size(); ++i) {
      y[i] = static_cast<int64_t>(static_cast<uint64_t>(y[i]) + factor("beta") * static_cast<uint64_t>(c[at[i]]));
    }
  }
  return FromInts(call.type(), std::move(result.dims), y);
}

bool IsWhole(float number) { return number == std::trunc(number) && std::abs(number) < 0x1p62f; }

}  // namespace

Outputs Gemm(const Call& call) {
  if (call.in(0).rank() != 2 || call.in(1).rank() != 2) return Error("a and b must be matrices");
  const float alpha = call.attributes().Float("alpha", 1), beta = call.attributes().Float("beta", 1);
  if (IsInteger(call.in(0).type()) && IsWhole(alpha) && IsWhole(beta)) {
    HALFTONE_ASSIGN_OR_RETURN(Tensor y, GemmOfIntegers(call));
    return std::vector<Tensor>{std::move(y)};
  }
  HALFTONE_ASSIGN_OR_RETURN(const Tensor a, OperandOf(call, 0));
  HALFTONE_ASSIGN_OR_RETURN(const Tensor b, OperandOf(call, 1));
  HALFTONE_ASSIGN_OR_RETURN(auto result, MultiplyReals(a, b, call.attributes().Bool("transpose_a", false),
                                                       call.attributes().Bool("transpose_b", false)));
  std::vector<double>& y = result.elements;
  for (double& element : y) element *= alpha;
  if (call.has(2)) {
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<int64_t> at, OffsetsOfAddend("c", call.in(2), result.dims));
    const std::vector<double> c = call.in(2).ToDoubles();
    for (size_t i = 0; i < y.size(); ++i) y[i] += beta * c[at[i]];
  }
  return std::vector<Tensor>{FromDoubles(call.type(), std::move(result.dims), y)};
}

}  // namespace halftone::reference

// SPDX-License-Identifier: Apache-2.0
// matmul and gemm of integers and of f64, which oneDNN does not multiply. Integers wrap around.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/status.h"
#include "runtime/cpu/simd/kernels.h"
#include "runtime/cpu/simd/parallel.h"

namespace halftone::simd {
namespace {

using Dims = std::vector<int64_t>;

constexpr int64_t kGrainMultiplications = 1 << 15;  // worth a thread

// One operand as a stack of matrices.
struct Stack {
  int64_t rows = 0, columns = 0;
  bool transposed = false;  // in memory: [columns, rows]
  Dims leading;
};

Stack StackOf(Dims dims, bool transposed, bool is_left) {
  if (dims.size() == 1) {  // a vector is a row on the left, a column on the right
    dims.insert(is_left ? dims.begin() : dims.end(), 1);
    transposed = false;
  }
  Stack stack{dims[dims.size() - 2], dims.back(), transposed, Dims(dims.begin(), dims.end() - 2)};
  if (transposed) std::swap(stack.rows, stack.columns);
  return stack;
}

// Of the result's matrix `index` the one of the operand, which is broadcast.
int64_t MatrixOf(const Stack& stack, const Dims& leading, int64_t index) {
  int64_t result = 0, stride = 1;
  for (size_t i = leading.size(); i-- > 0;) {
    const int64_t at = index % leading[i];
    index /= leading[i];
    const size_t missing = leading.size() - stack.leading.size();
    if (i < missing) continue;
    const int64_t size = stack.leading[i - missing];
    if (size > 1) result += at * stride;
    stride *= size;
  }
  return result;
}

struct Problem {
  Stack a, b;
  Dims leading;  // of the result
  int64_t matrices = 1;
  // gemm: alpha a b + beta c, with c's strides over rows and columns
  bool has_addend = false;
  int64_t c_row = 0, c_column = 0;
  double alpha = 1, beta = 1;
};

template <typename T>
class MatMulStep final : public Step {
 public:
  explicit MatMulStep(Problem problem) : p_(std::move(problem)) {}

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte* scratch) override {
    a_ = reinterpret_cast<const T*>(inputs[0]);
    b_ = reinterpret_cast<const T*>(inputs[1]);
    c_ = p_.has_addend ? reinterpret_cast<const T*>(inputs[2]) : nullptr;
    y_ = reinterpret_cast<T*>(outputs[0]);
    turned_ = reinterpret_cast<T*>(scratch);
  }

  absl::Status Run() override {
    const int64_t m = p_.a.rows, k = p_.a.columns, n = p_.b.columns;
    for (int64_t i = 0; i < p_.matrices; ++i) {
      const T* b = b_ + MatrixOf(p_.b, p_.leading, i) * k * n;
      if (p_.b.transposed) {
        for (int64_t column = 0; column < n; ++column) {
          for (int64_t row = 0; row < k; ++row) turned_[row * n + column] = b[column * k + row];
        }
        b = turned_;
      }
      const T* a = a_ + MatrixOf(p_.a, p_.leading, i) * m * k;
      ParallelFor(m, std::max<int64_t>(1, kGrainMultiplications / std::max<int64_t>(1, k * n)),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t row = begin; row < end; ++row) Row(a, b, row, y_ + (i * m + row) * n);
                  });
    }
    return absl::OkStatus();
  }

 private:
  void Row(const T* a, const T* b, int64_t row, T* y) const {
    const int64_t m = p_.a.rows, k = p_.a.columns, n = p_.b.columns;
    std::fill_n(y, n, T{0});
    for (int64_t i = 0; i < k; ++i) {
      const T factor = p_.a.transposed ? a[i * m + row] : a[row * k + i];
      const T* from = b + i * n;
      for (int64_t j = 0; j < n; ++j) y[j] += factor * from[j];
    }
    if (p_.alpha != 1) {
      const T alpha = Factor(p_.alpha);
      for (int64_t j = 0; j < n; ++j) y[j] *= alpha;
    }
    if (c_ == nullptr) return;
    const T beta = Factor(p_.beta);
    for (int64_t j = 0; j < n; ++j) y[j] += beta * c_[row * p_.c_row + j * p_.c_column];
  }

  static T Factor(double number) {
    if constexpr (std::is_floating_point_v<T>) return number;
    return static_cast<T>(static_cast<int64_t>(number));
  }

  const Problem p_;
  const T* a_ = nullptr;
  const T* b_ = nullptr;
  const T* c_ = nullptr;
  T* y_ = nullptr;
  T* turned_ = nullptr;
};

class MatMulKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType type = context.OutputType();
    if (context.InputType(0) != type || context.InputType(1) != type) {
      return absl::UnimplementedError("operands of different types");
    }
    HALFTONE_ASSIGN_OR_RETURN(Problem problem, Describe(context));
    Prepared prepared{.outputs = {Placement{type}}, .kernel = "loop"};
    for (int i = 0; i < (problem.has_addend ? 3 : 2); ++i) prepared.inputs.push_back({i, Placement{type}});
    if (problem.b.transposed) {
      prepared.scratch_bytes = static_cast<size_t>(problem.b.rows * problem.b.columns) * ElementSize(type);
    }
    switch (type) {
      case DataType::kInt32:
      case DataType::kUInt32:
        prepared.step = std::make_unique<MatMulStep<uint32_t>>(std::move(problem));
        break;
      case DataType::kInt64:
      case DataType::kUInt64:
        prepared.step = std::make_unique<MatMulStep<uint64_t>>(std::move(problem));
        break;
      case DataType::kFloat64:
        prepared.step = std::make_unique<MatMulStep<double>>(std::move(problem));
        break;
      default:
        return absl::UnimplementedError("for integers of 32 and 64 bits and f64");
    }
    return prepared;
  }

 private:
  static absl::StatusOr<Problem> Describe(const NodeContext& context) {
    const Attributes& attributes = context.node().attributes;
    const Dims a = context.InputDims(0), b = context.InputDims(1);
    if (a.empty() || b.empty()) return absl::UnimplementedError("a matmul of scalars");
    Problem p{.a = StackOf(a, attributes.Bool("transpose_a", false), true),
              .b = StackOf(b, attributes.Bool("transpose_b", false), false)};
    if (p.a.columns != p.b.rows) return absl::InvalidArgumentError("the inner dimensions of the operands differ");
    const std::optional<Shape> leading = BroadcastShapes(Shape::Of(p.a.leading), Shape::Of(p.b.leading));
    if (!leading.has_value()) return absl::InvalidArgumentError("the leading dimensions of the operands differ");
    p.leading = leading->values();
    for (const int64_t size : p.leading) p.matrices *= size;
    if (context.node().op == OpKind::kMatMul) {
      const bool fused = context.HasInput(2) || context.HasInput(3) || attributes.has("activation") ||
                         attributes.Float("scale", 1) != 1;
      if (fused) return absl::UnimplementedError("a matmul with fused parts");
      return p;
    }
    p.alpha = attributes.Float("alpha", 1);
    p.beta = attributes.Float("beta", 1);
    const auto whole = [](double v) { return v == std::trunc(v) && std::abs(v) < 0x1p62; };
    if (IsInteger(context.OutputType()) && !(whole(p.alpha) && whole(p.beta))) {
      return absl::UnimplementedError("integers with factors that are not whole");
    }
    p.has_addend = context.HasInput(2);
    if (p.has_addend) {
      if (context.InputType(2) != context.OutputType()) return absl::UnimplementedError("an addend of another type");
      Dims c = context.InputDims(2);
      while (c.size() < 2) c.insert(c.begin(), 1);
      p.c_row = c[0] == 1 ? 0 : c[1];
      p.c_column = c[1] == 1 ? 0 : 1;
    }
    return p;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeMatMulKernel() { return std::make_unique<MatMulKernel>(); }

}  // namespace halftone::simd

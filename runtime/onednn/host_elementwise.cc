// Elementwise functions that oneDNN does not have, or not with this broadcasting: loops of our own over plain f32 or
// bf16.
#include <algorithm>
#include <cmath>

#include "base/status.h"
#include "runtime/onednn/kernels.h"
#include "runtime/onednn/support.h"

namespace halftone::onednn {
namespace {

struct F32 {
  using Type = float;
  static float Load(float value) { return value; }
  static float Store(float value) { return value; }
};
struct Bf16 {
  using Type = uint16_t;
  static float Load(uint16_t bits) { return FloatFromBFloat16(bits); }
  static uint16_t Store(float value) { return BFloat16FromFloat(value); }
};

// One row: y[i] = f(a[i * a_step], b[i * b_step]).
using Row = void (*)(const std::byte* a, int64_t a_step, const std::byte* b, int64_t b_step, std::byte* y,
                     int64_t count);

template <typename T, float (*kFunction)(float, float)>
void RunRow(const std::byte* a, int64_t a_step, const std::byte* b, int64_t b_step, std::byte* y, int64_t count) {
  const auto* left = reinterpret_cast<const typename T::Type*>(a);
  const auto* right = reinterpret_cast<const typename T::Type*>(b);
  auto* result = reinterpret_cast<typename T::Type*>(y);
  for (int64_t i = 0; i < count; ++i)
    result[i] = T::Store(kFunction(T::Load(left[i * a_step]), T::Load(right[i * b_step])));
}

float AddOf(float a, float b) { return a + b; }
float SubOf(float a, float b) { return a - b; }
float MulOf(float a, float b) { return a * b; }
float DivOf(float a, float b) { return a / b; }
float MaximumOf(float a, float b) { return std::isnan(a) || a > b ? a : b; }
float MinimumOf(float a, float b) { return std::isnan(a) || a < b ? a : b; }
float PowOf(float a, float b) { return std::pow(a, b); }
float SquaredDifferenceOf(float a, float b) { return (a - b) * (a - b); }
float LogOf(float a, float) { return std::log(a); }  // oneDNN's is off by more than an ulp or two near 0.5
float RsqrtOf(float a, float) { return 1.0f / std::sqrt(a); }
float ReciprocalOf(float a, float) { return 1.0f / a; }
float FloorOf(float a, float) { return std::floor(a); }
float ErfOf(float a, float) { return std::erf(a); }

struct Function {
  OpKind op;
  Row f32;
  Row bf16;
  bool unary = false;
};
template <float (*kFunction)(float, float)>
constexpr Function Entry(OpKind op, bool unary = false) {
  return Function{op, &RunRow<F32, kFunction>, &RunRow<Bf16, kFunction>, unary};
}
constexpr Function kFunctions[] = {
    Entry<AddOf>(OpKind::kAdd),
    Entry<SubOf>(OpKind::kSub),
    Entry<MulOf>(OpKind::kMul),
    Entry<DivOf>(OpKind::kDiv),
    Entry<MaximumOf>(OpKind::kMaximum),
    Entry<MinimumOf>(OpKind::kMinimum),
    Entry<PowOf>(OpKind::kPow),
    Entry<SquaredDifferenceOf>(OpKind::kSquaredDifference),
    Entry<LogOf>(OpKind::kLog, /*unary=*/true),
    Entry<RsqrtOf>(OpKind::kRsqrt, /*unary=*/true),
    Entry<ReciprocalOf>(OpKind::kReciprocal, /*unary=*/true),
    Entry<FloorOf>(OpKind::kFloor, /*unary=*/true),
    Entry<ErfOf>(OpKind::kErf, /*unary=*/true),
};

// Strides of an operand over the result's dimensions: 0 where it is broadcast.
Dims BroadcastStrides(const Dims& dims, const Dims& out) {
  const Dims plain = PlainStrides(dims);
  Dims strides(out.size(), 0);
  const size_t shift = out.size() - dims.size();
  for (size_t i = 0; i < dims.size(); ++i) strides[shift + i] = dims[i] == 1 ? 0 : plain[i];
  return strides;
}

class HostStep final : public Step {
 public:
  HostStep(Row row, Dims out, Dims a, Dims b, size_t element_bytes)
      : row_(row),
        out_(std::move(out)),
        a_strides_(std::move(a)),
        b_strides_(std::move(b)),
        bytes_(static_cast<int64_t>(element_bytes)) {
    for (size_t i = out_.size(); i-- > 1;) {  // rows as long as possible
      if (a_strides_[i - 1] != a_strides_[i] * out_[i] || b_strides_[i - 1] != b_strides_[i] * out_[i]) continue;
      out_[i - 1] *= out_[i];
      a_strides_[i - 1] = a_strides_[i];
      b_strides_[i - 1] = b_strides_[i];
      out_.erase(out_.begin() + i);
      a_strides_.erase(a_strides_.begin() + i);
      b_strides_.erase(b_strides_.begin() + i);
    }
  }

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) override {
    a_ = inputs[0];
    b_ = inputs.back();
    y_ = outputs[0];
  }

  absl::Status Run() override {
    const size_t outer = out_.size() - 1;
    int64_t rows = 1;
    for (size_t i = 0; i < outer; ++i) rows *= out_[i];
    const int64_t count = out_[outer];
    for (int64_t row = 0; row < rows; ++row) {
      int64_t a = 0, b = 0, rest = row;
      for (size_t i = outer; i-- > 0;) {
        const int64_t index = rest % out_[i];
        rest /= out_[i];
        a += index * a_strides_[i];
        b += index * b_strides_[i];
      }
      row_(a_ + a * bytes_, a_strides_[outer], b_ + b * bytes_, b_strides_[outer], y_ + row * count * bytes_, count);
    }
    return absl::OkStatus();
  }

 private:
  const Row row_;
  Dims out_, a_strides_, b_strides_;
  const int64_t bytes_;
  const std::byte* a_ = nullptr;
  const std::byte* b_ = nullptr;
  std::byte* y_ = nullptr;
};

class HostElementwiseKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType type = context.OutputType();
    if (type != DataType::kFloat32 && type != DataType::kBFloat16) return absl::UnimplementedError("for f32 and bf16");
    const auto* function = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                        [&](const Function& f) { return f.op == context.node().op; });
    if (function == std::end(kFunctions)) return absl::UnimplementedError("no loop for this function");
    Dims out = context.OutputDims();
    if (out.empty()) out = {1};
    Prepared prepared{.outputs = {Placement{type}}, .kernel = "loop"};
    std::vector<Dims> strides;
    for (int i = 0; i < (function->unary ? 1 : 2); ++i) {
      if (context.InputType(i) != type) return absl::UnimplementedError("operands of different types");
      strides.push_back(BroadcastStrides(context.InputDims(i), out));
      prepared.inputs.push_back({i, Placement{type}});
    }
    if (function->unary) prepared.may_overwrite = 0;
    prepared.step = std::make_unique<HostStep>(type == DataType::kFloat32 ? function->f32 : function->bf16, out,
                                               strides.front(), strides.back(), ElementSize(type));
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeHostElementwiseKernel() { return std::make_unique<HostElementwiseKernel>(); }

}  // namespace halftone::onednn

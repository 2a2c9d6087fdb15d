// SPDX-License-Identifier: Apache-2.0
// where, clip with bounds of any kind, and elementwise ops of any number of tensors: as many passes over the result as
// there are operands.
#include <utility>

#include "runtime/cpu/simd/elementwise.h"
#include "runtime/cpu/simd/kernels.h"

namespace halftone::simd {
namespace {

// Elements of T are only moved.
template <typename T>
void WhereRow(const Operands& o, std::byte* y, int64_t count) {
  const auto* chosen = reinterpret_cast<const uint8_t*>(o.from[0]);
  const auto* a = reinterpret_cast<const T*>(o.from[1]);
  const auto* b = reinterpret_cast<const T*>(o.from[2]);
  auto* out = reinterpret_cast<T*>(y);
  const int64_t c_step = o.step[0], a_step = o.step[1], b_step = o.step[2];
  if (c_step == 1 && a_step == 1 && b_step == 1) {
    for (int64_t i = 0; i < count; ++i) {
      const T left = a[i], right = b[i];
      out[i] = chosen[i] != 0 ? left : right;
    }
  } else if (c_step == 1 && a_step == 0 && b_step == 1) {
    const T left = *a;
    for (int64_t i = 0; i < count; ++i) {
      const T right = b[i];
      out[i] = chosen[i] != 0 ? left : right;
    }
  } else if (c_step == 1 && a_step == 1 && b_step == 0) {
    const T right = *b;
    for (int64_t i = 0; i < count; ++i) {
      const T left = a[i];
      out[i] = chosen[i] != 0 ? left : right;
    }
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = chosen[i * c_step] != 0 ? a[i * a_step] : b[i * b_step];
  }
}

absl::StatusOr<Prepared> PrepareWhere(const NodeContext& context) {
  const DataType type = context.OutputType();
  if (context.InputType(0) != DataType::kBool || context.InputType(1) != type || context.InputType(2) != type) {
    return absl::UnimplementedError("a condition that is no bool, or operands of several types");
  }
  const size_t bytes = ElementSize(type);
  const Row row = bytes == 1   ? &WhereRow<uint8_t>
                  : bytes == 2 ? &WhereRow<uint16_t>
                  : bytes == 4 ? &WhereRow<uint32_t>
                  : bytes == 8 ? &WhereRow<uint64_t>
                               : nullptr;
  if (row == nullptr) return absl::UnimplementedError("elements of this size");
  std::vector<int64_t> condition = context.InputDims(0);
  if (context.node().attributes.Bool("rows", false) && condition.size() == 1) {
    condition.resize(std::max<size_t>(1, context.OutputDims().size()), 1);
  }
  Prepared prepared{.outputs = {Placement{type}}, .kernel = "loop"};
  for (int i = 0; i < 3; ++i) prepared.inputs.push_back({i, Placement{context.InputType(i)}});
  prepared.step = MakeElementwiseStep(row, context.OutputDims(), bytes,
                                      {{condition, 1}, {context.InputDims(1), bytes}, {context.InputDims(2), bytes}});
  return prepared;
}

// ---- Clip.

// p: 1 where operand 1 is the low bound, 2 where the last operand is the high one, 3 both.
template <typename T>
void ClipRow(const Operands& o, std::byte* y, int64_t count) {
  const auto* x = reinterpret_cast<const typename T::Stored*>(o.from[0]);
  auto* out = reinterpret_cast<typename T::Stored*>(y);
  const auto bound = [&o](int operand) {
    return T::Get(*reinterpret_cast<const typename T::Stored*>(o.from[operand]));
  };
  const int which = static_cast<int>(o.p);
  const bool has_low = which % 2 == 1, has_high = which >= 2;
  const auto low = has_low ? bound(1) : T::Get(x[0]);
  const auto high = has_high ? bound(has_low ? 2 : 1) : T::Get(x[0]);
  for (int64_t i = 0; i < count; ++i) {
    const auto value = T::Get(x[i]);
    const auto raised = has_low && value < low ? low : value;
    out[i] = T::Put(has_high && raised > high ? high : raised);
  }
}

absl::StatusOr<Prepared> PrepareClip(const NodeContext& context) {
  const DataType type = context.OutputType();
  Row row = nullptr;
  const auto visit = [&row]<typename T>() { row = &ClipRow<T>; };
  if (!VisitFloats(type, visit)) VisitIntegers(type, visit);
  if (row == nullptr) return absl::UnimplementedError("no loop for this type");
  Prepared prepared{.outputs = {Placement{type}}, .may_overwrite = 0, .kernel = "loop"};
  std::vector<Operand> operands;
  int which = 0;
  for (int i = 0; i < context.num_inputs(); ++i) {
    if (!context.HasInput(i)) continue;
    if (context.InputType(i) != type) return absl::UnimplementedError("bounds of another type");
    for (const int64_t dim : context.InputDims(i)) {
      if (i > 0 && dim != 1) return absl::UnimplementedError("bounds that are no scalars");
    }
    which += i;
    prepared.inputs.push_back({i, Placement{type}});
    operands.push_back({i == 0 ? context.InputDims(0) : std::vector<int64_t>{}, ElementSize(type)});
  }
  prepared.step = MakeElementwiseStep(row, context.OutputDims(), ElementSize(type), operands, which);
  return prepared;
}

// ---- Of any number.

struct AddOf {
  template <typename T>
  static HALFTONE_INLINE T Of(T a, T b) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    return a + b;
  }
};
struct MaxOf {
  template <typename T>
  static HALFTONE_INLINE T Of(T a, T b) {
    return a != a || a > b ? a : b;
  }
};
struct MinOf {
  template <typename T>
  static HALFTONE_INLINE T Of(T a, T b) {
    return a != a || a < b ? a : b;
  }
};
struct DividedOf {
  template <typename T>
  static HALFTONE_INLINE T Of(T x, T p, T) {
    return x / p;
  }
};

// nullptr: not of this type.
template <typename F>
Row RowOf(DataType type) {
  Row row = nullptr;
  const auto visit = [&row]<typename T>() { row = BinaryRows<F, T, T>::Choose(); };
  if (!VisitFloats(type, visit)) VisitIntegers(type, visit);
  return row;
}

// Several steps over one output: the first reads inputs 0 and 1, each further one the output and one more input.
class Chain final : public Step {
 public:
  void Add(std::unique_ptr<Step> step) { steps_.push_back(std::move(step)); }
  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte* scratch) override {
    for (size_t i = 0; i < steps_.size(); ++i) {
      const size_t next = i + 1;
      std::byte* const second = next < inputs.size() ? inputs[next] : nullptr;  // null: a function of the output alone
      std::byte* const operands[] = {i == 0 ? inputs[0] : outputs[0], second};
      steps_[i]->Bind(operands, outputs, scratch);
    }
  }
  absl::Status Run() override {
    for (const std::unique_ptr<Step>& step : steps_) {
      if (absl::Status status = step->Run(); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  std::vector<std::unique_ptr<Step>> steps_;
};

absl::StatusOr<Prepared> PrepareVariadic(const NodeContext& context) {
  const OpKind op = context.node().op;
  const int count = context.num_inputs();
  if (count < 2) return absl::UnimplementedError("one operand");
  // Sums of narrow floats are rounded once, at the end.
  const DataType type = context.OutputType();
  const bool narrow = type == DataType::kBFloat16 || type == DataType::kFloat16;
  const DataType computed = narrow ? DataType::kFloat32 : type;
  if (op == OpKind::kMeanN && !IsFloatingPoint(type)) return absl::UnimplementedError("means of integers");
  const Row row = op == OpKind::kMaxN   ? RowOf<MaxOf>(computed)
                  : op == OpKind::kMinN ? RowOf<MinOf>(computed)
                                        : RowOf<AddOf>(computed);
  if (row == nullptr) return absl::UnimplementedError("no loop for this type");
  const std::vector<int64_t> out = context.OutputDims();
  const size_t bytes = ElementSize(computed);
  Prepared prepared{.outputs = {Placement{computed}}, .kernel = "loop"};
  auto chain = std::make_unique<Chain>();
  for (int i = 0; i < count; ++i) {
    if (context.InputType(i) != type) return absl::UnimplementedError("operands of different types");
    prepared.inputs.push_back({i, Placement{computed}});
    if (i == 0) continue;
    const std::vector<int64_t> first = i == 1 ? context.InputDims(0) : out;
    chain->Add(MakeElementwiseStep(row, out, bytes, {{first, bytes}, {context.InputDims(i), bytes}}));
  }
  if (op == OpKind::kMeanN) {
    Row divide = nullptr;
    VisitFloats(computed, [&divide]<typename T>() { divide = UnaryRows<DividedOf, T, T>::Choose(); });
    chain->Add(MakeElementwiseStep(divide, out, bytes, {{out, bytes}}, count));
  }
  prepared.step = std::move(chain);
  return prepared;
}

class ManyKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    if (context.node().op == OpKind::kWhere) return PrepareWhere(context);
    return context.node().op == OpKind::kClip ? PrepareClip(context) : PrepareVariadic(context);
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeManyKernel() { return std::make_unique<ManyKernel>(); }

}  // namespace halftone::simd

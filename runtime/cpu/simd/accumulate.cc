// SPDX-License-Identifier: Apache-2.0
// Along one axis: arg_max, arg_min, cum_sum, cum_prod, top_k. NaN counts as the largest number; of equal ones the lower
// index comes first.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <type_traits>

#include "base/status.h"
#include "runtime/cpu/simd/indices.h"
#include "runtime/cpu/simd/kernels.h"
#include "runtime/cpu/simd/loop_step.h"
#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/simd.h"

namespace halftone::simd {
namespace {

constexpr int64_t kGrainElements = 1 << 14;

// A tensor as [outer, size, inner], cut at one axis.
struct Lines {
  int64_t outer = 1, size = 1, inner = 1;

  Lines(std::span<const int64_t> dims, int axis) {
    if (dims.empty()) return;  // a scalar is a line of one
    outer = Product(dims.first(axis));
    size = dims[axis];
    inner = Product(dims.subspan(axis + 1));
  }
  int64_t count() const { return outer * inner; }
  // The first element of line i; the next ones are `inner` apart.
  int64_t begin(int64_t i) const { return i / inner * size * inner + i % inner; }
  int64_t grain() const { return std::max<int64_t>(1, kGrainElements / std::max<int64_t>(1, size)); }
};

bool Before(float a, float b) { return std::isnan(b) ? !std::isnan(a) : a < b; }
bool Before(int64_t a, int64_t b) { return a < b; }

// Elements as they are compared.
float Key(const float* x) { return *x; }
float Key(const uint16_t* x) { return FromBf16(*x); }
template <typename T>
int64_t Key(const T* x) {
  return static_cast<int64_t>(*x);
}

// Calls work with a pointer of the element's C++ type (bf16: uint16_t).
template <typename Work>
void WithType(DataType type, Work work) {
  if (type == DataType::kFloat32) return work(static_cast<float*>(nullptr));
  if (type == DataType::kBFloat16) return work(static_cast<uint16_t*>(nullptr));
  if (type == DataType::kInt32) return work(static_cast<int32_t*>(nullptr));
  if (type == DataType::kInt64) return work(static_cast<int64_t*>(nullptr));
  if (type == DataType::kInt8) return work(static_cast<int8_t*>(nullptr));
  work(static_cast<uint8_t*>(nullptr));
}

std::optional<DataType> ComparedAs(DataType type) {
  if (const std::optional<DataType> computed = ComputedType(type)) return computed;
  const bool known = type == DataType::kInt32 || type == DataType::kInt64 || type == DataType::kInt8 ||
                     type == DataType::kUInt8 || type == DataType::kBool;
  return known ? std::optional(type) : std::nullopt;
}

void PutIndex(std::byte* to, DataType type, int64_t at, int64_t index) {
  if (type == DataType::kInt32) {
    reinterpret_cast<int32_t*>(to)[at] = static_cast<int32_t>(index);
  } else {
    reinterpret_cast<int64_t*>(to)[at] = index;
  }
}

absl::StatusOr<int> AxisOf(const NodeContext& context, int64_t written) {
  const int64_t rank = std::max<int64_t>(1, static_cast<int64_t>(context.InputDims(0).size()));
  const int64_t axis = written < 0 ? written + rank : written;
  if (axis < 0 || axis >= rank) return absl::UnimplementedError("an axis out of range");
  return static_cast<int>(axis);
}

absl::StatusOr<int> AxisInput(const NodeContext& context) {
  const std::optional<double> given = context.HasInput(1) ? context.ConstantScalar(1) : std::optional<double>(0);
  if (!given.has_value()) return absl::UnimplementedError("the axis is not constant");
  return AxisOf(context, static_cast<int64_t>(*given));
}

// ---- arg_max, arg_min

struct ArgProblem {
  Lines lines;
  bool largest = true, last = false;

  template <typename T>
  int64_t Find(const T* x) const {  // in the line that begins at x
    int64_t best = 0;
    auto found = Key(x);
    for (int64_t i = 1; i < lines.size; ++i) {
      const auto key = Key(x + i * lines.inner);
      const bool better = largest ? Before(found, key) : Before(key, found);
      const bool worse = largest ? Before(key, found) : Before(found, key);
      if (better || (last && !worse)) {
        best = i;
        found = key;
      }
    }
    return best;
  }
};

absl::StatusOr<Prepared> ArgMaxMin(const NodeContext& context) {
  const std::optional<DataType> type = ComparedAs(context.InputType(0));
  const DataType index_type = context.OutputType();
  if (!type.has_value() || !IsIndexType(index_type)) return absl::UnimplementedError("not of this type");
  HALFTONE_ASSIGN_OR_RETURN(const int axis, AxisInput(context));
  const ArgProblem problem{Lines(context.InputDims(0), axis), context.node().op == OpKind::kArgMax,
                           context.node().attributes.Bool("select_last_index", false)};
  if (problem.lines.size == 0) return absl::UnimplementedError("an empty axis");
  auto step = std::make_unique<LoopStep>([problem, type, index_type](const Memory& memory) {
    WithType(*type, [&]<typename T>(T*) {
      ParallelFor(problem.lines.count(), problem.lines.grain(), [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          PutIndex(memory.outputs[0], index_type, i, problem.Find(memory.in<T>(0) + problem.lines.begin(i)));
        }
      });
    });
    return absl::OkStatus();
  });
  return Prepared{
      .step = std::move(step), .inputs = {{0, Placement{*type}}}, .outputs = {Placement{index_type}}, .kernel = "loop"};
}

// ---- cum_sum, cum_prod

struct CumProblem {
  Lines lines;
  bool product = false, exclusive = false, reverse = false;

  // Floats add up in f64, integers as unsigned numbers, which wrap around.
  template <typename T>
  void Line(const T* x, T* y) const {
    using Acc = std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, uint16_t>, double, uint64_t>;
    const auto read = [](const T* from) {
      if constexpr (std::is_same_v<Acc, double>) return static_cast<double>(Load(from));
      if constexpr (std::is_same_v<Acc, uint64_t>) return static_cast<uint64_t>(*from);
    };
    const auto write = [](T* to, Acc value) {
      if constexpr (std::is_same_v<Acc, double>) Store(to, static_cast<float>(value));
      if constexpr (std::is_same_v<Acc, uint64_t>) *to = static_cast<T>(value);
    };
    Acc total = product ? Acc{1} : Acc{0};
    for (int64_t step = 0; step < lines.size; ++step) {
      const int64_t i = (reverse ? lines.size - 1 - step : step) * lines.inner;
      const Acc value = read(x + i);
      if (exclusive) write(y + i, total);
      total = product ? total * value : total + value;
      if (!exclusive) write(y + i, total);
    }
  }
};

absl::StatusOr<Prepared> Cumulate(const NodeContext& context) {
  const std::optional<DataType> type = ComparedAs(context.InputType(0));
  if (!type.has_value() || *type == DataType::kBool) return absl::UnimplementedError("not of this type");
  HALFTONE_ASSIGN_OR_RETURN(const int axis, AxisInput(context));
  const Attributes& attributes = context.node().attributes;
  const CumProblem problem{Lines(context.InputDims(0), axis), context.node().op == OpKind::kCumProd,
                           attributes.Bool("exclusive", false), attributes.Bool("reverse", false)};
  auto step = std::make_unique<LoopStep>([problem, type](const Memory& memory) {
    WithType(*type, [&]<typename T>(T*) {
      ParallelFor(problem.lines.count(), problem.lines.grain(), [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          problem.Line(memory.in<T>(0) + problem.lines.begin(i), memory.out<T>(0) + problem.lines.begin(i));
        }
      });
    });
    return absl::OkStatus();
  });
  return Prepared{
      .step = std::move(step), .inputs = {{0, Placement{*type}}}, .outputs = {Placement{*type}}, .kernel = "loop"};
}

// ---- top_k

struct TopProblem {
  Lines lines, kept;
  bool largest = true;
  DataType index_type = DataType::kInt64;

  template <typename T>
  void Line(int64_t line, const T* x, T* values, std::byte* indices, std::vector<int64_t>& order) const {
    const T* const from = x + lines.begin(line);
    const auto key = [&](int64_t i) { return Key(from + i * lines.inner); };
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + kept.size, order.end(), [&](int64_t a, int64_t b) {
      const auto key_a = key(a), key_b = key(b);
      if (largest ? Before(key_b, key_a) : Before(key_a, key_b)) return true;
      return a < b && !(largest ? Before(key_a, key_b) : Before(key_b, key_a));
    });
    for (int64_t i = 0; i < kept.size; ++i) {
      const int64_t to = kept.begin(line) + i * kept.inner;
      if (values != nullptr) values[to] = from[order[i] * lines.inner];
      if (indices != nullptr) PutIndex(indices, index_type, to, order[i]);
    }
  }
};

absl::StatusOr<Prepared> TopK(const NodeContext& context) {
  const std::optional<DataType> type = ComparedAs(context.InputType(0));
  const bool has_indices = context.node().outputs.size() > 1 && context.node().outputs[1].valid();
  const DataType index_type = has_indices ? context.OutputType(1) : DataType::kInt64;
  if (!type.has_value() || !IsIndexType(index_type)) return absl::UnimplementedError("not of this type");
  if (!context.ConstantScalar(1).has_value()) return absl::UnimplementedError("k is not constant");
  HALFTONE_ASSIGN_OR_RETURN(const int axis, AxisOf(context, context.node().attributes.Int("axis", -1)));
  const std::vector<int64_t> dims = context.InputDims(0), out = context.OutputDims(0);
  if (dims.empty()) return absl::UnimplementedError("a scalar");
  if (out[axis] > dims[axis]) return absl::UnimplementedError("k is out of range");
  const TopProblem problem{Lines(dims, axis), Lines(out, axis), context.node().attributes.Bool("largest", true),
                           index_type};
  auto step = std::make_unique<LoopStep>([problem, type, has_indices](const Memory& memory) {
    WithType(*type, [&]<typename T>(T*) {
      ParallelFor(problem.lines.count(), problem.lines.grain(), [&](int64_t first, int64_t last) {
        std::vector<int64_t> order(problem.lines.size);
        for (int64_t i = first; i < last; ++i) {
          problem.Line(i, memory.in<T>(0), memory.out<T>(0), has_indices ? memory.outputs[1] : nullptr, order);
        }
      });
    });
    return absl::OkStatus();
  });
  Prepared prepared{
      .step = std::move(step), .inputs = {{0, Placement{*type}}}, .outputs = {Placement{*type}}, .kernel = "loop"};
  if (context.node().outputs.size() > 1) prepared.outputs.push_back(Placement{index_type});
  return prepared;
}

class AccumulateKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const OpKind op = context.node().op;
    if (op == OpKind::kTopK) return TopK(context);
    return op == OpKind::kArgMax || op == OpKind::kArgMin ? ArgMaxMin(context) : Cumulate(context);
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeAccumulateKernel() { return std::make_unique<AccumulateKernel>(); }

}  // namespace halftone::simd

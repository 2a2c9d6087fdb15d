// SPDX-License-Identifier: Apache-2.0
// Reductions of any kind, type and axes over plain memory: what oneDNN does not have. Sums are made in f64, integers
// wrap around. log_sum_exp takes two rounds: the maximum, then the sum.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
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

using enum OpKind;

constexpr int64_t kGrainElements = 1 << 15;
constexpr int kLanes = 16;         // sums side by side, so that the loop can be vectorized
constexpr int64_t kColumns = 512;  // results side by side where the last dimension is kept

// x as dimensions that are kept and reduced in turn; those of one kind side by side are one.
struct Problem {
  std::vector<int64_t> kept, kept_strides;        // but for the innermost one if it is kept
  std::vector<int64_t> reduced, reduced_strides;  // but for the innermost one if it is reduced
  int64_t results = 1;                            // product of kept
  int64_t rounds = 1;                             // product of reduced
  int64_t inner = 1;                              // innermost dimension, contiguous
  bool inner_reduced = true;
  int64_t per_result = 1;  // elements
};

Problem Describe(const std::vector<int64_t>& dims, const std::vector<bool>& marks) {
  struct Group {
    int64_t size, stride;
    bool reduced;
  };
  std::vector<Group> groups;
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] != 1) {
      const bool joins = !groups.empty() && groups.back().reduced == marks[i];
      if (joins) groups.back().size *= dims[i];
      if (!joins) groups.push_back({dims[i], stride, marks[i]});
    }
    stride *= dims[i];
  }
  Problem problem;
  if (!groups.empty()) {
    problem.inner = groups[0].size;
    problem.inner_reduced = groups[0].reduced;
  }
  for (size_t i = groups.size(); i-- > 1;) {
    const Group& group = groups[i];
    (group.reduced ? problem.reduced : problem.kept).push_back(group.size);
    (group.reduced ? problem.reduced_strides : problem.kept_strides).push_back(group.stride);
  }
  problem.results = Product(problem.kept);
  problem.rounds = Product(problem.reduced);
  problem.per_result = problem.rounds * (problem.inner_reduced ? problem.inner : 1);
  return problem;
}

// Offset of the element `index` counts to, row-major.
int64_t OffsetOf(int64_t index, const std::vector<int64_t>& dims, const std::vector<int64_t>& strides) {
  int64_t offset = 0;
  for (size_t i = dims.size(); i-- > 0;) {
    offset += index % dims[i] * strides[i];
    index /= dims[i];
  }
  return offset;
}

// ---- One element into a result. Acc is double or int64_t, which wraps around.

template <typename Acc>
HALFTONE_INLINE Acc Plus(Acc a, Acc b) {
  if constexpr (std::is_integral_v<Acc>) return static_cast<Acc>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  return a + b;
}
template <typename Acc>
HALFTONE_INLINE Acc Times(Acc a, Acc b) {
  if constexpr (std::is_integral_v<Acc>) return static_cast<Acc>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  return a * b;
}

template <OpKind kOp, typename Acc>
HALFTONE_INLINE Acc Start() {
  if constexpr (kOp == kReduceMax) {
    return std::numeric_limits<Acc>::has_infinity ? -std::numeric_limits<Acc>::infinity()
                                                  : std::numeric_limits<Acc>::min();
  } else if constexpr (kOp == kReduceMin) {
    return std::numeric_limits<Acc>::has_infinity ? std::numeric_limits<Acc>::infinity()
                                                  : std::numeric_limits<Acc>::max();
  } else {
    return kOp == kReduceProd ? Acc{1} : Acc{0};
  }
}

template <OpKind kOp, typename Acc>
HALFTONE_INLINE Acc Combine(Acc a, Acc v, Acc shift) {
  if constexpr (kOp == kReduceMax) {
    return a != a || a > v ? a : v;  // NaN stays
  } else if constexpr (kOp == kReduceMin) {
    return a != a || a < v ? a : v;
  } else if constexpr (kOp == kReduceProd) {
    return Times(a, v);
  } else if constexpr (kOp == kReduceL1) {
    return Plus(a, v < Acc{0} ? Times(v, Acc{-1}) : v);
  } else if constexpr (kOp == kReduceSumSquare) {
    return Plus(a, Times(v, v));
  } else if constexpr (kOp == kReduceLogSumExp) {
    return a + std::exp(v - shift);
  } else {
    return Plus(a, v);
  }
}

// Two partial results.
template <OpKind kOp, typename Acc>
HALFTONE_INLINE Acc Join(Acc a, Acc b) {
  constexpr bool kSums = kOp != kReduceMax && kOp != kReduceMin && kOp != kReduceProd;
  return Combine<kSums ? kReduceSum : kOp, Acc>(a, b, Acc{0});
}

template <typename T>
HALFTONE_INLINE double Read(const T* x, double*) {
  return Load(x);
}
HALFTONE_INLINE double Read(const double* x, double*) { return *x; }
template <typename T>
HALFTONE_INLINE int64_t Read(const T* x, int64_t*) {
  return static_cast<int64_t>(*x);
}

template <OpKind kOp, typename T, typename Acc>
HALFTONE_INLINE Acc FoldRow(const T* x, int64_t count, Acc start, Acc shift) {
  Acc lanes[kLanes];
  for (Acc& lane : lanes) lane = Start<kOp, Acc>();
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) {
      lanes[l] = Combine<kOp, Acc>(lanes[l], Read(x + i + l, static_cast<Acc*>(nullptr)), shift);
    }
  }
  for (const Acc lane : lanes) start = Join<kOp, Acc>(start, lane);
  for (; i < count; ++i) start = Combine<kOp, Acc>(start, Read(x + i, static_cast<Acc*>(nullptr)), shift);
  return start;
}

template <OpKind kOp, typename T, typename Acc>
HALFTONE_INLINE void FoldColumns(const T* x, int64_t count, Acc* y, const Acc* shift) {
  for (int64_t i = 0; i < count; ++i) {
    y[i] = Combine<kOp, Acc>(y[i], Read(x + i, static_cast<Acc*>(nullptr)), shift[i]);
  }
}

// Results [first, last) of the problem (rows of `inner` results where that is kept) into y, which holds the shifts of
// log_sum_exp beforehand.
template <OpKind kOp, typename T, typename Acc>
HALFTONE_INLINE void FoldRange(const Problem& p, const T* x, int64_t first, int64_t last, Acc* y) {
  for (int64_t row = first; row < last; ++row) {
    const int64_t base = OffsetOf(row, p.kept, p.kept_strides);
    if (p.inner_reduced) {
      const Acc shift = kOp == kReduceLogSumExp ? y[row] : Acc{0};
      Acc total = Start<kOp, Acc>();
      for (int64_t r = 0; r < p.rounds; ++r) {
        total = FoldRow<kOp>(x + base + OffsetOf(r, p.reduced, p.reduced_strides), p.inner, total, shift);
      }
      y[row] = total;
      continue;
    }
    for (int64_t begin = 0; begin < p.inner; begin += kColumns) {
      const int64_t count = std::min(kColumns, p.inner - begin);
      Acc shift[kColumns], total[kColumns];
      Acc* const out = y + row * p.inner + begin;
      for (int64_t i = 0; i < count; ++i) {
        shift[i] = kOp == kReduceLogSumExp ? out[i] : Acc{0};
        total[i] = Start<kOp, Acc>();
      }
      for (int64_t r = 0; r < p.rounds; ++r) {
        FoldColumns<kOp>(x + base + OffsetOf(r, p.reduced, p.reduced_strides) + begin, count, total, shift);
      }
      std::copy(total, total + count, out);
    }
  }
}

template <typename T, typename Acc>
HALFTONE_INLINE void FoldOp(OpKind op, const Problem& p, const T* x, int64_t first, int64_t last, Acc* y) {
  if (op == kReduceMax) return FoldRange<kReduceMax>(p, x, first, last, y);
  if (op == kReduceMin) return FoldRange<kReduceMin>(p, x, first, last, y);
  if (op == kReduceProd) return FoldRange<kReduceProd>(p, x, first, last, y);
  if (op == kReduceL1) return FoldRange<kReduceL1>(p, x, first, last, y);
  if (op == kReduceSumSquare) return FoldRange<kReduceSumSquare>(p, x, first, last, y);
  if constexpr (std::is_same_v<Acc, double>) {
    if (op == kReduceLogSumExp) return FoldRange<kReduceLogSumExp>(p, x, first, last, y);
  }
  FoldRange<kReduceSum>(p, x, first, last, y);
}

HALFTONE_SIMD void FoldFloats(OpKind op, const Problem& p, const float* x, int64_t first, int64_t last, double* y) {
  FoldOp(op, p, x, first, last, y);
}
HALFTONE_SIMD void FoldBf16(OpKind op, const Problem& p, const uint16_t* x, int64_t first, int64_t last, double* y) {
  FoldOp(op, p, x, first, last, y);
}

// ---- A whole reduction.

// op of the fold: what is left of l2, log_sum and mean is done at the end.
OpKind FoldOf(OpKind op) {
  if (op == kReduceL2) return kReduceSumSquare;
  if (op == kReduceAll) return kReduceMin;
  if (op == kReduceAny) return kReduceMax;
  return op == kReduceLogSum || op == kReduceMean ? kReduceSum : op;
}

double Finished(OpKind op, double y, double shift, int64_t per_result) {
  if (op == kReduceMean) return y / static_cast<double>(per_result);
  if (op == kReduceL2) return std::sqrt(y);
  if (op == kReduceLogSum) return std::log(y);
  return op == kReduceLogSumExp ? std::log(y) + shift : y;
}

struct Reduction {
  Problem problem;
  OpKind op = kReduceSum;
  int64_t count = 1;  // results

  template <typename Fold>
  void Each(const Fold& fold) const {
    const int64_t per_row = problem.per_result * (problem.inner_reduced ? 1 : problem.inner);
    ParallelFor(problem.results, std::max<int64_t>(1, kGrainElements / std::max<int64_t>(1, per_row)), fold);
  }

  // Into y: f32, bf16 or f64. scratch: twice `count` doubles.
  template <typename T, typename Fold>
  void Floats(const T* x, T* y, double* scratch, Fold fold) const {
    double* const shifts = scratch + count;
    if (op == kReduceLogSumExp) {
      Each([&](int64_t first, int64_t last) { fold(kReduceMax, problem, x, first, last, scratch); });
      for (int64_t i = 0; i < count; ++i) {
        shifts[i] = std::isfinite(scratch[i]) ? scratch[i] : 0;
        scratch[i] = shifts[i];
      }
    }
    Each([&](int64_t first, int64_t last) { fold(FoldOf(op), problem, x, first, last, scratch); });
    for (int64_t i = 0; i < count; ++i) {
      const double result = Finished(op, scratch[i], op == kReduceLogSumExp ? shifts[i] : 0, problem.per_result);
      if constexpr (std::is_same_v<T, double>) {
        y[i] = result;
      } else {
        Store(y + i, static_cast<float>(result));
      }
    }
  }

  template <typename T>
  void Integers(const T* x, T* y, int64_t* scratch) const {
    Each([&](int64_t first, int64_t last) { FoldOp(FoldOf(op), problem, x, first, last, scratch); });
    for (int64_t i = 0; i < count; ++i) {
      y[i] = static_cast<T>(op == kReduceMean ? scratch[i] / problem.per_result : scratch[i]);
    }
  }

  void Run(DataType type, const std::byte* x, std::byte* y, std::byte* scratch) const {
    double* const doubles = reinterpret_cast<double*>(scratch);
    const auto integers = [&]<typename T>(T*) {
      Integers(reinterpret_cast<const T*>(x), reinterpret_cast<T*>(y), reinterpret_cast<int64_t*>(scratch));
    };
    if (type == DataType::kFloat32) {
      Floats(reinterpret_cast<const float*>(x), reinterpret_cast<float*>(y), doubles, FoldFloats);
    } else if (type == DataType::kBFloat16) {
      Floats(reinterpret_cast<const uint16_t*>(x), reinterpret_cast<uint16_t*>(y), doubles, FoldBf16);
    } else if (type == DataType::kFloat64) {
      Floats(reinterpret_cast<const double*>(x), reinterpret_cast<double*>(y), doubles,
             [](OpKind fold, const Problem& p, const double* from, int64_t first, int64_t last, double* to) {
               FoldOp(fold, p, from, first, last, to);
             });
    } else if (type == DataType::kInt64) {
      integers(static_cast<int64_t*>(nullptr));
    } else if (type == DataType::kInt32) {
      integers(static_cast<int32_t*>(nullptr));
    } else if (type == DataType::kInt8) {
      integers(static_cast<int8_t*>(nullptr));
    } else {  // u8 and bool
      integers(static_cast<uint8_t*>(nullptr));
    }
  }
};

bool IsComputed(OpKind op, DataType type) {
  if (type == DataType::kFloat32 || type == DataType::kBFloat16 || type == DataType::kFloat64) {
    return op != kReduceAll && op != kReduceAny;
  }
  if (op == kReduceL2 || op == kReduceLogSum || op == kReduceLogSumExp) return false;
  if (type == DataType::kBool) return FoldOf(op) == kReduceMax || FoldOf(op) == kReduceMin;
  return type == DataType::kInt64 || type == DataType::kInt32 || type == DataType::kInt8 || type == DataType::kUInt8;
}

class ReduceKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const OpKind op = context.node().op;
    const DataType given = context.InputType(0);
    const DataType type = given == DataType::kFloat16 ? DataType::kFloat32 : given;
    if (!IsComputed(op, type) || context.OutputType() != given) return absl::UnimplementedError("not of this type");
    const std::vector<int64_t> dims = context.InputDims(0);
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<bool> marks, ReducedAxes(context, dims.size()));
    Reduction reduction{Describe(dims, marks), op};
    reduction.count = Product(context.OutputDims());
    if (Product(dims) == 0) return absl::UnimplementedError("a reduction of nothing");
    auto step = std::make_unique<LoopStep>([reduction, type](const Memory& memory) {
      reduction.Run(type, memory.inputs[0], memory.outputs[0], memory.scratch);
      return absl::OkStatus();
    });
    return Prepared{.step = std::move(step),
                    .inputs = {{0, Placement{type}}},
                    .outputs = {Placement{type}},
                    .scratch_bytes = static_cast<size_t>(2 * reduction.count) * sizeof(double),
                    .kernel = "loop"};
  }

 private:
  static absl::StatusOr<std::vector<bool>> ReducedAxes(const NodeContext& context, size_t rank) {
    std::vector<bool> marks(rank, false);
    std::vector<int64_t> axes;
    if (context.HasInput(1)) {
      const std::optional<std::vector<int64_t>> given = context.ConstantInts(1);
      if (!given.has_value()) return absl::UnimplementedError("the axes are not constant");
      axes = *given;
    }
    for (const int64_t axis : axes) marks[axis < 0 ? axis + static_cast<int64_t>(rank) : axis] = true;
    if (axes.empty()) marks.assign(rank, !context.node().attributes.Bool("noop_with_empty_axes", false));
    return marks;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeReduceKernel() { return std::make_unique<ReduceKernel>(); }

}  // namespace halftone::simd

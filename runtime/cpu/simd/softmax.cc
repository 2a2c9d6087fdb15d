// SPDX-License-Identifier: Apache-2.0
// softmax over the last axis of scale * x + addend: the scale and the mask of an attention cost no pass of
// their own. In f32 for every type, each row while it is in the nearest cache.
#include <algorithm>
#include <limits>

#include "base/status.h"
#include "runtime/cpu/simd/kernels.h"
#include "runtime/cpu/simd/loop_step.h"
#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/simd.h"
#include "runtime/cpu/simd/vector_math.h"

namespace halftone::simd {
namespace {

using Dims = std::vector<int64_t>;

constexpr int64_t kGrainElements = 1 << 13;
constexpr int64_t kMostBlockRows = 4, kBlockElements = 2048;  // 8 KB of numbers
constexpr int kAddend = 1;

struct Row {
  int64_t size = 0;
  float scale = 1;
  bool single = false;  // the addend is one number for the whole row
  int64_t block_rows = 1;
};

// exp(x), and 0 where that is no normal number.
HALFTONE_INLINE float ExpOrZero(float x) {
  const float e = ExpOf(x);
  return x < -87.3f ? 0.0f : e;
}

// numbers = scale * x + addend; gives the largest. `addend` may be null.
template <typename T>
HALFTONE_INLINE float ScaleRow(const Row& row, const T* x, const T* addend, float* numbers) {
  const int64_t n = row.size;
  const float scale = row.scale;
  float largest = -std::numeric_limits<float>::infinity();
  if (addend == nullptr || row.single) {
    const float offset = addend == nullptr ? 0.0f : Load(addend);
#pragma omp simd reduction(max : largest)
    for (int64_t i = 0; i < n; ++i) {
      const float number = Load(x + i) * scale + offset;
      numbers[i] = number;
      largest = number > largest ? number : largest;
    }
  } else {
#pragma omp simd reduction(max : largest)
    for (int64_t i = 0; i < n; ++i) {
      const float number = Load(x + i) * scale + Load(addend + i);
      numbers[i] = number;
      largest = number > largest ? number : largest;
    }
  }
  return largest;
}

// numbers = exp(numbers - largest); gives their sum.
HALFTONE_INLINE float ExpRow(int64_t n, float largest, float* numbers) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) {
    const float e = ExpOrZero(numbers[i] - largest);
    numbers[i] = e;
    sum += e;
  }
  return sum;
}

// Rows [first, last); offsets[r]: where the addend of row r begins; `numbers`: room for a block of rows. Each of the
// three loops goes over the rows of a block before the next one begins: a short row waits for its maximum and for its
// sum, many rows wait together.
template <typename T, typename Y>
HALFTONE_INLINE void SoftmaxRows(const Row& row, const T* x, const T* addend, const int64_t* offsets, Y* y,
                                 float* numbers, int64_t first, int64_t last) {
  const int64_t n = row.size;
  float of_row[kMostBlockRows];  // the largest, then the sum
  for (int64_t r = first; r < last; r += row.block_rows) {
    const int64_t count = std::min(row.block_rows, last - r);
    for (int64_t k = 0; k < count; ++k) {
      const T* with = addend == nullptr ? nullptr : addend + offsets[r + k];
      of_row[k] = ScaleRow(row, x + (r + k) * n, with, numbers + k * n);
    }
    for (int64_t k = 0; k < count; ++k) of_row[k] = ExpRow(n, of_row[k], numbers + k * n);
    for (int64_t k = 0; k < count; ++k) {
      const float inverse = 1.0f / of_row[k];
      Y* to = y + (r + k) * n;
      const float* from = numbers + k * n;
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) Store(to + i, from[i] * inverse);
    }
  }
}

template <typename T, typename Y = T>
using RowsFunction = void (*)(const Row&, const T*, const T*, const int64_t*, Y*, float*, int64_t, int64_t);
struct Functions {
  RowsFunction<float> f32;
  RowsFunction<uint16_t> bf16;
  RowsFunction<uint16_t, float> bf16_to_f32;
};

#define HALFTONE_FOR_CPU(name, attribute)                                                                              \
  struct name {                                                                                                        \
    attribute static void F32(const Row& row, const float* x, const float* a, const int64_t* at, float* y, float* n,   \
                              int64_t first, int64_t last) {                                                           \
      SoftmaxRows(row, x, a, at, y, n, first, last);                                                                   \
    }                                                                                                                  \
    attribute static void Bf16(const Row& row, const uint16_t* x, const uint16_t* a, const int64_t* at, uint16_t* y,   \
                               float* n, int64_t first, int64_t last) {                                                \
      SoftmaxRows(row, x, a, at, y, n, first, last);                                                                   \
    }                                                                                                                  \
    attribute static void Bf16ToF32(const Row& row, const uint16_t* x, const uint16_t* a, const int64_t* at, float* y, \
                                    float* n, int64_t first, int64_t last) {                                           \
      SoftmaxRows(row, x, a, at, y, n, first, last);                                                                   \
    }                                                                                                                  \
    static constexpr Functions kAll = {F32, Bf16, Bf16ToF32};                                                          \
  };

HALFTONE_FOR_CPU(Avx512, HALFTONE_FOR_AVX512)
HALFTONE_FOR_CPU(Avx2, HALFTONE_FOR_AVX2)
HALFTONE_FOR_CPU(Plain, )

const Functions& ForCpu() {
  static const Functions& functions = ForThisCpu(Avx512::kAll, Avx2::kAll, Plain::kAll);
  return functions;
}

// Where the addend of each row begins; `dims` without the last dimension.
absl::StatusOr<std::vector<int64_t>> AddendOffsets(const Dims& dims, const Dims& addend) {
  if (addend.size() > dims.size()) return absl::InvalidArgumentError("the addend has more dimensions than x");
  const size_t missing = dims.size() - addend.size();
  std::vector<int64_t> offsets = {0};
  int64_t stride = 1;  // of the addend
  std::vector<int64_t> strides(dims.size(), 0);
  for (size_t i = addend.size(); i-- > 0;) {
    if (addend[i] != 1 && addend[i] != dims[i + missing])
      return absl::InvalidArgumentError("the addend is not broadcast to x");
    if (addend[i] != 1) strides[i + missing] = stride;
    stride *= addend[i];
  }
  for (size_t i = 0; i + 1 < dims.size(); ++i) {
    std::vector<int64_t> next;
    next.reserve(offsets.size() * static_cast<size_t>(dims[i]));
    for (const int64_t offset : offsets) {
      for (int64_t k = 0; k < dims[i]; ++k) next.push_back(offset + k * strides[i]);
    }
    offsets = std::move(next);
  }
  return offsets;
}

class SoftmaxKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const Attributes& attributes = context.node().attributes;
    const std::optional<DataType> type = ComputedType(context.InputType(0));
    if (!type.has_value()) return absl::UnimplementedError("for floats only");
    const bool mixed = *type == DataType::kBFloat16 && context.OutputType() == DataType::kFloat32;
    if (!mixed && context.OutputType() != context.InputType(0))
      return absl::UnimplementedError("a result of another type");
    const Dims dims = context.InputDims(0);
    const int64_t axis = attributes.Int("axis", -1), rank = static_cast<int64_t>(dims.size());
    if (rank == 0 || (axis != -1 && axis != rank - 1)) return absl::UnimplementedError("not over the last axis");
    Row row{.size = dims.back(), .scale = attributes.Float("scale", 1)};
    int64_t rows = 1;
    for (int64_t i = 0; i + 1 < rank; ++i) rows *= dims[i];
    if (rows == 0 || row.size == 0) return absl::UnimplementedError("nothing to compute");
    const bool has_addend = context.HasInput(kAddend);
    if (!has_addend && row.scale == 1) return absl::UnimplementedError("alone: oneDNN's is as fast");

    Prepared prepared{
        .inputs = {{0, Placement{*type}}}, .outputs = {Placement{*type}}, .may_overwrite = 0, .kernel = "softmax loop"};
    if (mixed) prepared.outputs[0].type = DataType::kFloat32;
    if (mixed) prepared.may_overwrite = -1;
    std::vector<int64_t> offsets;
    if (has_addend) {
      const Dims addend = context.InputDims(kAddend);
      HALFTONE_ASSIGN_OR_RETURN(offsets, AddendOffsets(dims, addend));
      row.single = addend.empty() || addend.back() == 1;
      prepared.inputs.push_back({kAddend, Placement{*type}});
    }
    row.block_rows = std::clamp<int64_t>(kBlockElements / row.size, 1, kMostBlockRows);
    const bool bf16 = *type == DataType::kBFloat16;
    prepared.step = std::make_unique<LoopStep>([=, offsets = std::move(offsets)](const Memory& m) {
      ParallelFor(rows, kGrainElements / row.size + 1, [&](int64_t first, int64_t last) {
        std::vector<float> numbers(row.block_rows * row.size);
        if (mixed) {
          ForCpu().bf16_to_f32(row, m.in<uint16_t>(0), has_addend ? m.in<uint16_t>(1) : nullptr, offsets.data(),
                               m.out<float>(0), numbers.data(), first, last);
        } else if (bf16) {
          ForCpu().bf16(row, m.in<uint16_t>(0), has_addend ? m.in<uint16_t>(1) : nullptr, offsets.data(),
                        m.out<uint16_t>(0), numbers.data(), first, last);
        } else {
          ForCpu().f32(row, m.in<float>(0), has_addend ? m.in<float>(1) : nullptr, offsets.data(), m.out<float>(0),
                       numbers.data(), first, last);
        }
      });
      return absl::OkStatus();
    });
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeSoftmaxKernel() { return std::make_unique<SoftmaxKernel>(); }

}  // namespace halftone::simd

// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/scaled_attention.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "runtime/cpu/simd/attention_panels.h"
#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/round_floats.h"
#include "runtime/cpu/simd/simd.h"
#include "runtime/cpu/simd/vectors.h"

namespace halftone::simd {
namespace {

constexpr int64_t kLanes = 16;
constexpr int64_t kScoreBytes = 64 << 10;  // of a block: they stay in the nearest caches
constexpr int64_t kPassRows = 6;           // that BlockMatMul takes at once
constexpr int64_t kMostRows = 48;

// What depends on how many lanes a vector of type V has.
template <typename V>
struct Lanes {
  static constexpr int kCount = kLanesOf<V>;
  using Halves [[gnu::vector_size(2 * kCount)]] = uint16_t;

  static HALFTONE_INLINE V LoadAs(const float* x) { return LoadFloats<V>(x); }
  static HALFTONE_INLINE V LoadAs(const uint16_t* x) {
    Halves halves;
    std::memcpy(&halves, x, sizeof(halves));
    return std::bit_cast<V>(__builtin_convertvector(halves, WordsOf<V>) << 16);
  }

  static HALFTONE_INLINE V Larger(V a, V b) { return a > b ? a : b; }
  // Each lane with that `distance` beside it.
  template <int kDistance>
  static HALFTONE_INLINE V Beside(V v) {
    return [v]<int... kLane>(std::integer_sequence<int, kLane...>) HALFTONE_INLINE_LAMBDA {
      return __builtin_shufflevector(v, v, (kLane ^ kDistance)...);
    }(std::make_integer_sequence<int, kCount>());
  }
  static HALFTONE_INLINE float LargestOf(V v) {
    if constexpr (kCount > 8) v = Larger(v, Beside<8>(v));
    if constexpr (kCount > 4) v = Larger(v, Beside<4>(v));
    v = Larger(v, Beside<2>(v));
    return Larger(v, Beside<1>(v))[0];
  }
  static HALFTONE_INLINE float SumOf(V v) {
    if constexpr (kCount > 8) v += Beside<8>(v);
    if constexpr (kCount > 4) v += Beside<4>(v);
    v += Beside<2>(v);
    return (v + Beside<1>(v))[0];
  }
};

// scores = scale * scores + mask, and after the last of `count` numbers minus infinity up to a whole vector; gives
// the largest. A mask of step 0 is one number.
template <typename V, typename T>
HALFTONE_INLINE float ScaleRow(float* scores, int64_t count, float scale, const T* mask, int64_t mask_step) {
  using L = Lanes<V>;
  const V none = V{} - std::numeric_limits<float>::infinity();
  const float offset = mask != nullptr && mask_step == 0 ? Load(mask) : 0.0f;
  const bool added = mask != nullptr && mask_step != 0;
  const int64_t whole = count / L::kCount * L::kCount;
  V largest = none;
  if (added) {
    for (int64_t i = 0; i < whole; i += L::kCount) {
      const V v = LoadFloats<V>(scores + i) * scale + L::LoadAs(mask + i);
      StoreFloats(scores + i, v);
      largest = L::Larger(v, largest);
    }
  } else {
    for (int64_t i = 0; i < whole; i += L::kCount) {
      const V v = LoadFloats<V>(scores + i) * scale + offset;
      StoreFloats(scores + i, v);
      largest = L::Larger(v, largest);
    }
  }
  if (whole < count) {
    V rest = LoadFloats<V>(scores + whole) * scale + offset;  // products come in whole vectors
    if (added) {
      float addends[L::kCount] = {};
      for (int64_t i = whole; i < count; ++i) addends[i - whole] = Load(mask + i);
      rest += LoadFloats<V>(addends);
    }
    IntsOf<V> lanes;
    for (int i = 0; i < L::kCount; ++i) lanes[i] = i;
    rest = lanes < static_cast<int>(count - whole) ? rest : none;
    StoreFloats(scores + whole, rest);
    largest = L::Larger(rest, largest);
  }
  return L::LargestOf(largest);
}

// scores = exp(scores - largest), a whole number of vectors; gives their sum. kRough: they will be bf16.
template <typename V, bool kRough>
HALFTONE_INLINE float ExpRow(float* scores, int64_t count, float largest) {
  V sum = {};
  for (int64_t i = 0; i < count; i += kLanesOf<V>) {
    const V e = Exp2<kRough>((LoadFloats<V>(scores + i) - largest) * kLog2E);
    StoreFloats(scores + i, e);
    sum += e;
  }
  return Lanes<V>::SumOf(sum);
}

struct Rows {
  int64_t count, keys, stride;  // of scores
  float scale;
  int64_t mask_row, mask_step;
};

// The softmax of each row but for its sum, whose inverse goes to `inverses`; in place, and in bf16 where that is asked.
template <typename V, typename T>
HALFTONE_INLINE void SoftmaxRows(const Rows& rows, float* scores, const T* mask, uint16_t* bf16, float* inverses) {
  const auto round = RoundFunctionsForThisCpu().front().to_bf16;
  for (int64_t r = 0; r < rows.count; ++r) {
    float* row = scores + r * rows.stride;
    const T* with = mask == nullptr ? nullptr : mask + r * rows.mask_row;
    const float largest = ScaleRow<V>(row, rows.keys, rows.scale, with, rows.mask_step);
    const int64_t vectors = (rows.keys + kLanesOf<V> - 1) / kLanesOf<V>;
    const int64_t count = vectors * kLanesOf<V>;
    if (bf16 == nullptr) {
      inverses[r] = 1.0f / ExpRow<V, false>(row, count, largest);
    } else {
      inverses[r] = 1.0f / ExpRow<V, true>(row, count, largest);
      round(row, bf16 + r * rows.stride, count);
    }
  }
}

// y = tile [rows][64] times the factor of each row, `columns` of them.
template <typename V>
HALFTONE_INLINE void StoreRows(const float* tile, const float* factors, int64_t rows, int64_t columns, float* y,
                               int64_t y_row) {
  const int64_t whole = columns / kLanesOf<V> * kLanesOf<V>;
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = tile + r * kPanelWidth;
    float* to = y + r * y_row;
    for (int64_t i = 0; i < whole; i += kLanesOf<V>) StoreFloats(to + i, LoadFloats<V>(from + i) * factors[r]);
    for (int64_t i = whole; i < columns; ++i) to[i] = from[i] * factors[r];
  }
}
template <typename V>
HALFTONE_INLINE void StoreRows(const float* tile, const float* factors, int64_t rows, int64_t columns, uint16_t* y,
                               int64_t y_row) {
  const auto round = RoundFunctionsForThisCpu().front().to_bf16;
  float numbers[kPanelWidth];
  for (int64_t r = 0; r < rows; ++r) {
    StoreRows<V>(tile + r * kPanelWidth, factors + r, 1, columns, numbers, 0);
    round(numbers, y + r * y_row, columns);
  }
}

// For one kind of CPU. Softmax: by the type of the mask.
struct Functions {
  void (*softmax_f32)(const Rows&, float*, const float*, float*);
  void (*softmax_bf16)(const Rows&, float*, const uint16_t*, uint16_t*, float*);
  void (*store_f32)(const float*, const float*, int64_t, int64_t, float*, int64_t);
  void (*store_bf16)(const float*, const float*, int64_t, int64_t, uint16_t*, int64_t);
};

#define HALFTONE_FOR_CPU(name, lanes, attribute)                                                                      \
  struct name {                                                                                                       \
    using V = Vectors<lanes>::Floats;                                                                                 \
    attribute static void F32(const Rows& r, float* s, const float* m, float* i) {                                    \
      SoftmaxRows<V>(r, s, m, nullptr, i);                                                                            \
    }                                                                                                                 \
    attribute static void Bf16(const Rows& r, float* s, const uint16_t* m, uint16_t* to, float* i) {                  \
      SoftmaxRows<V>(r, s, m, to, i);                                                                                 \
    }                                                                                                                 \
    attribute static void StoreF32(const float* t, const float* f, int64_t r, int64_t c, float* y, int64_t row) {     \
      StoreRows<V>(t, f, r, c, y, row);                                                                               \
    }                                                                                                                 \
    attribute static void StoreBf16(const float* t, const float* f, int64_t r, int64_t c, uint16_t* y, int64_t row) { \
      StoreRows<V>(t, f, r, c, y, row);                                                                               \
    }                                                                                                                 \
    static constexpr Functions kAll = {F32, Bf16, StoreF32, StoreBf16};                                               \
  };

HALFTONE_FOR_CPU(Avx512, 16, HALFTONE_FOR_AVX512)
HALFTONE_FOR_CPU(Avx2, 8, HALFTONE_FOR_AVX2)
HALFTONE_FOR_CPU(Plain, 4, )

const Functions& ForCpu() {
  static const Functions& functions = ForThisCpu(Avx512::kAll, Avx2::kAll, Plain::kAll);
  return functions;
}

const std::byte* At(const std::byte* base, int64_t element, DataType type) {
  return base + element * static_cast<int64_t>(ElementSize(type));
}

}  // namespace

// Where the panels of a matrix are.
struct ScaledAttention::Panels {
  const std::byte* from = nullptr;
  int64_t panel_bytes = 0, step_bytes = 0;
};

// What one thread works on, in its scratch memory.
struct ScaledAttention::Thread {
  std::byte *key_memory, *value_memory;  // for panels
  std::byte* queries;                    // of a block, where they are not multiplied in the layouts they have
  float* scores;                         // of a block; then the weights in f32
  std::byte* weights;                    // in bf16
  float* tile;                           // [rows][64]
  float* inverses;                       // of the sums of rows
  size_t bytes = 0;
  Panels keys, values;
  int64_t keys_of = -1, values_of = -1;  // where those in panels begin
};

// Where the matrix is one panel after the other already, it is used without a copy.
ScaledAttention::Panels ScaledAttention::PanelsFor(const MatrixView& matrix, std::byte* memory) const {
  constexpr int64_t kWidestRow = 128;  // else the steps of a panel meet in few places of the nearest cache
  const bool lies = matrix.type == DataType::kFloat32 && matrix.column_stride == 1 && matrix.columns % kLanes == 0 &&
                    matrix.row_stride % kLanes == 0 && matrix.row_stride <= kWidestRow &&
                    reinterpret_cast<uintptr_t>(matrix.from) % kPanelWidth == 0;
  if (lies) {
    return {static_cast<const std::byte*>(matrix.from), kPanelStepBytes,
            matrix.row_stride * static_cast<int64_t>(sizeof(float))};
  }
  PackPanels(matrix, matmul_, memory);
  return {memory, StepsOf(matrix.rows, matmul_) * kPanelStepBytes, kPanelStepBytes};
}

ScaledAttention::Thread ScaledAttention::ThreadAt(std::byte* scratch) const {
  Thread thread{};
  const auto part = [&](int64_t bytes) {
    std::byte* begin = scratch + thread.bytes;
    thread.bytes += static_cast<size_t>((bytes + 63) / 64 * 64);
    return begin;
  };
  const bool bf16 = matmul_.type == DataType::kBFloat16;
  thread.keys_of = thread.values_of = -1;
  thread.key_memory = part(PanelBytes(shape_.depth, shape_.keys, matmul_));
  thread.value_memory = part(PanelBytes(shape_.keys, shape_.width, matmul_));
  thread.queries = part(rows_ * depth_steps_ * 4);
  thread.scores = reinterpret_cast<float*>(part(rows_ * score_stride_ * 4));
  thread.weights = part(bf16 ? rows_ * score_stride_ * 2 : 0);
  thread.tile = reinterpret_cast<float*>(part(rows_ * kPanelWidth * 4));
  thread.inverses = reinterpret_cast<float*>(part(rows_ * 4));
  return thread;
}

ScaledAttention::ScaledAttention(const AttentionShape& shape, std::vector<AttentionItem> items)
    : shape_(shape), items_(std::move(items)), matmul_(BlockMatMulFor(shape.type)) {
  depth_steps_ = StepsOf(shape.depth, matmul_);
  key_steps_ = StepsOf(shape.keys, matmul_);
  score_stride_ = PanelsOf(shape.keys) * kPanelWidth;
  const int64_t fitting = kScoreBytes / (score_stride_ * 4) / kPassRows * kPassRows;
  rows_ = std::min(shape.queries, std::clamp(fitting, kPassRows, kMostRows));
  scratch_bytes_ = ThreadAt(nullptr).bytes;
}

// Keys and values, which consecutive blocks share.
void ScaledAttention::PackItem(const Operands& operands, const AttentionItem& item, Thread& t) const {
  const AttentionShape& s = shape_;
  if (t.keys_of != item.k) {
    t.keys = PanelsFor({At(operands.k, item.k, s.type), s.type, s.depth, s.keys, s.k_column, s.k_row}, t.key_memory);
    t.keys_of = item.k;
  }
  if (t.values_of != item.v) {
    t.values = PanelsFor({At(operands.v, item.v, s.type), s.type, s.keys, s.width, s.v_row, 1}, t.value_memory);
    t.values_of = item.v;
  }
}

void ScaledAttention::Scores(const Operands& operands, const Block& block, const Thread& t) const {
  const AttentionShape& s = shape_;
  const std::byte* queries = At(operands.q, block.item.q + block.first * s.q_row, s.type);
  int64_t q_row = s.q_row;
  const bool unmodified = matmul_.type == s.type && s.depth % matmul_.depth == 0;
  if (!unmodified) {
    PackRows({queries, s.type, block.count, s.depth, s.q_row, 1}, matmul_, t.queries);
    queries = t.queries;
    q_row = depth_steps_ * matmul_.depth;
  }
  for (int64_t column = 0; column < s.keys; column += kPanelWidth) {
    matmul_.multiply({.x = queries,
                      .x_stride = q_row,
                      .rows = block.count,
                      .panel = t.keys.from + column / kPanelWidth * t.keys.panel_bytes,
                      .step_bytes = t.keys.step_bytes,
                      .steps = depth_steps_,
                      .columns = std::min(kPanelWidth, s.keys - column),
                      .to = t.scores + column,
                      .to_stride = score_stride_});
  }
}

void ScaledAttention::Softmax(const Operands& operands, const Block& block, const Thread& t) const {
  const AttentionShape& s = shape_;
  const Rows rows{block.count, s.keys, score_stride_, s.scale, s.mask_row, s.mask_column};
  const std::byte* with = s.has_mask ? At(operands.mask, block.item.mask + block.first * s.mask_row, s.type) : nullptr;
  if (s.type == DataType::kFloat32) {
    ForCpu().softmax_f32(rows, t.scores, reinterpret_cast<const float*>(with), t.inverses);
    return;
  }
  const bool bf16 = matmul_.type == DataType::kBFloat16;  // bf16 may be multiplied in f32
  ForCpu().softmax_bf16(rows, t.scores, reinterpret_cast<const uint16_t*>(with),
                        bf16 ? reinterpret_cast<uint16_t*>(t.weights) : nullptr, t.inverses);
}

void ScaledAttention::Values(const Operands& operands, const Block& block, const Thread& t) const {
  const AttentionShape& s = shape_;
  const Functions& functions = ForCpu();
  const bool bf16 = matmul_.type == DataType::kBFloat16;
  for (int64_t column = 0; column < s.width; column += kPanelWidth) {
    const int64_t columns = std::min(kPanelWidth, s.width - column);
    matmul_.multiply({.x = bf16 ? static_cast<const void*>(t.weights) : t.scores,
                      .x_stride = score_stride_,
                      .rows = block.count,
                      .panel = t.values.from + column / kPanelWidth * t.values.panel_bytes,
                      .step_bytes = t.values.step_bytes,
                      .steps = key_steps_,
                      .columns = columns,
                      .to = t.tile,
                      .to_stride = kPanelWidth});
    std::byte* to = const_cast<std::byte*>(At(operands.y, block.item.y + block.first * s.y_row + column, s.type));
    if (s.type == DataType::kFloat32) {
      functions.store_f32(t.tile, t.inverses, block.count, columns, reinterpret_cast<float*>(to), s.y_row);
    } else {
      functions.store_bf16(t.tile, t.inverses, block.count, columns, reinterpret_cast<uint16_t*>(to), s.y_row);
    }
  }
}

void ScaledAttention::Run(const std::byte* q, const std::byte* k, const std::byte* v, const std::byte* mask,
                          std::byte* y, std::byte* scratch) const {
  const Operands operands{q, k, v, mask, y};
  const int64_t blocks = (shape_.queries + rows_ - 1) / rows_;
  ParallelFor(static_cast<int64_t>(items_.size()) * blocks, 1, [&](int64_t first, int64_t last) {
    Thread thread = ThreadAt(scratch + static_cast<size_t>(omp_get_thread_num()) * scratch_bytes_);
    for (int64_t i = first; i < last; ++i) {
      const int64_t row = i % blocks * rows_;
      const Block block{items_[i / blocks], row, std::min(rows_, shape_.queries - row)};
      PackItem(operands, block.item, thread);
      Scores(operands, block, thread);
      Softmax(operands, block, thread);
      Values(operands, block, thread);
    }
  });
}

}  // namespace halftone::simd

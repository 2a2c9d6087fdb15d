// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/int8_matmul_avx2.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/status.h"
#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/vector_math.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define HALFTONE_PART HALFTONE_FOR_AVX2 inline __attribute__((always_inline))

namespace halftone::simd {
namespace {

// By a panel of columns: with their sums all of an instruction's operands stay in the 16 registers.
constexpr int kRows = 6;
constexpr int64_t kRowsOfBlock =
    4 * kRows;                       // that are widened at once and read a panel while it is in the nearest cache
constexpr int64_t kGrain = 1 << 18;  // multiplications that are worth a thread

size_t Aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

HALFTONE_PART __m256i Vector(const int16_t* x) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)); }

// What is done with the sums of some rows of a panel.
struct Tile {
  const int16_t* a = nullptr;
  int64_t a_stride = 0;
  const int16_t* panel = nullptr;
  int64_t pairs = 0;
  const float* factors = nullptr;  // 16
  const float* offsets = nullptr;
  float* numbers = nullptr;  // 16 a row; null: bytes
  int64_t numbers_stride = 0;
  uint8_t* bytes = nullptr;
  int64_t bytes_stride = 0;
  int64_t columns = kInt8PanelColumns;  // that are written
  bool is_signed = false;
  int16_t zero_point = 0;
  float low = 0, high = 0;  // bounds less the zero point
};

// sum += a b, of pairs. Not as intrinsics: GCC would multiply for all rows before it adds, and then it keeps sums in
// memory.
HALFTONE_PART void AddProducts(__m256i a, __m256i b, __m256i& sum) {
  __m256i product;
  asm volatile("vpmaddwd %[b], %[a], %[product]\n\tvpaddd %[product], %[sum], %[sum]"
               : [sum] "+x"(sum), [product] "=&x"(product)
               : [a] "x"(a), [b] "x"(b));
}

template <int R>
HALFTONE_PART void AddPairs(const Tile& t, __m256i (&sums)[R][2]) {
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) sums[r][0] = sums[r][1] = _mm256_setzero_si256();
  const int16_t* a[R];
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) a[r] = t.a + r * t.a_stride;
  const int16_t* panel = t.panel;
  for (int64_t k = 0; k < t.pairs; ++k, panel += 2 * kInt8PanelColumns) {
    const __m256i first = Vector(panel), second = Vector(panel + kInt8PanelColumns);
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) {
      int32_t pair;
      std::memcpy(&pair, a[r] + 2 * k, sizeof(pair));
      const __m256i both = _mm256_set1_epi32(pair);
      AddProducts(both, first, sums[r][0]);
      AddProducts(both, second, sums[r][1]);
    }
  }
}

HALFTONE_PART void WriteBytes(const Tile& t, uint8_t* to, __m256 first, __m256 second) {
  const __m256 low = _mm256_set1_ps(t.low), high = _mm256_set1_ps(t.high);
  first = _mm256_min_ps(_mm256_max_ps(first, low), high);
  second = _mm256_min_ps(_mm256_max_ps(second, low), high);
  const __m256i packed = _mm256_packs_epi32(_mm256_cvtps_epi32(first), _mm256_cvtps_epi32(second));
  const __m256i words = _mm256_add_epi16(_mm256_permute4x64_epi64(packed, 0xd8), _mm256_set1_epi16(t.zero_point));
  const __m256i bytes = t.is_signed ? _mm256_packs_epi16(words, words) : _mm256_packus_epi16(words, words);
  const __m128i ordered = _mm256_castsi256_si128(_mm256_permute4x64_epi64(bytes, 0x08));
  if (t.columns == kInt8PanelColumns) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), ordered);
    return;
  }
  alignas(16) uint8_t all[kInt8PanelColumns];
  _mm_store_si128(reinterpret_cast<__m128i*>(all), ordered);
  std::memcpy(to, all, static_cast<size_t>(t.columns));
}

template <int R>
HALFTONE_FOR_AVX2 void RunTile(const Tile& t) {
  __m256i sums[R][2];
  AddPairs<R>(t, sums);
  const __m256 factors[2] = {_mm256_loadu_ps(t.factors), _mm256_loadu_ps(t.factors + 8)};
  const __m256 offsets[2] = {_mm256_loadu_ps(t.offsets), _mm256_loadu_ps(t.offsets + 8)};
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) {
    const __m256 first = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums[r][0]), factors[0], offsets[0]);
    const __m256 second = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums[r][1]), factors[1], offsets[1]);
    if (t.numbers == nullptr) {
      WriteBytes(t, t.bytes + r * t.bytes_stride, first, second);
      continue;
    }
    _mm256_storeu_ps(t.numbers + r * t.numbers_stride, first);
    _mm256_storeu_ps(t.numbers + r * t.numbers_stride + 8, second);
  }
}

using TileFunction = void (*)(const Tile&);
constexpr TileFunction kTiles[kRows + 1] = {nullptr,    RunTile<1>, RunTile<2>, RunTile<3>,
                                            RunTile<4>, RunTile<5>, RunTile<6>};

class Avx2Int8MatMul final : public Int8MatMul {
 public:
  explicit Avx2Int8MatMul(Int8MatMulTask task);
  absl::Status Prepare(const std::byte* b);

  size_t scratch_bytes(int threads) const override;
  void Run(const std::byte* a, const std::byte* b, const std::byte* addend, std::byte* y,
           std::byte* scratch) const override;

 private:
  size_t WidenedBytes() const;  // of all right operands
  size_t RowsBytes() const;     // of some rows of a
  size_t NumbersBytes() const;  // of as many rows of y as f32
  bool WritesNumbers() const;   // straight to y
  void WidenAll(const std::byte* b, int16_t* to) const;
  void RunRows(const std::byte* a, const int16_t* panels, const std::byte* addend, std::byte* y, std::byte* scratch,
               int64_t matrix, int64_t first, int64_t count) const;
  void FinishRows(const std::byte* addend, std::byte* y, float* numbers, int64_t matrix, int64_t first,
                  int64_t count) const;

  const Int8MatMulTask task_;
  bool to_integers_ = false;  // activation and rounding are a clamp: sums become bytes in registers
  IntegerBounds bounds_;
  // One for each column of all panels, in units of finish.scale if to_integers_.
  std::vector<float> factors_, offsets_;
  std::vector<int16_t> fixed_;
};

Avx2Int8MatMul::Avx2Int8MatMul(Int8MatMulTask task) : task_(std::move(task)) {
  const size_t columns = static_cast<size_t>(PanelsOf(task_.columns) * kInt8PanelColumns);
  factors_ = task_.factors;
  offsets_ = task_.offsets;
  factors_.resize(columns, 0.0f);
  offsets_.resize(columns, 0.0f);
  const std::optional<IntegerBounds> bounds = task_.has_addend ? std::nullopt : BoundsOf(task_.finish);
  if (!bounds.has_value()) return;
  to_integers_ = true;
  bounds_ = *bounds;
  for (float& factor : factors_) factor /= task_.finish.scale;
  for (float& offset : offsets_) offset /= task_.finish.scale;
}

absl::Status Avx2Int8MatMul::Prepare(const std::byte* b) {
  constexpr int64_t kLongestRow = 1 << 15;  // 255 * 255 * 2^15 is within 32 bits
  if (!HasAvx2()) return absl::UnimplementedError("a CPU without AVX2");
  if (task_.rows < 1 || task_.depth < 1 || task_.columns < 1 || task_.matrices.empty())
    return absl::UnimplementedError("nothing to multiply");
  if (task_.depth > kLongestRow) return absl::UnimplementedError("sums of so many products may leave 32 bits");
  const auto is_finite = [](float x) { return std::isfinite(x); };
  if (!std::ranges::all_of(factors_, is_finite) || !std::ranges::all_of(offsets_, is_finite))
    return absl::UnimplementedError("factors beyond f32");
  if (b == nullptr) return absl::OkStatus();
  fixed_.resize(WidenedBytes() / sizeof(int16_t));
  WidenAll(b, fixed_.data());
  return absl::OkStatus();
}

size_t Avx2Int8MatMul::WidenedBytes() const {
  return task_.b_places.size() * static_cast<size_t>(PanelsOf(task_.columns) * PanelNumbers(task_.depth)) *
         sizeof(int16_t);
}
size_t Avx2Int8MatMul::RowsBytes() const {
  return Aligned(static_cast<size_t>(kRowsOfBlock * EvenDepth(task_.depth)) * sizeof(int16_t));
}
size_t Avx2Int8MatMul::NumbersBytes() const {
  if (to_integers_ || WritesNumbers()) return 0;
  return Aligned(static_cast<size_t>(kRowsOfBlock) * factors_.size() * sizeof(float));
}
bool Avx2Int8MatMul::WritesNumbers() const {
  return task_.finish.type == DataType::kFloat32 && task_.finish.activation == Activation::kNone && !task_.has_addend &&
         task_.columns % kInt8PanelColumns == 0;
}

size_t Avx2Int8MatMul::scratch_bytes(int threads) const {
  const size_t widened = fixed_.empty() ? Aligned(WidenedBytes()) : 0;
  return widened + static_cast<size_t>(threads) * (RowsBytes() + NumbersBytes());
}

void Avx2Int8MatMul::WidenAll(const std::byte* b, int16_t* to) const {
  const int64_t panels = PanelsOf(task_.columns), numbers = PanelNumbers(task_.depth);
  const auto count = static_cast<int64_t>(task_.b_places.size()) * panels;
  ParallelFor(count, kGrain / numbers + 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t column = i % panels * kInt8PanelColumns;
      const std::byte* from = b + task_.b_places[i / panels] + column * task_.b.stride;
      WidenPanel(task_.b, from, std::min(task_.columns - column, kInt8PanelColumns), task_.depth, to + i * numbers);
    }
  });
}

void Avx2Int8MatMul::Run(const std::byte* a, const std::byte* b, const std::byte* addend, std::byte* y,
                         std::byte* scratch) const {
  const int16_t* panels = fixed_.data();
  if (fixed_.empty()) {
    auto* widened = reinterpret_cast<int16_t*>(scratch);
    WidenAll(b, widened);
    panels = widened;
    scratch += Aligned(WidenedBytes());
  }
  const int64_t blocks = (task_.rows + kRowsOfBlock - 1) / kRowsOfBlock;
  const int64_t work = std::min(task_.rows, kRowsOfBlock) * task_.depth * task_.columns;
  const auto count = static_cast<int64_t>(task_.matrices.size()) * blocks;
  ParallelFor(count, kGrain / work + 1, [&](int64_t first, int64_t last) {
    std::byte* own = scratch + static_cast<size_t>(omp_get_thread_num()) * (RowsBytes() + NumbersBytes());
    for (int64_t i = first; i < last; ++i) {
      const int64_t block = i % blocks, row = task_.rows * block / blocks;
      RunRows(a, panels, addend, y, own, i / blocks, row, task_.rows * (block + 1) / blocks - row);
    }
  });
}

void Avx2Int8MatMul::RunRows(const std::byte* a, const int16_t* panels, const std::byte* addend, std::byte* y,
                             std::byte* scratch, int64_t matrix, int64_t first, int64_t count) const {
  const Int8MatMulMatrix& place = task_.matrices[matrix];
  const int64_t columns = task_.columns, row = matrix * task_.rows + first;
  auto* rows = reinterpret_cast<int16_t*>(scratch);
  if (task_.windows.has_value()) {
    WidenWindows(*task_.windows, task_.a, a, first, count, rows);
  } else {
    WidenRows(task_.a, a + place.a + first * task_.a.stride, count, task_.depth, rows);
  }

  const bool straight = WritesNumbers();
  float* numbers = reinterpret_cast<float*>(scratch + RowsBytes());
  if (straight) numbers = reinterpret_cast<float*>(y) + row * columns;
  const int64_t numbers_stride = straight ? columns : static_cast<int64_t>(factors_.size());
  Tile tile{.a_stride = EvenDepth(task_.depth),
            .pairs = EvenDepth(task_.depth) / 2,
            .numbers_stride = numbers_stride,
            .bytes_stride = columns,
            .is_signed = task_.finish.type == DataType::kInt8,
            .zero_point = static_cast<int16_t>(task_.finish.zero_point),
            .low = static_cast<float>(bounds_.low - task_.finish.zero_point),
            .high = static_cast<float>(bounds_.high - task_.finish.zero_point)};
  const int64_t panel_count = PanelsOf(columns), passes = (count + kRows - 1) / kRows;
  for (int64_t panel = 0; panel < panel_count; ++panel) {
    const int64_t column = panel * kInt8PanelColumns;
    tile.panel = panels + (place.b * panel_count + panel) * PanelNumbers(task_.depth);
    tile.factors = factors_.data() + column;
    tile.offsets = offsets_.data() + column;
    tile.columns = std::min(columns - column, kInt8PanelColumns);
    for (int64_t pass = 0; pass < passes; ++pass) {
      const int64_t begin = count * pass / passes, end = count * (pass + 1) / passes;
      tile.a = rows + begin * tile.a_stride;
      if (to_integers_) {
        tile.bytes = reinterpret_cast<uint8_t*>(y) + (row + begin) * columns + column;
      } else {
        tile.numbers = numbers + begin * numbers_stride + column;
      }
      kTiles[end - begin](tile);
    }
  }
  if (!to_integers_ && !straight) FinishRows(addend, y, numbers, matrix, first, count);
}

void Avx2Int8MatMul::FinishRows(const std::byte* addend, std::byte* y, float* numbers, int64_t matrix, int64_t first,
                                int64_t count) const {
  const Int8MatMulAddend& added = task_.addend;
  const int64_t columns = task_.columns, stride = static_cast<int64_t>(factors_.size());
  const size_t row_bytes = static_cast<size_t>(columns) * ElementSize(task_.finish.type);
  const auto element = static_cast<int64_t>(ElementSize(added.type));
  for (int64_t i = 0; i < count; ++i, numbers += stride) {
    for (int64_t j = 0; task_.has_addend && j < columns;) {
      // Some numbers of its row, or the one that all columns get.
      constexpr int64_t kPiece = 256;
      float piece[kPiece];
      const int64_t at = task_.matrices[matrix].addend + (first + i) * added.row_stride + j * added.column_stride;
      const int64_t size = std::min(kPiece, columns - j), given = added.column_stride == 0 ? 1 : size;
      DequantizeRow(addend + at * element, added.type, added.scale, added.zero_point, given, piece);
      for (int64_t c = 0; c < size; ++c) numbers[j + c] += piece[given == 1 ? 0 : c];
      j += size;
    }
    FinishRow(task_.finish, numbers, columns, y + static_cast<size_t>(matrix * task_.rows + first + i) * row_bytes);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Int8MatMul>> MakeInt8MatMul(Int8MatMulTask task, const std::byte* b) {
  auto matmul = std::make_unique<Avx2Int8MatMul>(std::move(task));
  HALFTONE_RETURN_IF_ERROR(matmul->Prepare(b));
  return matmul;
}

}  // namespace halftone::simd
#else
namespace halftone::simd {

absl::StatusOr<std::unique_ptr<Int8MatMul>> MakeInt8MatMul(Int8MatMulTask, const std::byte*) {
  return absl::UnimplementedError("a CPU without AVX2");
}

}  // namespace halftone::simd
#endif

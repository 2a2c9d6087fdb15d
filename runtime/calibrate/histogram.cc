// SPDX-License-Identifier: Apache-2.0
#include "runtime/calibrate/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/log/check.h"
#include "runtime/cpu/simd/simd.h"
#include "runtime/cpu/simd/vector_math.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace halftone {
namespace {

constexpr int32_t kMagnitudeBits = 0x7fffffff;
constexpr int32_t kInfinity = 0x7f800000;  // as a key

// Its own inverse.
HALFTONE_INLINE int32_t Key(int32_t bits) { return bits ^ (bits >> 31 & kMagnitudeBits); }
float FromKey(int32_t key) { return std::bit_cast<float>(Key(key)) + 0.0f; }

// How numbers are counted: the bins of a piece that stays in the first cache are found many at once, then counted one
// by one. Zeros, of which a relu leaves many, are left out there: they are what is missing.
constexpr int kPiece = 512;
constexpr int kVector = 8;

int32_t BinOf(float number, float inverse_width) {
  return static_cast<int32_t>(number * inverse_width) + (std::bit_cast<int32_t>(number) >> 31);
}

// Bins, counted from kZeroBin, of the numbers that are not zero, side by side; there is room for one vector more than
// `count`. Returns how many they are.
using FindBins = int (*)(const float* x, int count, float inverse_width, int32_t* bins);

int FindBinsAny(const float* x, int count, float inverse_width, int32_t* bins) {
  int found = 0;
  for (int i = 0; i < count; ++i) {
    bins[found] = BinOf(x[i], inverse_width);
    found += x[i] != 0.0f ? 1 : 0;
  }
  return found;
}

#if defined(__x86_64__)
// For each set of lanes of a vector: which they are, in their order.
struct Lanes {
  alignas(64) uint8_t of[1 << kVector][kVector];
};
constexpr Lanes MakeLanes() {
  Lanes lanes{};
  for (int set = 0; set < 1 << kVector; ++set) {
    for (int lane = 0, next = 0; lane < kVector; ++lane) {
      if ((set >> lane & 1) != 0) lanes.of[set][next++] = static_cast<uint8_t>(lane);
    }
  }
  return lanes;
}
constexpr Lanes kLanes = MakeLanes();

HALFTONE_FOR_AVX2 int FindBinsAvx2(const float* x, int count, float inverse_width, int32_t* bins) {
  const __m256 inverse = _mm256_set1_ps(inverse_width);
  int found = 0, i = 0;
  for (; i + kVector <= count; i += kVector) {
    const __m256 numbers = _mm256_loadu_ps(x + i);
    const __m256i cut = _mm256_cvttps_epi32(_mm256_mul_ps(numbers, inverse));
    // -1 for negative numbers
    const __m256i below = _mm256_srai_epi32(_mm256_castps_si256(numbers), 31);
    const int set = _mm256_movemask_ps(_mm256_cmp_ps(numbers, _mm256_setzero_ps(), _CMP_NEQ_UQ));
    const __m256i lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(kLanes.of[set])));
    const __m256i packed = _mm256_permutevar8x32_epi32(_mm256_add_epi32(cut, below), lanes);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(bins + found), packed);
    found += std::popcount(static_cast<unsigned>(set));
  }
  return found + FindBinsAny(x + i, count - i, inverse_width, bins + found);
}
#endif

FindBins FindBinsHere() {
#if defined(__x86_64__)
  if (simd::HasAvx2()) return FindBinsAvx2;
#endif
  return FindBinsAny;
}

void Count(const int32_t* bins, int count, uint64_t* counts) {
  for (int i = 0; i < count; ++i) ++counts[bins[i]];
}

HALFTONE_SIMD void ExtentOfKeys(const int32_t* __restrict bits, int64_t count, int32_t* low, int32_t* high) {
  int32_t l = INT32_MAX, h = INT32_MIN;
  for (int64_t i = 0; i < count; ++i) {
    const int32_t key = Key(bits[i]);
    l = l < key ? l : key;
    h = h > key ? h : key;
  }
  *low = l;
  *high = h;
}

float TwoTo(int exponent) { return std::ldexp(1.0f, exponent); }

}  // namespace

// As unsigned integers negative numbers are the larger ones, and among them those further from zero.
Extent Extent::OfBits(int32_t high, uint32_t top, uint32_t bottom) {
  const auto lowest = static_cast<int32_t>(top), nearest = static_cast<int32_t>(bottom);
  return {.low = Key(lowest < 0 ? lowest : nearest), .high = Key(high < 0 ? nearest : high)};
}

bool Extent::finite() const {
  return low > Key(std::bit_cast<int32_t>(-std::numeric_limits<float>::infinity())) && high < kInfinity;
}
float Extent::min() const { return FromKey(low); }
float Extent::max() const { return FromKey(high); }

float Extent::magnitude() const {
  const int32_t a = Key(low) & kMagnitudeBits, b = Key(high) & kMagnitudeBits;
  return std::bit_cast<float>(std::max(a, b));
}

Extent ExtentOf(std::span<const float> x) {
  Extent extent;
  ExtentOfKeys(reinterpret_cast<const int32_t*>(x.data()), static_cast<int64_t>(x.size()), &extent.low, &extent.high);
  return extent;
}

int Histogram::ExponentFor(float magnitude) {
  // 2^ilogb <= magnitude < 2^(ilogb + 1) = kZeroBin widths
  constexpr int kLog = std::bit_width(static_cast<unsigned>(kZeroBin)) - 1;
  if (magnitude == 0) return kSmallestExponent;
  return std::max(kSmallestExponent, std::ilogb(magnitude) + 1 - kLog);
}

double Histogram::width() const { return std::ldexp(1.0, exponent_); }

void Histogram::WidenTo(int exponent) {
  const int shift = std::min(exponent - exponent_, 31);
  exponent_ = exponent;
  if (total() == 0) return;
  // Towards zero on either side; what moves lies further out than where it goes.
  for (int i = 1; i < kZeroBin; ++i) {
    const int to = i >> shift;
    counts_[kZeroBin + to] += std::exchange(counts_[kZeroBin + i], 0);
    counts_[kZeroBin - 1 - to] += std::exchange(counts_[kZeroBin - 1 - i], 0);
  }
}

void Histogram::Add(std::span<const float> x, const Extent& extent) {
  if (x.empty()) return;
  DCHECK(extent.finite());
  const int needed = ExponentFor(extent.magnitude());
  if (needed > exponent_) WidenTo(needed);
  const float inverse_width = TwoTo(-exponent_);
  static const FindBins find = FindBinsHere();
  alignas(64) int32_t bins[kPiece + kVector];
  uint64_t* const counts = counts_.data() + kZeroBin;
  uint64_t others = 0;  // than zeros
  for (size_t first = 0; first < x.size(); first += kPiece) {
    const float* const piece = x.data() + first;
    const int size = static_cast<int>(std::min<size_t>(kPiece, x.size() - first));
    const int found = find(piece, size, inverse_width, bins);
    Count(bins, found, counts);
    others += found;
  }
  zeros_ += x.size() - others;
  *counts += x.size() - others;
}

uint64_t Histogram::total() const { return std::accumulate(counts_.begin(), counts_.end(), uint64_t{0}); }

void Histogram::Merge(const Histogram& other) {
  if (other.exponent_ > exponent_) WidenTo(other.exponent_);
  const int shift = std::min(exponent_ - other.exponent_, 31);
  for (int i = 0; i < kZeroBin; ++i) {
    counts_[kZeroBin + (i >> shift)] += other.counts_[kZeroBin + i];
    counts_[kZeroBin - 1 - (i >> shift)] += other.counts_[kZeroBin - 1 - i];
  }
  zeros_ += other.zeros_;
}

}  // namespace halftone

#include "runtime/calibrate/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/log/check.h"
#include "runtime/host/simd.h"

namespace halftone {
namespace {

constexpr int32_t kMagnitudeBits = 0x7fffffff;
constexpr int32_t kInfinity = 0x7f800000;  // as a key

// Its own inverse.
HALFTONE_INLINE int32_t Key(int32_t bits) { return bits ^ (bits >> 31 & kMagnitudeBits); }
float FromKey(int32_t key) { return std::bit_cast<float>(Key(key)) + 0.0f; }

// How numbers are counted: bins of a piece that stays in the first cache are computed many at once, then counted one by
// one into several tables in turn, so that equal numbers side by side (zeros after a relu) do not wait for each other.
constexpr int kTables = 4;
constexpr int kPiece = 2048;
constexpr int kTableSize = Histogram::kBins + 64;  // tables begin in different sets of the cache
// Pieces after which a 16-bit count could be full.
constexpr int kMostPieces = 65535 / (kPiece / kTables);

struct Tables {
  alignas(64) uint16_t counts[kTables][kTableSize];  // all 0 between calls
};

// Bins of `count` numbers. Returns how many are zero.
HALFTONE_SIMD int FindBins(const float* __restrict x, int count, float inverse_width, uint16_t* __restrict bins) {
  int zeros = 0;
  for (int i = 0; i < count; ++i) {
    const float number = x[i] + 0.0f;  // -0 becomes 0
    const int32_t cut = static_cast<int32_t>(number * inverse_width);
    const int32_t below = std::bit_cast<int32_t>(number) >> 31;  // -1 for negative numbers
    zeros += number == 0.0f ? 1 : 0;
    bins[i] = static_cast<uint16_t>(Histogram::kZeroBin + cut + below);
  }
  return zeros;
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

// Adds the tables' counts of bins [first, last) and clears them.
HALFTONE_SIMD void Collect(Tables& tables, int first, int last, uint64_t* __restrict counts) {
  for (int bin = first; bin < last; ++bin) {
    uint32_t sum = 0;
    for (int t = 0; t < kTables; ++t) sum += tables.counts[t][bin];
    counts[bin] += sum;
  }
  for (int t = 0; t < kTables; ++t) std::fill(tables.counts[t] + first, tables.counts[t] + last, uint16_t{0});
}

void CountInto(Tables& tables, const uint16_t* bins, int count) {
  static_assert(kTables == 4);
  uint16_t* const a = tables.counts[0];
  uint16_t* const b = tables.counts[1];
  uint16_t* const c = tables.counts[2];
  uint16_t* const d = tables.counts[3];
  int i = 0;
  for (; i + 4 <= count; i += 4) {
    uint64_t four;
    __builtin_memcpy(&four, bins + i, sizeof(four));
    ++a[four & 0xffff];
    ++b[four >> 16 & 0xffff];
    ++c[four >> 32 & 0xffff];
    ++d[four >> 48];
  }
  for (; i < count; ++i) ++a[bins[i]];
}

float TwoTo(int exponent) { return std::ldexp(1.0f, exponent); }

}  // namespace

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
  if (total_ == 0) return;
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

  static thread_local Tables tables = {};
  alignas(64) uint16_t bins[kPiece];
  constexpr int64_t kFew = 1024;  // for which it does not pay to collect tables
  const int64_t count = static_cast<int64_t>(x.size());
  total_ += x.size();
  if (count <= kFew) {
    zeros_ += FindBins(x.data(), static_cast<int>(count), inverse_width, bins);
    for (int64_t i = 0; i < count; ++i) ++counts_[bins[i]];
    return;
  }
  const auto bin_of = [&](float number) {
    uint16_t bin;
    FindBins(&number, 1, inverse_width, &bin);
    return static_cast<int>(bin);
  };
  const int first_bin = bin_of(extent.min()), last_bin = bin_of(extent.max());
  int pieces = 0;
  for (int64_t first = 0; first < count; first += kPiece) {
    const int size = static_cast<int>(std::min<int64_t>(kPiece, count - first));
    zeros_ += FindBins(x.data() + first, size, inverse_width, bins);
    CountInto(tables, bins, size);
    if (++pieces == kMostPieces || first + size == count) {
      Collect(tables, first_bin, last_bin + 1, counts_.data());
      pieces = 0;
    }
  }
}

void Histogram::Merge(const Histogram& other) {
  if (other.exponent_ > exponent_) WidenTo(other.exponent_);
  const int shift = std::min(exponent_ - other.exponent_, 31);
  for (int i = 0; i < kZeroBin; ++i) {
    counts_[kZeroBin + (i >> shift)] += other.counts_[kZeroBin + i];
    counts_[kZeroBin - 1 - (i >> shift)] += other.counts_[kZeroBin - 1 - i];
  }
  total_ += other.total_;
  zeros_ += other.zeros_;
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
#include "runtime/calibrate/tensor_statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>

#include "absl/log/check.h"
#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/simd.h"

namespace halftone {
namespace {

static_assert(sizeof(TensorStatistics) + TensorStatistics::kMostChannels * sizeof(int32_t) <=
              TensorStatistics::kMostBytes);
static_assert(sizeof(TensorStatistics) + TensorStatistics::kMostMeans * (sizeof(int32_t) + sizeof(float)) <=
              TensorStatistics::kMostBytes);

constexpr int32_t kMagnitudeBits = 0x7fffffff;

// Numbers whose sums are one f32 for each channel.
constexpr int64_t kPiece = 64 << 10;
// Numbers that are read several times while they lie in the first cache.
constexpr int64_t kChunk = 2048;

constexpr int64_t kVector = 8;
using Floats8 [[gnu::vector_size(32)]] = float;
using Ints8 [[gnu::vector_size(32)]] = int32_t;
using Words8 [[gnu::vector_size(32)]] = uint32_t;

template <typename V, typename T>
HALFTONE_INLINE V Load(const T* x) {
  V v;
  __builtin_memcpy(&v, x, sizeof(v));
  return v;
}
template <typename T, typename V>
HALFTONE_INLINE void Store(T* x, V v) {
  __builtin_memcpy(x, &v, sizeof(v));
}

// What Extent::OfBits asks for, of one number or of eight side by side.
template <typename Signed, typename Unsigned>
struct ExtremeBits {
  Signed high;
  Unsigned top, bottom;

  HALFTONE_INLINE void See(Signed bits) {
    const Unsigned word = (Unsigned)bits;
    high = high > bits ? high : bits;
    top = top > word ? top : word;
    bottom = bottom < word ? bottom : word;
  }
};
using ExtremeLanes = ExtremeBits<Ints8, Words8>;

struct Extremes {
  ExtremeLanes lanes = {Ints8{} + INT32_MIN, Words8{}, Words8{} + UINT32_MAX};
  ExtremeBits<int32_t, uint32_t> others = {INT32_MIN, 0, UINT32_MAX};

  Extent ToExtent() const {
    ExtremeBits<int32_t, uint32_t> all = others;
    for (int i = 0; i < kVector; ++i) {
      all.high = std::max(all.high, lanes.high[i]);
      all.top = std::max(all.top, lanes.top[i]);
      all.bottom = std::min(all.bottom, lanes.bottom[i]);
    }
    return Extent::OfBits(all.high, all.top, all.bottom);
  }
};

// largest[l] = max(largest[l], |x[r, l]| of all rows), sums[l] += x[r, l] of all rows: one after the other. Rows begin
// `stride` numbers apart. Here for kVectors * kVector lanes: a channel each.
template <int kVectors>
HALFTONE_INLINE void AddVectors(const float* x, int64_t rows, int64_t stride, int32_t* largest, float* sums,
                                Extremes& extremes) {
  Ints8 magnitudes[kVectors];
  Floats8 added[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    magnitudes[v] = Load<Ints8>(largest + v * kVector);
    added[v] = Load<Floats8>(sums + v * kVector);
  }
  ExtremeLanes seen = extremes.lanes;
  for (int64_t row = 0; row < rows; ++row) {
    for (int v = 0; v < kVectors; ++v) {
      const Floats8 numbers = Load<Floats8>(x + row * stride + v * kVector);
      const Ints8 bits = (Ints8)numbers, magnitude = bits & kMagnitudeBits;
      seen.See(bits);
      magnitudes[v] = magnitudes[v] > magnitude ? magnitudes[v] : magnitude;
      added[v] += numbers;
    }
  }
  extremes.lanes = seen;
  for (int v = 0; v < kVectors; ++v) {
    Store(largest + v * kVector, magnitudes[v]);
    Store(sums + v * kVector, added[v]);
  }
}

// For less than a vector's lanes, which end where their row ends.
HALFTONE_INLINE void AddRest(const float* x, int64_t rows, int64_t stride, int64_t lanes, int32_t* largest, float* sums,
                             Extremes& extremes) {
  int32_t magnitudes[kVector] = {};
  float added[kVector] = {};
  std::copy(largest, largest + lanes, magnitudes);
  std::copy(sums, sums + lanes, added);
  // A vector reaches into the next rows, which is harmless except after the last one.
  const int64_t after = (rows - 1) * stride + lanes - kVector;
  const int64_t vectors = after < 0 ? 0 : after / stride + 1;
  AddVectors<1>(x, vectors, stride, magnitudes, added, extremes);
  for (int64_t row = vectors; row < rows; ++row) {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const float number = x[row * stride + lane];
      const int32_t bits = std::bit_cast<int32_t>(number);
      extremes.others.See(bits);
      magnitudes[lane] = std::max(magnitudes[lane], bits & kMagnitudeBits);
      added[lane] += number;
    }
  }
  std::copy(magnitudes, magnitudes + lanes, largest);
  std::copy(added, added + lanes, sums);
}

// For any number of lanes.
HALFTONE_INLINE void AddRows(const float* x, int64_t rows, int64_t lanes, int32_t* largest, float* sums,
                             Extremes& extremes) {
  int64_t lane = 0;
  for (; lane + 2 * kVector <= lanes; lane += 2 * kVector) {
    AddVectors<2>(x + lane, rows, lanes, largest + lane, sums + lane, extremes);
  }
  if (lane + kVector <= lanes) {
    AddVectors<1>(x + lane, rows, lanes, largest + lane, sums + lane, extremes);
    lane += kVector;
  }
  if (lane < lanes) AddRest(x + lane, rows, lanes, lanes - lane, largest + lane, sums + lane, extremes);
}
HALFTONE_SIMD void AddLanes(const float* x, int64_t rows, int64_t lanes, int32_t* largest, float* sums,
                            Extremes& extremes) {
  AddRows(x, rows, lanes, largest, sums, extremes);
}

// The same for numbers of one channel.
HALFTONE_SIMD void AddRun(const float* x, int64_t count, int32_t* largest, float* sum, Extremes& extremes) {
  constexpr int64_t kLanes = 2 * kVector;
  int32_t magnitudes[kLanes] = {};
  float sums[kLanes] = {};
  const int64_t rows = count / kLanes;
  AddVectors<2>(x, rows, kLanes, magnitudes, sums, extremes);
  AddRows(x + rows * kLanes, 1, count - rows * kLanes, magnitudes, sums, extremes);
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    *largest = *largest > magnitudes[lane] ? *largest : magnitudes[lane];
    *sum += sums[lane];
  }
}

// A multiple of rows of channels.
int64_t PieceFor(const ChannelLayout& layout) { return std::max<int64_t>(1, kPiece / layout.block) * layout.block; }

}  // namespace

// What one thread finds in its share of a value.
struct TensorStatistics::Share {
  Histogram& histogram;
  std::vector<int32_t>& channels;
  std::span<float> sums;  // of the value's pieces, a row of channels each
  Extent extent = {};
  std::optional<int64_t> bad = {};  // the first number that is not finite
};

// `first`: the index of x[0] in the value, at the beginning of a row of `block` elements.
Extent TensorStatistics::AddToChannels(std::span<const float> x, int64_t first, const ChannelLayout& layout,
                                       int32_t* largest, float* sums) {
  Extremes extremes;
  if (layout.channels == 0) {
    int32_t unused_largest = 0;
    float unused_sum = 0;
    AddRun(x.data(), static_cast<int64_t>(x.size()), &unused_largest, &unused_sum, extremes);
    return extremes.ToExtent();
  }
  const int64_t run = layout.inner * layout.block;  // elements of the same block channels
  const int64_t end = first + static_cast<int64_t>(x.size());
  for (int64_t at = first; at < end;) {
    const int64_t stop = std::min(end, (at / run + 1) * run), channel = layout.ChannelOf(at);
    const float* numbers = x.data() + (at - first);
    if (layout.block == 1) {
      AddRun(numbers, stop - at, largest + channel, sums + channel, extremes);
    } else {
      AddLanes(numbers, (stop - at) / layout.block, layout.block, largest + channel, sums + channel, extremes);
    }
    at = stop;
  }
  return extremes.ToExtent();
}

// Elements [first, last), chunk by chunk.
void TensorStatistics::AddShare(std::span<const float> x, int64_t first, int64_t last, const ChannelLayout& layout,
                                Share& share) {
  const int64_t piece = PieceFor(layout);
  // Runs and rows stay whole in it, so that chunks change nothing in the order of the sums.
  const int64_t whole = layout.block == 1 ? layout.inner : layout.block;
  while (first < last) {
    const int64_t index = first / piece;  // of the piece
    const int64_t chunk_end = (first / whole + std::max<int64_t>(1, kChunk / whole)) * whole;
    const int64_t end = std::min({last, (index + 1) * piece, chunk_end});
    const std::span<const float> part = x.subspan(first, end - first);
    float* const sums = share.sums.data() + index * layout.channels;
    const Extent extent = AddToChannels(part, first, layout, share.channels.data(), sums);
    if (!extent.finite()) {
      const auto bad = std::ranges::find_if(part, [](float number) { return !std::isfinite(number); });
      share.bad = first + (bad - part.begin());
      return;
    }
    share.histogram.Add(part, extent);
    share.extent.Join(extent);
    first = end;
  }
}

std::optional<int64_t> TensorStatistics::Add(std::span<const float> x, const ChannelLayout& asked) {
  if (x.empty()) {
    ++batches_;
    return std::nullopt;
  }
  ChannelLayout layout = asked.channels <= kMostChannels ? asked : ChannelLayout{};
  if (count() == 0) {
    channels_.assign(layout.channels, 0);
    means_.assign(layout.channels <= kMostMeans ? layout.channels : 0, 0.0f);
  }
  if (channels_.size() != static_cast<size_t>(layout.channels)) {
    channels_ = {};
    means_ = {};
    layout = {};
  }
  if (layout.channels > 0) {
    CHECK_EQ(static_cast<int64_t>(x.size()) % (layout.channels * layout.inner), 0);
    // One element a channel side by side: the same order with all channels in one block.
    if (layout.inner == 1) layout.block = layout.channels;
  }
  const int64_t count = static_cast<int64_t>(x.size());
  const int64_t piece = PieceFor(layout), pieces = (count + piece - 1) / piece;
  // A piece's by itself, so that they add up in one order: for a time at most a sixteenth of the value's memory.
  std::vector<float> sums(pieces * layout.channels, 0.0f);
  Extent batch;
  std::optional<int64_t> bad;
  std::mutex mutex;
  simd::ParallelFor(pieces, /*grain=*/1, [&](int64_t from, int64_t to) {
    const int64_t first = from * piece, last = std::min(to * piece, count);
    const bool alone = from == 0 && to == pieces;
    // Sums and maxima: whoever comes first, the result is the same.
    std::optional<Histogram> histogram;
    std::vector<int32_t> channels;
    if (!alone) {
      histogram.emplace();
      channels.assign(channels_.size(), 0);
    }
    Share share{alone ? histogram_ : *histogram, alone ? channels_ : channels, sums};
    AddShare(x, first, last, layout, share);
    const std::lock_guard lock(mutex);
    batch.Join(share.extent);
    if (share.bad.has_value()) bad = std::min(bad.value_or(count), *share.bad);
    if (alone) return;
    histogram_.Merge(*histogram);
    for (size_t i = 0; i < channels.size(); ++i) channels_[i] = std::max(channels_[i], channels[i]);
  });
  if (bad.has_value()) return bad;
  AddToMeans(sums, count);
  if (!batch.empty()) {
    const double before = static_cast<double>(max()) - min();
    const bool is_first = extent_.empty();
    extent_.Join(batch);
    const double grown = static_cast<double>(max()) - min() - before;
    if (is_first || grown > kWideningShare * before) last_widening_ = batches_;
    const double weight = is_first ? 1 : kNewBatchWeight;
    average_min_ += weight * (batch.min() - average_min_);
    average_max_ += weight * (batch.max() - average_max_);
  }
  ++batches_;
  return std::nullopt;
}

// `sums`: of the channels in each piece of a batch of `count` numbers, which the histogram has already.
void TensorStatistics::AddToMeans(std::span<const float> sums, int64_t count) {
  if (means_.empty()) return;
  const size_t channels = means_.size();
  std::vector<double> totals(channels, 0.0);
  for (size_t i = 0; i < sums.size(); i += channels) {
    for (size_t c = 0; c < channels; ++c) totals[c] += sums[i + c];
  }
  const double weight = static_cast<double>(count) / static_cast<double>(this->count());
  const double per_channel = static_cast<double>(count) / static_cast<double>(channels);
  for (size_t c = 0; c < channels; ++c) {
    const double mean = means_[c];
    means_[c] = static_cast<float>(mean + weight * (totals[c] / per_channel - mean));
  }
  // Sums of numbers near the largest f32 may be none.
  if (!std::ranges::all_of(means_, [](float mean) { return std::isfinite(mean); })) means_ = {};
}

std::vector<float> TensorStatistics::ChannelMagnitudes() const {
  std::vector<float> result;
  for (const int32_t bits : channels_) result.push_back(std::bit_cast<float>(bits));
  return result;
}

}  // namespace halftone

#include "runtime/calibrate/tensor_statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>

#include "absl/log/check.h"
#include "runtime/host/parallel.h"
#include "runtime/host/simd.h"

namespace halftone {
namespace {

static_assert(sizeof(TensorStatistics) + TensorStatistics::kMostChannels * sizeof(int32_t) <=
              TensorStatistics::kMostBytes);
static_assert(sizeof(TensorStatistics) + TensorStatistics::kMostMeans * (sizeof(int32_t) + sizeof(float)) <=
              TensorStatistics::kMostBytes);

constexpr int32_t kMagnitudeBits = 0x7fffffff;

// Numbers that are read several times while they lie in the second cache, and for which it pays to collect counts.
constexpr int64_t kPiece = 64 << 10;

constexpr int64_t kLanes = 16;

HALFTONE_INLINE void AddLanesBody(const float* __restrict x, int64_t rows, int64_t lanes, int32_t* __restrict largest,
                                  float* __restrict sums) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const float number = x[row * lanes + lane];
      const int32_t magnitude = std::bit_cast<int32_t>(number) & kMagnitudeBits;
      largest[lane] = largest[lane] > magnitude ? largest[lane] : magnitude;
      sums[lane] += number;
    }
  }
}

// largest[l] = max(largest[l], |x[r, l]| of all rows), sums[l] += x[r, l] of all rows
HALFTONE_SIMD void AddLanes(const float* x, int64_t rows, int64_t lanes, int32_t* largest, float* sums) {
  if (lanes == kLanes) {
    AddLanesBody(x, rows, kLanes, largest, sums);
  } else if (lanes == 8) {
    AddLanesBody(x, rows, 8, largest, sums);
  } else {
    AddLanesBody(x, rows, lanes, largest, sums);
  }
}

// The same for numbers of one channel.
HALFTONE_SIMD void AddRun(const float* x, int64_t count, int32_t* largest, float* sum) {
  int32_t magnitudes[kLanes] = {};
  float sums[kLanes] = {};
  const int64_t rows = count / kLanes;
  AddLanesBody(x, rows, kLanes, magnitudes, sums);
  AddLanesBody(x + rows * kLanes, 1, count - rows * kLanes, magnitudes, sums);
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
void TensorStatistics::AddToChannels(std::span<const float> x, int64_t first, const ChannelLayout& layout,
                                     int32_t* largest, float* sums) {
  const int64_t run = layout.inner * layout.block;  // elements of the same block channels
  const int64_t end = first + static_cast<int64_t>(x.size());
  for (int64_t at = first; at < end;) {
    const int64_t stop = std::min(end, (at / run + 1) * run), channel = layout.ChannelOf(at);
    const float* numbers = x.data() + (at - first);
    if (layout.block == 1) {
      AddRun(numbers, stop - at, largest + channel, sums + channel);
    } else {
      AddLanes(numbers, (stop - at) / layout.block, layout.block, largest + channel, sums + channel);
    }
    at = stop;
  }
}

// Elements [first, last), piece by piece.
void TensorStatistics::AddShare(std::span<const float> x, int64_t first, int64_t last, const ChannelLayout& layout,
                                Share& share) {
  const int64_t piece = PieceFor(layout);
  for (; first < last; first += piece) {
    const std::span<const float> part = x.subspan(first, std::min(piece, last - first));
    const Extent extent = ExtentOf(part);
    if (!extent.finite()) {
      const auto bad = std::ranges::find_if(part, [](float number) { return !std::isfinite(number); });
      share.bad = first + (bad - part.begin());
      return;
    }
    if (layout.channels > 0) {
      float* const sums = share.sums.data() + first / piece * layout.channels;
      AddToChannels(part, first, layout, share.channels.data(), sums);
    }
    share.histogram.Add(part, extent);
    share.extent.Join(extent);
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
  host::ParallelFor(pieces, /*grain=*/1, [&](int64_t from, int64_t to) {
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

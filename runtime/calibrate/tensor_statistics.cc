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

constexpr int32_t kMagnitudeBits = 0x7fffffff;

// Numbers that are read several times while they lie in the second cache, and for which it pays to collect counts.
constexpr int64_t kPiece = 64 << 10;

HALFTONE_SIMD int32_t Largest(const int32_t* __restrict bits, int64_t count) {
  int32_t largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int32_t magnitude = bits[i] & kMagnitudeBits;
    largest = largest > magnitude ? largest : magnitude;
  }
  return largest;
}

HALFTONE_INLINE void LargestOfLanesBody(const int32_t* __restrict bits, int64_t rows, int64_t lanes,
                                        int32_t* __restrict largest) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int32_t magnitude = bits[row * lanes + lane] & kMagnitudeBits;
      largest[lane] = largest[lane] > magnitude ? largest[lane] : magnitude;
    }
  }
}

// largest[l] = max(largest[l], |x[r, l]| of all rows)
HALFTONE_SIMD void LargestOfLanes(const int32_t* bits, int64_t rows, int64_t lanes, int32_t* largest) {
  if (lanes == 16) {
    LargestOfLanesBody(bits, rows, 16, largest);
  } else if (lanes == 8) {
    LargestOfLanesBody(bits, rows, 8, largest);
  } else {
    LargestOfLanesBody(bits, rows, lanes, largest);
  }
}

// A multiple of rows of channels.
int64_t PieceFor(const ChannelLayout& layout) { return std::max<int64_t>(1, kPiece / layout.block) * layout.block; }

}  // namespace

// What one thread finds in its share of a value.
struct TensorStatistics::Share {
  Histogram& histogram;
  std::vector<int32_t>& channels;
  Extent extent = {};
  std::optional<int64_t> bad = {};  // the first number that is not finite
};

// `first`: the index of x[0] in the value, at the beginning of a row of `block` elements.
void TensorStatistics::AddToChannels(std::span<const float> x, int64_t first, const ChannelLayout& layout,
                                     std::vector<int32_t>& channels) {
  const int64_t run = layout.inner * layout.block;  // elements of the same block channels
  const int32_t* bits = reinterpret_cast<const int32_t*>(x.data());
  const int64_t end = first + static_cast<int64_t>(x.size());
  for (int64_t at = first; at < end;) {
    const int64_t stop = std::min(end, (at / run + 1) * run);
    int32_t* const largest = channels.data() + layout.ChannelOf(at);
    if (layout.block == 1) {
      *largest = std::max(*largest, Largest(bits + (at - first), stop - at));
    } else {
      LargestOfLanes(bits + (at - first), (stop - at) / layout.block, layout.block, largest);
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
    if (layout.channels > 0) AddToChannels(part, first, layout, share.channels);
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
  if (count() == 0) channels_.assign(layout.channels, 0);
  if (channels_.size() != static_cast<size_t>(layout.channels)) {
    channels_ = {};
    layout = {};
  }
  if (layout.channels > 0) {
    CHECK_EQ(static_cast<int64_t>(x.size()) % (layout.channels * layout.inner), 0);
    // One element a channel side by side: the same order with all channels in one block.
    if (layout.inner == 1) layout.block = layout.channels;
  }
  const int64_t count = static_cast<int64_t>(x.size());
  const int64_t piece = PieceFor(layout), pieces = (count + piece - 1) / piece;
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
    Share share{alone ? histogram_ : *histogram, alone ? channels_ : channels};
    AddShare(x, first, last, layout, share);
    const std::lock_guard lock(mutex);
    batch.Join(share.extent);
    if (share.bad.has_value()) bad = std::min(bad.value_or(count), *share.bad);
    if (alone) return;
    histogram_.Merge(*histogram);
    for (size_t i = 0; i < channels.size(); ++i) channels_[i] = std::max(channels_[i], channels[i]);
  });
  if (bad.has_value()) return bad;
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

std::vector<float> TensorStatistics::ChannelMagnitudes() const {
  std::vector<float> result;
  for (const int32_t bits : channels_) result.push_back(std::bit_cast<float>(bits));
  return result;
}

}  // namespace halftone

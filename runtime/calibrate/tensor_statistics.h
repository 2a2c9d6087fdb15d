// SPDX-License-Identifier: Apache-2.0
// What calibration remembers of one value: its histogram, its extremes, magnitude and mean of each channel. At most 64
// KB, whatever the number of samples (kMostBytes).
#ifndef HALFTONE_RUNTIME_CALIBRATE_TENSOR_STATISTICS_H_
#define HALFTONE_RUNTIME_CALIBRATE_TENSOR_STATISTICS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/calibrate/histogram.h"

namespace halftone {

// Which channel the elements of a piece of memory belong to: element i to
//   (i / (inner * block)) % (channels / block) * block + i % block.
// Plain images: block 1, inner = height * width. Channels last: block = channels. Blocks of 16: block 16.
struct ChannelLayout {
  int64_t channels = 0;  // 0: not wanted
  int64_t inner = 1;
  int64_t block = 1;  // divides channels

  int64_t ChannelOf(int64_t i) const { return i / (inner * block) % (channels / block) * block + i % block; }
  bool operator==(const ChannelLayout&) const = default;
};

// Value type, thread-compatible.
class TensorStatistics {
 public:
  static constexpr size_t kMostBytes = size_t{64} << 10;
  static constexpr int64_t kMostChannels = 4096;  // of values with more nothing is said by channel
  static constexpr int64_t kMostMeans = 4032;     // of values with more channels no means
  // The weight of a new batch in the moving averages of its extremes; the first batch counts whole.
  static constexpr double kNewBatchWeight = 0.01;
  // A range that grew by at least this part of itself is not settled.
  static constexpr double kWideningShare = 0.01;

  // The whole value in one batch. Where batches differ in the number of channels, nothing is said by channel. Where a
  // number is NaN or infinite its index is returned, and nothing of these statistics may be used any more. On the
  // calling thread's OpenMP threads (Backend::UseThreads); the result is the same for any number of them.
  std::optional<int64_t> Add(std::span<const float> x, const ChannelLayout& layout = {});

  const Histogram& histogram() const { return histogram_; }
  uint64_t count() const { return histogram_.total(); }
  int64_t batches() const { return batches_; }
  // 0 where nothing was seen.
  float min() const { return extent_.empty() ? 0 : extent_.min(); }
  float max() const { return extent_.empty() ? 0 : extent_.max(); }
  double average_min() const { return average_min_; }
  double average_max() const { return average_max_; }
  // The last batch that widened [min, max] notably, counted from 0; the first one does.
  int64_t last_widening() const { return last_widening_; }
  // The largest magnitude in each channel; empty where that is not known. A channel of 0 never fired.
  std::vector<float> ChannelMagnitudes() const;

  // The mean of each channel; empty where that is not known. Sums of f32 over at most 64 K numbers, then of f64: the
  // same for any number of threads.
  std::vector<float> ChannelMeans() const { return means_; }

  size_t MemoryBytes() const {
    return sizeof(*this) + channels_.capacity() * sizeof(channels_[0]) + means_.capacity() * sizeof(means_[0]);
  }

 private:
  struct Share;
  static Extent AddToChannels(std::span<const float> x, int64_t first, const ChannelLayout& layout, int32_t* largest,
                              float* sums);
  static void AddShare(std::span<const float> x, int64_t first, int64_t last, const ChannelLayout& layout,
                       Share& share);
  void AddToMeans(std::span<const float> sums, int64_t count);

  Histogram histogram_;
  Extent extent_;
  double average_min_ = 0, average_max_ = 0;
  int64_t batches_ = 0;
  int64_t last_widening_ = -1;
  std::vector<int32_t> channels_;  // bits of magnitudes, which order as integers
  std::vector<float> means_;       // empty, or as many
};

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_CALIBRATE_TENSOR_STATISTICS_H_

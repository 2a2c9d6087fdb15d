// SPDX-License-Identifier: Apache-2.0
// int8_depthwise.h for AVX2: two taps of 16 channels lie interleaved in 16 bits, so that one instruction (vpmaddwd)
// multiplies both and adds the two products in 32 bits, exactly. Where the window lies in the padding, its taps read a
// row of zero points; what the zero point adds to the sums is a constant, with which they begin.
#include "runtime/cpu/simd/int8_depthwise_kinds.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/vector_math.h"

#define HALFTONE_PART HALFTONE_FOR_AVX2 inline __attribute__((always_inline))

namespace halftone::simd {
namespace {

constexpr int64_t kChannels = kAvx2DepthwiseChannels;
constexpr int kNeighbours = 2;       // pixels of the result that are worked on at once
constexpr int64_t kGrain = 1 << 19;  // multiplications that are worth a thread

// 16 channels, those of vector 0 first (0 to 3, 8 to 11), then those of vector 1: vpackssdw brings them into order.
constexpr int64_t ChannelAt(int64_t i) { return i / 8 * 4 + i % 8 / 4 * 8 + i % 4; }

template <bool kSigned>
HALFTONE_PART __m256i Words(const uint8_t* x) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x));
  return kSigned ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes);
}

HALFTONE_PART __m256i Vector(const void* x) { return _mm256_loadu_si256(static_cast<const __m256i*>(x)); }

size_t Aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

struct Block {
  int64_t first = 0;  // channel
  int32_t begins[kChannels] = {};
  float factors[kChannels] = {}, offsets[kChannels] = {};
};

// What every pixel needs.
struct Constants {
  std::vector<Block> blocks;
  std::vector<int16_t> weights;  // [block][pair of taps][2 vectors][8 channels][2 taps]
  bool y_signed = false;
  int16_t zero_point = 0, low = 0, high = 0;
};

// Some pixels of the result that lie in a row: where the windows of the first begin in each row of the image, and how
// far it is to those of the next.
struct Pixels {
  int64_t count = 0, channels = 0;
  const uint8_t* x[5] = {};
  int64_t x_step[5] = {};
  uint8_t* y = nullptr;      // bytes, if there are no numbers
  float* numbers = nullptr;  // [count][channels]
};

// 16 channels of kCount neighbours as f32, by vectors. What windows share is read once.
template <bool kSigned, int K, int S, int kCount>
HALFTONE_PART void Results(const uint8_t* const* x, int64_t channels, const Block& block, const int16_t* weights,
                           __m256 (&results)[kCount][2]) {
  constexpr int kTaps = K * K;
  __m256i sums[kCount][2];
  for (int i = 0; i < kCount; ++i) {
    sums[i][0] = Vector(block.begins);
    sums[i][1] = Vector(block.begins + 8);
  }
#pragma GCC unroll 13
  for (int tap = 0; tap < kTaps; tap += 2, weights += 32) {
    const __m256i even = Vector(weights), odd = Vector(weights + 16);
#pragma GCC unroll 2
    for (int i = 0; i < kCount; ++i) {
      const __m256i a = Words<kSigned>(x[tap / K] + block.first + (i * S + tap % K) * channels);
      const int other = tap + 1 < kTaps ? tap + 1 : tap;  // with a weight of 0
      const __m256i b = Words<kSigned>(x[other / K] + block.first + (i * S + other % K) * channels);
      sums[i][0] = _mm256_add_epi32(sums[i][0], _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), even));
      sums[i][1] = _mm256_add_epi32(sums[i][1], _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), odd));
    }
  }
  for (int i = 0; i < kCount; ++i) {
    for (int v = 0; v < 2; ++v) {
      results[i][v] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums[i][v]), _mm256_loadu_ps(block.factors + v * 8),
                                      _mm256_loadu_ps(block.offsets + v * 8));
    }
  }
}

template <bool kSigned, int K, int S, int kCount>
HALFTONE_PART void Neighbours(const Constants& all, const Pixels& pixels, int64_t at) {
  const __m256i zero_point = _mm256_set1_epi16(all.zero_point);
  const __m256i low = _mm256_set1_epi16(all.low), high = _mm256_set1_epi16(all.high);
  const int64_t channels = pixels.channels;
  const uint8_t* x[K];
  for (int i = 0; i < K; ++i) x[i] = pixels.x[i] + at * pixels.x_step[i];
  const int16_t* weights = all.weights.data();
  for (const Block& block : all.blocks) {
    __m256 results[kCount][2];
    Results<kSigned, K, S>(x, channels, block, weights, results);
    weights += (K * K + 1) / 2 * 32;
    for (int i = 0; i < kCount; ++i) {
      const int64_t to = (at + i) * channels + block.first;
      const __m256 first = results[i][0], second = results[i][1];
      if (pixels.numbers != nullptr) {
        _mm256_storeu_ps(pixels.numbers + to, _mm256_permute2f128_ps(first, second, 0x20));
        _mm256_storeu_ps(pixels.numbers + to + 8, _mm256_permute2f128_ps(first, second, 0x31));
        continue;
      }
      const __m256i packed = _mm256_packs_epi32(_mm256_cvtps_epi32(first), _mm256_cvtps_epi32(second));
      const __m256i words = _mm256_min_epi16(_mm256_max_epi16(_mm256_adds_epi16(packed, zero_point), low), high);
      const __m256i bytes = all.y_signed ? _mm256_packs_epi16(words, words) : _mm256_packus_epi16(words, words);
      const __m256i ordered = _mm256_permute4x64_epi64(bytes, 0x08);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(pixels.y + to), _mm256_castsi256_si128(ordered));
    }
  }
}

template <bool kSigned, int K, int S>
HALFTONE_FOR_AVX2 void RunPixels(const Constants& all, const Pixels& pixels) {
  int64_t at = 0;
  for (; at + kNeighbours <= pixels.count; at += kNeighbours) Neighbours<kSigned, K, S, kNeighbours>(all, pixels, at);
  for (; at < pixels.count; ++at) Neighbours<kSigned, K, S, 1>(all, pixels, at);
}

using Function = void (*)(const Constants&, const Pixels&);
template <bool kSigned>
Function FunctionOf(int64_t kernel, int64_t stride) {
  if (kernel == 3) return stride == 1 ? RunPixels<kSigned, 3, 1> : RunPixels<kSigned, 3, 2>;
  return stride == 1 ? RunPixels<kSigned, 5, 1> : RunPixels<kSigned, 5, 2>;
}

class Avx2Depthwise final : public DepthwiseLoop {
 public:
  Avx2Depthwise(DepthwiseTask task, const DepthwiseFactors& f, std::optional<IntegerBounds> bounds)
      : task_(std::move(task)),
        to_integers_(bounds.has_value()),
        padding_((kNeighbours * task_.stride + task_.kernel) * task_.channels) {
    std::fill(padding_.begin(), padding_.end(), static_cast<uint8_t>(task_.src_zero & 0xff));
    const int64_t taps = task_.kernel * task_.kernel;
    for (int64_t b = 0; b < task_.channels; b += kChannels) {
      // The last block does some channels again.
      Block& block = all_.blocks.emplace_back();
      block.first = std::min(b, task_.channels - kChannels);
      const auto weight = [&](int64_t tap, int64_t i) -> int16_t {
        return tap < taps ? task_.weights[tap * task_.channels + block.first + ChannelAt(i)] : int16_t{0};
      };
      for (int64_t i = 0; i < kChannels; ++i) {
        int32_t sum = 0;
        for (int64_t tap = 0; tap < taps; ++tap) sum += weight(tap, i);
        block.begins[i] = -task_.src_zero * sum;
        block.factors[i] = f.factors[block.first + ChannelAt(i)];
        block.offsets[i] = f.offsets[block.first + ChannelAt(i)];
      }
      for (int64_t tap = 0; tap < taps; tap += 2) {
        for (int64_t i = 0; i < kChannels; ++i) {
          all_.weights.push_back(weight(tap, i));
          all_.weights.push_back(weight(tap + 1, i));
        }
      }
    }
    all_.y_signed = task_.finish.type == DataType::kInt8;
    if (bounds.has_value()) {
      all_.zero_point = static_cast<int16_t>(task_.finish.zero_point);
      all_.low = static_cast<int16_t>(bounds->low);
      all_.high = static_cast<int16_t>(bounds->high);
    }
    const bool is_signed = task_.src == DataType::kInt8;
    run_ = is_signed ? FunctionOf<true>(task_.kernel, task_.stride) : FunctionOf<false>(task_.kernel, task_.stride);
    task_.weights.clear();
  }

  DepthwiseCpu cpu() const override { return DepthwiseCpu::kAvx2; }
  size_t scratch_bytes(int threads) const override { return threads * (NumbersBytes() + BorderBytes()); }

  void Run(const std::byte* x, std::byte* y, std::byte* scratch) const override {
    const int64_t work = task_.columns.out * task_.channels * task_.kernel * task_.kernel;
    ParallelFor(task_.images * task_.rows.out, kGrain / work + 1, [&](int64_t first, int64_t last) {
      std::byte* own = scratch + omp_get_thread_num() * (NumbersBytes() + BorderBytes());
      for (int64_t i = first; i < last; ++i) RunRow(x, y, own, i / task_.rows.out, i % task_.rows.out);
    });
  }

 private:
  // A thread's: the numbers of a row, where results go through f32; one window, where it is not all in the image.
  size_t NumbersBytes() const {
    return to_integers_ ? 0 : Aligned(static_cast<size_t>(task_.columns.out * task_.channels) * sizeof(float));
  }
  size_t BorderBytes() const { return Aligned(static_cast<size_t>(task_.kernel * task_.kernel * task_.channels)); }

  void RunRow(const std::byte* x, std::byte* y, std::byte* scratch, int64_t image, int64_t row) const {
    const DepthwiseAxis& columns = task_.columns;
    const int64_t channels = task_.channels;
    const auto* image_x = reinterpret_cast<const uint8_t*>(x) + image * task_.rows.in * columns.in * channels;
    const size_t pixel = static_cast<size_t>(channels) * ElementSize(task_.finish.type);
    std::byte* to = y + (image * task_.rows.out + row) * columns.out * pixel;
    auto* numbers = to_integers_ ? nullptr : reinterpret_cast<float*>(scratch);
    auto* border = reinterpret_cast<uint8_t*>(scratch + NumbersBytes());
    // Columns of the result whose windows lie within the image's: one run of pixels; the others one by one.
    const int64_t begin = std::min((columns.pad_begin + task_.stride - 1) / task_.stride, columns.out);
    const int64_t last = columns.in + columns.pad_begin - task_.kernel;
    const int64_t end = last < 0 ? begin : std::clamp(last / task_.stride + 1, begin, columns.out);
    for (int64_t column = 0; column < columns.out;) {
      const bool inside = column >= begin && column < end;
      Pixels pixels = inside ? Inside(image_x, row, column) : Border(image_x, row, column, border);
      pixels.count = inside ? end - begin : 1;
      pixels.channels = channels;
      pixels.y = reinterpret_cast<uint8_t*>(to) + column * channels;
      if (numbers != nullptr) pixels.numbers = numbers + column * channels;
      run_(all_, pixels);
      column += pixels.count;
    }
    if (numbers == nullptr) return;
    for (int64_t column = 0; column < columns.out; ++column)
      FinishRow(task_.finish, numbers + column * channels, channels, to + column * pixel);
  }

  // A row of the image that row `i` of the windows reads; nullptr in the padding.
  const uint8_t* RowOf(const uint8_t* x, int64_t row, int64_t i) const {
    const int64_t at = row * task_.stride - task_.rows.pad_begin + i;
    return at >= 0 && at < task_.rows.in ? x + at * task_.columns.in * task_.channels : nullptr;
  }

  Pixels Inside(const uint8_t* x, int64_t row, int64_t column) const {
    Pixels pixels;
    const int64_t first = column * task_.stride - task_.columns.pad_begin;
    for (int64_t i = 0; i < task_.kernel; ++i) {
      const uint8_t* image_row = RowOf(x, row, i);
      pixels.x[i] = image_row == nullptr ? padding_.data() : image_row + first * task_.channels;
      pixels.x_step[i] = image_row == nullptr ? 0 : task_.stride * task_.channels;
    }
    return pixels;
  }

  // One pixel, whose window is put together in `border`.
  Pixels Border(const uint8_t* x, int64_t row, int64_t column, uint8_t* border) const {
    Pixels pixels;
    for (int64_t i = 0; i < task_.kernel; ++i) {
      const uint8_t* image_row = RowOf(x, row, i);
      pixels.x[i] = border;
      for (int64_t j = 0; j < task_.kernel; ++j, border += task_.channels) {
        const int64_t c = column * task_.stride - task_.columns.pad_begin + j;
        const bool inside = image_row != nullptr && c >= 0 && c < task_.columns.in;
        std::memcpy(border, inside ? image_row + c * task_.channels : padding_.data(), task_.channels);
      }
    }
    return pixels;
  }

  DepthwiseTask task_;
  const bool to_integers_;  // else results go through f32
  std::vector<uint8_t> padding_;
  Constants all_;
  Function run_ = nullptr;
};

}  // namespace

std::unique_ptr<DepthwiseLoop> MakeAvx2Depthwise(DepthwiseTask task, const DepthwiseFactors& factors,
                                                 std::optional<IntegerBounds> bounds) {
  return std::make_unique<Avx2Depthwise>(std::move(task), factors, bounds);
}

}  // namespace halftone::simd
#endif

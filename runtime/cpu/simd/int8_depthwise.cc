// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/int8_depthwise.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "runtime/cpu/simd/cpu.h"
#include "runtime/cpu/simd/int8_depthwise_kinds.h"
#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/simd.h"
#include "runtime/cpu/simd/vector_math.h"

namespace halftone::simd {
namespace {

constexpr size_t kAlignment = 64;
constexpr int64_t kGrain = 1 << 18;  // multiplications that are worth a thread

// By DepthwiseCpu.
struct CpuRow {
  DepthwiseCpu cpu;
  std::string_view name;
  int vector_bits;
};
constexpr CpuRow kCpus[] = {{DepthwiseCpu::kAvx512Vbmi, "avx512_vbmi", kAvx512Bits},
                            {DepthwiseCpu::kAvx512Vnni, "avx512_vnni", kAvx512Bits},
                            {DepthwiseCpu::kAvx2, "avx2", kAvx2Bits},
                            {DepthwiseCpu::kAny, "any", 0}};
constexpr DepthwiseCpu kAll[] = {kCpus[0].cpu, kCpus[1].cpu, kCpus[2].cpu, kCpus[3].cpu};

size_t Aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

absl::Status Check(const DepthwiseTask& task) {
  if (task.kernel != 3 && task.kernel != 5) return absl::UnimplementedError("windows of 3 x 3 and 5 x 5 only");
  if (task.stride != 1 && task.stride != 2) return absl::UnimplementedError("strides of 1 and 2 only");
  for (const DepthwiseAxis& axis : {task.rows, task.columns}) {
    if (axis.pad_begin < 0 || axis.pad_begin >= task.kernel) return absl::UnimplementedError("such padding");
    if (axis.in < 1 || axis.out < 1) return absl::UnimplementedError("an empty image");
  }
  if (task.src != DataType::kUInt8 && task.src != DataType::kInt8) return absl::UnimplementedError("int8 images only");
  return absl::OkStatus();
}

// x -> y = (factor * sum + offset) / scale, where the result is integers that are only clamped; else without the scale.
DepthwiseFactors FactorsOf(const DepthwiseTask& task, bool to_integers) {
  DepthwiseFactors f{task.factors, task.offsets};
  if (!to_integers) return f;
  for (float& factor : f.factors) factor /= task.finish.scale;
  for (float& offset : f.offsets) offset /= task.finish.scale;
  return f;
}

// Whether every number that is rounded is within an int32.
bool Fits(const DepthwiseTask& task, const DepthwiseFactors& f) {
  constexpr double kMost = 1e9;
  for (int64_t c = 0; c < task.channels; ++c) {
    double sum = 0;
    for (int64_t k = 0; k < task.kernel * task.kernel; ++k) sum += std::abs(task.weights[k * task.channels + c]);
    if (!(sum * 255 * std::abs(f.factors[c]) + std::abs(f.offsets[c]) < kMost)) return false;
  }
  return true;
}

#if defined(__x86_64__)

// 32 channels, packed.
struct Block {
  int64_t first = 0;
  alignas(kAlignment) int32_t begins[kDepthwiseChannels] = {};
  alignas(kAlignment) float factors[kDepthwiseChannels] = {};
  alignas(kAlignment) float offsets[kDepthwiseChannels] = {};
};

class VnniDepthwise final : public DepthwiseLoop {
 public:
  using Function = void (*)(const DepthwiseBand&);

  VnniDepthwise(DepthwiseTask task, DepthwiseCpu cpu, std::optional<IntegerBounds> bounds,
                const DepthwiseFactors& factors)
      : task_(std::move(task)),
        function_(cpu == DepthwiseCpu::kAvx512Vbmi ? DepthwiseVbmi : DepthwiseVnni),
        cpu_(cpu),
        bounds_(bounds) {
    const int64_t channels = task_.channels;
    block_channels_ = std::min(channels, kDepthwiseChannels);
    zero_ = static_cast<uint8_t>(task_.src_zero + (task_.src == DataType::kInt8 ? 128 : 0));
    rows_ = BandRows(task_.stride);
    groups_ = BandGroups(task_.kernel, task_.stride);
    block_bytes_ = rows_ * task_.kernel * groups_ * 128;
    const int64_t count = (channels + kDepthwiseChannels - 1) / kDepthwiseChannels;
    weights_.resize(static_cast<size_t>(count * block_bytes_) + kAlignment);
    for (int64_t b = 0; b < count; ++b) {
      // The last block does some channels again.
      blocks_.push_back(Block{.first = std::min(b * kDepthwiseChannels, channels - block_channels_)});
      Fill(factors, blocks_.back(), weights() + b * block_bytes_);
    }
    task_.weights.clear();
  }

  DepthwiseCpu cpu() const override { return cpu_; }
  size_t scratch_bytes(int threads) const override { return kAlignment + ScratchOfThread() * threads; }

  void Run(const std::byte* x, std::byte* y, std::byte* scratch) const override {
    const int64_t bands = (task_.rows.out + rows_ - 1) / rows_;
    const int64_t work = rows_ * task_.columns.out * task_.channels * task_.kernel * task_.kernel;
    auto* aligned = reinterpret_cast<std::byte*>(Aligned(reinterpret_cast<size_t>(scratch)));
    ParallelFor(task_.images * bands, kGrain / work + 1, [&](int64_t first, int64_t last) {
      std::byte* own = aligned + omp_get_thread_num() * ScratchOfThread();
      for (int64_t i = first; i < last; ++i) RunBand(x, y, own, i / bands, i % bands * rows_);
    });
  }

 private:
  // A thread's: the line; what is written for rows that do not exist; numbers of rows in f32.
  size_t LineSize() const { return Aligned(LineBytes(task_.kernel, task_.stride, task_.columns.out)); }
  size_t NumbersSize() const {
    return static_cast<size_t>(rows_ * task_.columns.out * kDepthwiseChannels) * sizeof(float);
  }
  size_t ScratchOfThread() const { return LineSize() + kAlignment + (bounds_.has_value() ? 0 : NumbersSize()); }

  int8_t* weights() { return reinterpret_cast<int8_t*>(Aligned(reinterpret_cast<size_t>(weights_.data()))); }
  const int8_t* weights() const {
    return reinterpret_cast<const int8_t*>(Aligned(reinterpret_cast<size_t>(weights_.data())));
  }

  // The channel at place i of vector v.
  static int64_t ChannelAt(int v, int64_t i) { return i / 4 * 8 + v * 4 + i % 4; }

  void Fill(const DepthwiseFactors& f, Block& block, int8_t* packed) const {
    const int64_t k = task_.kernel;
    const auto weight = [&](int64_t row, int64_t column, int64_t channel) -> int8_t {
      if (row < 0 || row >= k || channel >= block_channels_) return 0;
      return task_.weights[(row * k + column) * task_.channels + block.first + channel];
    };
    for (int v = 0; v < 2; ++v) {
      for (int64_t i = 0; i < 16; ++i) {
        const int64_t channel = ChannelAt(v, i);
        if (channel >= block_channels_) continue;
        int32_t sum = 0;
        for (int64_t tap = 0; tap < k * k; ++tap) sum += weight(tap / k, tap % k, channel);
        block.begins[v * 16 + i] = -static_cast<int32_t>(zero_) * sum;
        block.factors[v * 16 + i] = f.factors[block.first + channel];
        block.offsets[v * 16 + i] = f.offsets[block.first + channel];
      }
    }
    for (int64_t r = 0; r < rows_; ++r) {
      for (int64_t column = 0; column < k; ++column) {
        for (int64_t g = 0; g < groups_; ++g) {
          for (int v = 0; v < 2; ++v) {
            for (int64_t i = 0; i < 16; ++i) {
              for (int64_t j = 0; j < 4; ++j) *packed++ = weight(4 * g + j - r * task_.stride, column, ChannelAt(v, i));
            }
          }
        }
      }
    }
  }

  void RunBand(const std::byte* x, std::byte* y, std::byte* scratch, int64_t image, int64_t row) const {
    const int64_t channels = task_.channels;
    const int64_t in_row = task_.columns.in * channels, out_row = task_.columns.out * channels;
    const auto* image_x = reinterpret_cast<const uint8_t*>(x) + image * task_.rows.in * in_row;
    const size_t element = ElementSize(task_.finish.type);
    std::byte* image_y = y + image * task_.rows.out * out_row * element;
    uint8_t padding[kDepthwiseChannels];
    std::memset(padding, task_.src_zero & 0xff, sizeof(padding));
    DepthwiseBand band{.kernel = task_.kernel,
                       .stride = task_.stride,
                       .in_columns = task_.columns.in,
                       .out_columns = task_.columns.out,
                       .pad_columns = task_.columns.pad_begin,
                       .channels = block_channels_,
                       .zero = zero_,
                       .is_signed = task_.src == DataType::kInt8,
                       .y_signed = task_.finish.type == DataType::kInt8};
    band.line = scratch;
    std::byte* nowhere = scratch + LineSize();
    if (bounds_.has_value()) {
      band.zero_point = static_cast<int16_t>(task_.finish.zero_point);
      band.low = static_cast<int16_t>(bounds_->low);
      band.high = static_cast<int16_t>(bounds_->high);
    } else {
      band.numbers = reinterpret_cast<float*>(nowhere + kAlignment);
    }
    const int64_t needed = (rows_ - 1) * task_.stride + task_.kernel;
    for (size_t b = 0; b < blocks_.size(); ++b) {
      const Block& block = blocks_[b];
      for (int64_t i = 0; i < 4 * groups_; ++i) {
        const int64_t at = row * task_.stride - task_.rows.pad_begin + i;
        const bool inside = i < needed && at >= 0 && at < task_.rows.in;
        band.x[i] = inside ? image_x + at * in_row + block.first : padding;
        band.x_step[i] = inside ? channels : 0;
      }
      for (int64_t r = 0; r < rows_; ++r) {
        const bool exists = row + r < task_.rows.out;
        band.y[r] = exists ? image_y + ((row + r) * out_row + block.first) * element : nowhere;
        band.y_step[r] = exists ? channels : 0;
      }
      band.weights = weights() + static_cast<int64_t>(b) * block_bytes_;
      band.begins = block.begins;
      band.factors = block.factors;
      band.offsets = block.offsets;
      function_(band);
      if (band.numbers != nullptr) Finish(band, row, image_y + block.first * element);
    }
  }

  // From numbers in f32 to the result, for what is no clamp or no integer. `y`: the image, at the block's channel.
  void Finish(const DepthwiseBand& band, int64_t row, std::byte* y) const {
    const int64_t pixels = std::min(rows_, task_.rows.out - row) * task_.columns.out;
    const size_t pixel = task_.channels * ElementSize(task_.finish.type);
    y += row * task_.columns.out * pixel;
    for (int64_t i = 0; i < pixels; ++i) {
      FinishRow(task_.finish, band.numbers + i * kDepthwiseChannels, block_channels_, y + i * pixel);
    }
  }

  DepthwiseTask task_;
  const Function function_;
  const DepthwiseCpu cpu_;
  const std::optional<IntegerBounds> bounds_;  // nullopt: results go through f32
  int64_t block_channels_ = 0, rows_ = 0, groups_ = 0, block_bytes_ = 0;
  uint8_t zero_ = 0;
  std::vector<Block> blocks_;
  std::vector<int8_t> weights_;
};

#endif

// One row of the result by plain loops: sums of all channels, tap by tap.
template <typename From>
void Sums(const From* const* taps, const int8_t* weights, int64_t count, int32_t zero, int64_t channels,
          int32_t* __restrict sums) {
  for (int64_t c = 0; c < channels; ++c) sums[c] = 0;
  for (int64_t tap = 0; tap < count; ++tap) {
    const From* __restrict x = taps[tap];
    const int8_t* __restrict w = weights + tap * channels;
    if (x == nullptr) continue;
    for (int64_t c = 0; c < channels; ++c) sums[c] += (static_cast<int32_t>(x[c]) - zero) * w[c];
  }
}
void Numbers(const int32_t* __restrict sums, const float* __restrict factors, const float* __restrict offsets,
             int64_t channels, float* __restrict numbers) {
  for (int64_t c = 0; c < channels; ++c)
    numbers[c] = __builtin_fmaf(static_cast<float>(sums[c]), factors[c], offsets[c]);
}

class PlainDepthwise final : public DepthwiseLoop {
 public:
  PlainDepthwise(DepthwiseTask task, DepthwiseFactors factors, bool to_integers)
      : task_(std::move(task)), factors_(std::move(factors)) {
    if (!to_integers) return;
    // The numbers are divided by the scale already; a clamp is one of integers.
    bounds_ = BoundsOf(task_.finish);
  }

  DepthwiseCpu cpu() const override { return DepthwiseCpu::kAny; }
  size_t scratch_bytes(int threads) const override { return threads * OfThread(); }

  void Run(const std::byte* x, std::byte* y, std::byte* scratch) const override {
    const int64_t work = task_.columns.out * task_.channels * task_.kernel * task_.kernel;
    ParallelFor(task_.images * task_.rows.out, kGrain / work + 1, [&](int64_t first, int64_t last) {
      auto* sums = reinterpret_cast<int32_t*>(scratch + omp_get_thread_num() * OfThread());
      for (int64_t i = first; i < last; ++i) {
        if (task_.src == DataType::kInt8) {
          RunRow<int8_t>(x, y, sums, i / task_.rows.out, i % task_.rows.out);
        } else {
          RunRow<uint8_t>(x, y, sums, i / task_.rows.out, i % task_.rows.out);
        }
      }
    });
  }

 private:
  size_t OfThread() const { return Aligned(static_cast<size_t>(task_.channels) * (sizeof(int32_t) + sizeof(float))); }

  template <typename From>
  void RunRow(const std::byte* x, std::byte* y, int32_t* sums, int64_t image, int64_t row) const {
    const int64_t channels = task_.channels, k = task_.kernel;
    const auto* image_x = reinterpret_cast<const From*>(x) + image * task_.rows.in * task_.columns.in * channels;
    const size_t pixel = static_cast<size_t>(channels) * ElementSize(task_.finish.type);
    std::byte* to = y + (image * task_.rows.out + row) * task_.columns.out * pixel;
    auto* numbers = reinterpret_cast<float*>(sums + channels);
    for (int64_t column = 0; column < task_.columns.out; ++column, to += pixel) {
      const From* taps[25];
      for (int64_t tap = 0; tap < k * k; ++tap) {
        const int64_t r = row * task_.stride - task_.rows.pad_begin + tap / k;
        const int64_t c = column * task_.stride - task_.columns.pad_begin + tap % k;
        const bool inside = r >= 0 && r < task_.rows.in && c >= 0 && c < task_.columns.in;
        taps[tap] = inside ? image_x + (r * task_.columns.in + c) * channels : nullptr;
      }
      Sums(taps, task_.weights.data(), k * k, task_.src_zero, channels, sums);
      Numbers(sums, factors_.factors.data(), factors_.offsets.data(), channels, numbers);
      if (bounds_.has_value()) {
        StoreIntegers(numbers, to);
      } else {
        FinishRow(task_.finish, numbers, channels, to);
      }
    }
  }

  void StoreIntegers(const float* numbers, std::byte* to) const {
    const float zero_point = static_cast<float>(task_.finish.zero_point);
    const float low = static_cast<float>(bounds_->low), high = static_cast<float>(bounds_->high);
    for (int64_t c = 0; c < task_.channels; ++c) {
      const float rounded = std::nearbyint(numbers[c]) + zero_point;
      to[c] = static_cast<std::byte>(static_cast<int32_t>(std::min(std::max(rounded, low), high)) & 0xff);
    }
  }

  const DepthwiseTask task_;
  const DepthwiseFactors factors_;
  std::optional<IntegerBounds> bounds_;
};

DepthwiseCpu FastestCpu() {
#if defined(__x86_64__)
  const bool vnni = HasAvx512Vnni();
  if (vnni) return HasAvx512Vbmi() ? DepthwiseCpu::kAvx512Vbmi : DepthwiseCpu::kAvx512Vnni;
#endif
  return HasAvx2() ? DepthwiseCpu::kAvx2 : DepthwiseCpu::kAny;
}

}  // namespace

std::string_view NameOf(DepthwiseCpu cpu) { return kCpus[static_cast<size_t>(cpu)].name; }

int VectorBits(DepthwiseCpu cpu) { return kCpus[static_cast<size_t>(cpu)].vector_bits; }

std::span<const DepthwiseCpu> DepthwiseCpus() { return std::span(kAll).subspan(static_cast<size_t>(FastestCpu())); }

absl::StatusOr<std::unique_ptr<DepthwiseLoop>> MakeDepthwise(const DepthwiseTask& task, DepthwiseCpu cpu) {
  HALFTONE_RETURN_IF_ERROR(Check(task));
  const std::optional<IntegerBounds> bounds = BoundsOf(task.finish);
  DepthwiseFactors factors = FactorsOf(task, bounds.has_value());
  if (!Fits(task, factors)) return absl::UnimplementedError("results that are not within an int32");
#if defined(__x86_64__)
  if (cpu == DepthwiseCpu::kAvx512Vbmi || cpu == DepthwiseCpu::kAvx512Vnni) {
    return std::make_unique<VnniDepthwise>(task, cpu, bounds, factors);
  }
  if (cpu == DepthwiseCpu::kAvx2 && task.channels >= kAvx2DepthwiseChannels)
    return MakeAvx2Depthwise(task, factors, bounds);
#endif
  return std::make_unique<PlainDepthwise>(task, std::move(factors), bounds.has_value());
}

absl::StatusOr<std::unique_ptr<DepthwiseLoop>> MakeDepthwise(const DepthwiseTask& task) {
  return MakeDepthwise(task, DepthwiseCpus().front());
}

}  // namespace halftone::simd

// SPDX-License-Identifier: Apache-2.0
// Every kind of CPU's loop against a plain function, byte for byte: odd sizes, borders, zero points, saturation.
#include "runtime/cpu/simd/int8_depthwise.h"

#include <omp.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "gtest/gtest.h"

namespace halftone::simd {
namespace {

struct Shape {
  int64_t images, channels, rows, columns, kernel, stride, pad;
};

int64_t Out(int64_t in, const Shape& s) { return (in + 2 * s.pad - s.kernel) / s.stride + 1; }

DepthwiseTask TaskOf(const Shape& s, DataType src, int32_t zero, const Int8Finish& finish, std::mt19937& random) {
  DepthwiseTask task{.images = s.images,
                     .channels = s.channels,
                     .kernel = s.kernel,
                     .stride = s.stride,
                     .rows = {s.rows, Out(s.rows, s), s.pad},
                     .columns = {s.columns, Out(s.columns, s), s.pad},
                     .src = src,
                     .src_zero = zero,
                     .finish = finish};
  std::uniform_int_distribution<int> weight(-128, 127);
  std::uniform_real_distribution<float> real(0.5f, 2.0f);
  for (int64_t i = 0; i < s.kernel * s.kernel * s.channels; ++i)
    task.weights.push_back(static_cast<int8_t>(weight(random)));
  for (int64_t c = 0; c < s.channels; ++c) {
    task.factors.push_back(real(random) * 3e-4f);
    task.offsets.push_back(real(random) - 1.25f);
  }
  return task;
}

// The sum at one place, exact.
int64_t SumAt(const DepthwiseTask& t, const std::vector<uint8_t>& x, int64_t image, int64_t row, int64_t column,
              int64_t channel) {
  int64_t sum = 0;
  for (int64_t i = 0; i < t.kernel; ++i) {
    for (int64_t j = 0; j < t.kernel; ++j) {
      const int64_t r = row * t.stride - t.rows.pad_begin + i, c = column * t.stride - t.columns.pad_begin + j;
      if (r < 0 || r >= t.rows.in || c < 0 || c >= t.columns.in) continue;
      const uint8_t byte = x[((image * t.rows.in + r) * t.columns.in + c) * t.channels + channel];
      const int32_t number = t.src == DataType::kInt8 ? static_cast<int8_t>(byte) : byte;
      sum += (number - t.src_zero) * t.weights[(i * t.kernel + j) * t.channels + channel];
    }
  }
  return sum;
}

float Activated(const Int8Finish& f, float y) {
  if (f.activation == Activation::kRelu) return std::max(y, 0.0f);
  if (f.activation == Activation::kRelu6) return std::clamp(y, 0.0f, 6.0f);
  if (f.activation == Activation::kClip) return std::clamp(y, f.alpha, f.beta);
  if (f.activation == Activation::kSwish) return y / (1 + std::exp(-f.alpha * y));
  return y;
}

// What is wrong with y at one place; "" if nothing.
std::string WrongAt(const DepthwiseTask& t, int64_t sum, int64_t channel, const std::byte* y) {
  const Int8Finish& f = t.finish;
  const double real = static_cast<double>(sum) * t.factors[channel] + t.offsets[channel];
  const float activated = Activated(f, static_cast<float>(real));
  if (f.type == DataType::kFloat32 || f.type == DataType::kBFloat16) {
    float written = 0;
    uint16_t half = 0;
    if (f.type == DataType::kFloat32) std::memcpy(&written, y, sizeof(written));
    if (f.type == DataType::kBFloat16) {
      std::memcpy(&half, y, sizeof(half));
      written = std::bit_cast<float>(static_cast<uint32_t>(half) << 16);
    }
    const float tolerance = f.type == DataType::kFloat32 ? 2e-6f : 4e-3f;
    if (std::abs(written - activated) <= tolerance * (1 + std::abs(activated))) return "";
    return Concat(written, " instead of ", activated);
  }
  const int32_t low = f.type == DataType::kInt8 ? -128 : 0, high = low + 255;
  const int32_t written = f.type == DataType::kInt8 ? static_cast<int32_t>(static_cast<int8_t>(*y))
                                                    : static_cast<int32_t>(static_cast<uint8_t>(*y));
  const double exact = static_cast<double>(activated) / f.scale;
  const double clamped = std::clamp(std::nearbyint(exact) + f.zero_point, 1.0 * low, 1.0 * high);
  if (clamped == written) return "";
  // One step where the exact number lies within the rounding of floats of the middle between two.
  const double distance = std::abs(std::abs(exact - std::floor(exact)) - 0.5);
  if (std::abs(clamped - written) == 1 && distance <= 1e-5 * (1 + std::abs(exact))) return "";
  return Concat(written, " instead of ", clamped, ", exactly ", exact);
}

constexpr Shape kShapes[] = {
    {2, 5, 7, 6, 3, 1, 1},  {1, 16, 8, 9, 3, 1, 1},   {1, 33, 5, 5, 3, 1, 1},   {1, 58, 9, 7, 3, 2, 1},
    {2, 32, 6, 4, 3, 2, 0}, {1, 37, 10, 11, 5, 1, 2}, {1, 24, 9, 9, 5, 2, 2},   {1, 65, 5, 13, 5, 1, 0},
    {1, 40, 1, 1, 3, 1, 1}, {1, 8, 3, 2, 5, 2, 2},    {3, 144, 3, 17, 3, 1, 1}, {1, 96, 2, 3, 3, 1, 1},
};

constexpr std::pair<DataType, int32_t> kSources[] = {
    {DataType::kUInt8, 0}, {DataType::kUInt8, 131}, {DataType::kInt8, 0}, {DataType::kInt8, -77}};

TEST(Int8DepthwiseTest, EveryKindOfCpuGivesWhatThePlainFunctionGives) {
  std::mt19937 random(11);
  const Int8Finish finishes[] = {
      {.type = DataType::kUInt8, .scale = 0.05f, .zero_point = 128},
      {.type = DataType::kInt8, .scale = 0.03f, .zero_point = -7},
      {.type = DataType::kUInt8, .scale = 0.02f, .zero_point = 0, .activation = Activation::kRelu},
      {.type = DataType::kUInt8, .scale = 6.0f / 255, .zero_point = 3, .activation = Activation::kRelu6},
      {.type = DataType::kInt8, .scale = 0.1f, .activation = Activation::kClip, .alpha = -1.5f, .beta = 2.5f},
      {.type = DataType::kUInt8, .scale = 0.04f, .zero_point = 20, .activation = Activation::kSwish, .alpha = 1},
      {.type = DataType::kFloat32},
      {.type = DataType::kFloat32, .activation = Activation::kRelu},
      {.type = DataType::kBFloat16, .activation = Activation::kRelu6},
  };
  for (const Shape& shape : kShapes) {
    for (const auto& [src, zero] : kSources) {
      for (const Int8Finish& finish : finishes) {
        const DepthwiseTask task = TaskOf(shape, src, zero, finish, random);
        std::vector<uint8_t> x(shape.images * shape.rows * shape.columns * shape.channels);
        for (uint8_t& byte : x) {
          const auto drawn = static_cast<uint32_t>(random());
          byte = static_cast<uint8_t>(drawn % 5 == 0 ? (drawn & 256 ? 255u : 128u) : drawn >> 9);
        }
        const int64_t count = shape.images * task.rows.out * task.columns.out * shape.channels;
        const size_t element = ElementSize(finish.type);
        for (const DepthwiseCpu cpu : DepthwiseCpus()) {
          const auto loop = MakeDepthwise(task, cpu);
          ASSERT_TRUE(loop.ok()) << loop.status();
          // Guards on both sides, which must stay.
          std::vector<std::byte> y(count * element + 128, std::byte{0x5a}),
              scratch((*loop)->scratch_bytes(omp_get_max_threads()));
          (*loop)->Run(reinterpret_cast<const std::byte*>(x.data()), y.data() + 64, scratch.data());
          for (int64_t i = 0; i < count; ++i) {
            const int64_t channel = i % shape.channels, column = i / shape.channels % task.columns.out;
            const int64_t row = i / shape.channels / task.columns.out % task.rows.out;
            const int64_t image = i / shape.channels / task.columns.out / task.rows.out;
            const std::string wrong =
                WrongAt(task, SumAt(task, x, image, row, column, channel), channel, y.data() + 64 + i * element);
            ASSERT_EQ(wrong, "") << NameOf(cpu) << ": " << shape.channels << " channels, " << shape.rows << " x "
                                 << shape.columns << ", kernel " << shape.kernel << ", stride " << shape.stride
                                 << ", src " << DataTypeName(src) << " zero " << zero << ", dst "
                                 << DataTypeName(finish.type) << " at " << image << ", " << row << ", " << column
                                 << ", " << channel;
          }
          for (int i = 0; i < 64; ++i) {
            ASSERT_EQ(y[i], std::byte{0x5a}) << NameOf(cpu) << " wrote before y";
            ASSERT_EQ(y[y.size() - 1 - i], std::byte{0x5a}) << NameOf(cpu) << " wrote after y";
          }
        }
      }
    }
  }
}

// 255 * 127 * 4 is far beyond 16 bits: sums of pairs must not saturate.
TEST(Int8DepthwiseTest, SumsDoNotSaturate) {
  DepthwiseTask task{.channels = 32, .rows = {5, 5, 1}, .columns = {5, 5, 1}, .finish = {.type = DataType::kFloat32}};
  task.weights.assign(9 * 32, 127);
  task.factors.assign(32, 1.0f);
  task.offsets.assign(32, 0.0f);
  const std::vector<std::byte> x(5 * 5 * 32, std::byte{255});
  for (const DepthwiseCpu cpu : DepthwiseCpus()) {
    const auto loop = MakeDepthwise(task, cpu);
    ASSERT_TRUE(loop.ok()) << loop.status();
    std::vector<float> y(5 * 5 * 32);
    std::vector<std::byte> scratch((*loop)->scratch_bytes(omp_get_max_threads()));
    (*loop)->Run(x.data(), reinterpret_cast<std::byte*>(y.data()), scratch.data());
    EXPECT_EQ(y[0], 4 * 255 * 127) << NameOf(cpu) << ": at a corner";
    EXPECT_EQ(y[(2 * 5 + 2) * 32 + 31], 9 * 255 * 127) << NameOf(cpu) << ": inside";
  }
}

TEST(Int8DepthwiseTest, RefusesWhatItCannotCompute) {
  DepthwiseTask task{.channels = 1, .rows = {5, 5, 1}, .columns = {5, 5, 1}};
  task.weights.assign(9, 1);
  task.factors.assign(1, 1.0f);
  task.offsets.assign(1, 0.0f);
  EXPECT_TRUE(MakeDepthwise(task).ok());
  DepthwiseTask large = task;
  large.factors[0] = 1e9f;
  EXPECT_EQ(MakeDepthwise(large).status().code(), absl::StatusCode::kUnimplemented) << "beyond an int32";
  DepthwiseTask wide = task;
  wide.kernel = 7;
  EXPECT_EQ(MakeDepthwise(wide).status().code(), absl::StatusCode::kUnimplemented);
  DepthwiseTask strided = task;
  strided.stride = 3;
  EXPECT_EQ(MakeDepthwise(strided).status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace halftone::simd

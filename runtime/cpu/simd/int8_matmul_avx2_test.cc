// SPDX-License-Identifier: Apache-2.0
// Int8 matmuls against a plain function: odd sizes, both orders of both operands, zero points, the largest sums.
#include "runtime/cpu/simd/int8_matmul_avx2.h"

#include <omp.h>

#include <algorithm>
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

using Bytes = std::vector<std::byte>;

struct Sizes {
  int64_t rows, depth, columns;
};
constexpr Sizes kSizes[] = {{1, 1, 1},    {5, 33, 17}, {6, 16, 16},   {7, 15, 31},
                            {25, 64, 48}, {49, 7, 5},  {13, 130, 16}, {2, 31, 100}};
constexpr int64_t kMatrices = 3;  // that share two right operands

constexpr std::pair<DataType, int32_t> kTypes[] = {
    {DataType::kUInt8, 0}, {DataType::kUInt8, 131}, {DataType::kInt8, 0}, {DataType::kInt8, -128}};

int32_t NumberAt(const Bytes& bytes, const Int8Operand& operand, int64_t at) {
  const std::byte byte = bytes[static_cast<size_t>(at)];
  const int32_t number = operand.type == DataType::kInt8 ? static_cast<int32_t>(static_cast<int8_t>(byte))
                                                         : static_cast<int32_t>(static_cast<uint8_t>(byte));
  return number - operand.zero_point;
}

Bytes RandomBytes(int64_t count, std::mt19937& random) {
  Bytes bytes(static_cast<size_t>(count));
  for (std::byte& byte : bytes) {
    const auto drawn = static_cast<uint32_t>(random());
    byte = static_cast<std::byte>(drawn % 5 == 0 ? (drawn & 256 ? 255u : 128u) : drawn >> 9);
  }
  return bytes;
}

struct Problem {
  Int8MatMulTask task;
  Bytes a, b, addend;
};

// With `turned` the elements that are added up lie apart.
Problem ProblemOf(const Sizes& s, bool a_turned, bool b_turned, std::pair<DataType, int32_t> a,
                  std::pair<DataType, int32_t> b, const Int8Finish& finish, std::mt19937& random) {
  Problem p;
  p.task = {.rows = s.rows, .depth = s.depth, .columns = s.columns, .finish = finish};
  p.task.a = {a.first, a.second, a_turned ? 1 : s.depth, a_turned ? s.rows : 1};
  p.task.b = {b.first, b.second, b_turned ? 1 : s.depth, b_turned ? s.columns : 1};
  p.task.b_places = {0, s.depth * s.columns};
  for (int64_t i = 0; i < kMatrices; ++i)
    p.task.matrices.push_back({.a = i * s.rows * s.depth, .addend = i * s.columns, .b = i == 1 ? 0 : 1});
  std::uniform_real_distribution<float> real(0.5f, 2.0f);
  for (int64_t j = 0; j < s.columns; ++j) {
    p.task.factors.push_back(real(random) * 2e-4f / static_cast<float>(s.depth));
    p.task.offsets.push_back(real(random) - 1.25f);
  }
  p.a = RandomBytes(kMatrices * s.rows * s.depth, random);
  p.b = RandomBytes(2 * s.depth * s.columns, random);
  return p;
}

double AddendAt(const Problem& p, int64_t matrix, int64_t row, int64_t column) {
  if (!p.task.has_addend) return 0;
  const Int8MatMulAddend& added = p.task.addend;
  const int64_t at = p.task.matrices[matrix].addend + row * added.row_stride + column * added.column_stride;
  if (added.type == DataType::kFloat32) {
    float number;
    std::memcpy(&number, p.addend.data() + at * 4, sizeof(number));
    return number;
  }
  return NumberAt(p.addend, {added.type, added.zero_point}, at) * static_cast<double>(added.scale);
}

// The real number at one place before the activation.
double NumberAt(const Problem& p, int64_t matrix, int64_t row, int64_t column) {
  const Int8MatMulTask& t = p.task;
  int64_t sum = 0;
  for (int64_t k = 0; k < t.depth; ++k) {
    const int64_t a = t.matrices[matrix].a + row * t.a.stride + k * t.a.step;
    const int64_t b = t.b_places[t.matrices[matrix].b] + column * t.b.stride + k * t.b.step;
    sum += static_cast<int64_t>(NumberAt(p.a, t.a, a)) * NumberAt(p.b, t.b, b);
  }
  return static_cast<double>(sum) * t.factors[column] + t.offsets[column] + AddendAt(p, matrix, row, column);
}

// What is wrong with y at one place; "" if nothing.
std::string WrongAt(const Problem& p, double number, const std::byte* y) {
  const Int8Finish& f = p.task.finish;
  if (f.activation == Activation::kRelu) number = std::max(number, 0.0);
  if (f.activation == Activation::kSwish) number = number / (1 + std::exp(-f.alpha * number));
  if (f.type == DataType::kFloat32) {
    float written;
    std::memcpy(&written, y, sizeof(written));
    return std::abs(written - number) <= 3e-6 * (1 + std::abs(number)) ? "" : Concat(written, " instead of ", number);
  }
  const int32_t low = f.type == DataType::kInt8 ? -128 : 0, high = low + 255;
  const int32_t written = NumberAt({*y}, {f.type}, 0);
  const double exact = number / f.scale;
  const double clamped = std::clamp(std::nearbyint(exact) + f.zero_point, 1.0 * low, 1.0 * high);
  // One step where the exact number lies within the rounding of floats of the middle between two.
  const double distance = std::abs(std::abs(exact - std::floor(exact)) - 0.5);
  if (clamped == written || (std::abs(clamped - written) == 1 && distance <= 1e-5 * (1 + std::abs(exact)))) return "";
  return Concat(written, " instead of ", clamped, ", exactly ", exact);
}

std::string WrongIn(const Problem& p, bool constant) {
  const Int8MatMulTask& t = p.task;
  const auto matmul = MakeInt8MatMul(t, constant ? p.b.data() : nullptr);
  if (!matmul.ok()) return std::string(matmul.status().message());
  const size_t element = ElementSize(t.finish.type);
  const int64_t count = kMatrices * t.rows * t.columns;
  // Guards on both sides, which must stay.
  Bytes y(static_cast<size_t>(count) * element + 128, std::byte{0x5a}),
      scratch((*matmul)->scratch_bytes(omp_get_max_threads()));
  (*matmul)->Run(p.a.data(), constant ? nullptr : p.b.data(), p.addend.data(), y.data() + 64, scratch.data());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t column = i % t.columns, row = i / t.columns % t.rows, matrix = i / t.columns / t.rows;
    const std::string wrong =
        WrongAt(p, NumberAt(p, matrix, row, column), y.data() + 64 + static_cast<size_t>(i) * element);
    if (!wrong.empty()) return Concat("matrix ", matrix, " row ", row, " column ", column, ": ", wrong);
  }
  for (size_t i = 0; i < 64; ++i) {
    if (y[i] != std::byte{0x5a} || y[y.size() - 1 - i] != std::byte{0x5a}) return "wrote beyond y";
  }
  return "";
}

bool HasLoops() { return MakeInt8MatMul({.matrices = {{}}, .factors = {1}, .offsets = {0}}, nullptr).ok(); }

TEST(Int8MatMulAvx2Test, GivesWhatThePlainFunctionGives) {
  if (!HasLoops()) GTEST_SKIP() << "a CPU without AVX2";
  std::mt19937 random(7);
  const Int8Finish finishes[] = {
      {.type = DataType::kUInt8, .scale = 0.02f, .zero_point = 128},
      {.type = DataType::kInt8, .scale = 0.03f, .zero_point = -7, .activation = Activation::kRelu},
      {.type = DataType::kUInt8, .scale = 0.02f, .zero_point = 20, .activation = Activation::kSwish, .alpha = 1},
      {.type = DataType::kFloat32},
      {.type = DataType::kFloat32, .activation = Activation::kRelu},
  };
  for (const Sizes& s : kSizes) {
    for (int turned = 0; turned < 4; ++turned) {
      for (const auto& a : kTypes) {
        for (const auto& b : kTypes) {
          for (const Int8Finish& finish : finishes) {
            const Problem p = ProblemOf(s, (turned & 1) != 0, (turned & 2) != 0, a, b, finish, random);
            for (const bool constant : {false, true})
              ASSERT_EQ(WrongIn(p, constant), "")
                  << s.rows << " x " << s.depth << " x " << s.columns << ", turned " << turned << ", a "
                  << DataTypeName(a.first) << " " << a.second << ", b " << DataTypeName(b.first) << " " << b.second
                  << ", to " << DataTypeName(finish.type);
          }
        }
      }
    }
  }
}

TEST(Int8MatMulAvx2Test, Addends) {
  if (!HasLoops()) GTEST_SKIP() << "a CPU without AVX2";
  std::mt19937 random(9);
  for (const DataType type : {DataType::kFloat32, DataType::kUInt8, DataType::kInt8}) {
    for (const DataType to : {DataType::kFloat32, DataType::kInt8}) {
      for (const int64_t row_stride : {0, 300}) {
        for (const int64_t column_stride : {0, 1}) {
          const Int8Finish finish{.type = to, .scale = 0.05f, .zero_point = 3, .activation = Activation::kRelu};
          Problem p = ProblemOf({5, 9, 300}, false, true, kTypes[1], kTypes[2], finish, random);
          p.task.has_addend = true;
          p.task.addend = {type, 0.02f, type == DataType::kFloat32 ? 0 : 5, row_stride, column_stride};
          p.addend = RandomBytes(4 * 300 * 8, random);
          for (size_t i = 0; type == DataType::kFloat32 && i < p.addend.size() / 4; ++i) {
            const float number = static_cast<float>(i % 17) * 0.1f - 0.7f;
            std::memcpy(p.addend.data() + i * 4, &number, sizeof(number));
          }
          ASSERT_EQ(WrongIn(p, false), "") << DataTypeName(type) << " to " << DataTypeName(to) << ", strides "
                                           << row_stride << " and " << column_stride;
        }
      }
    }
  }
}

// 255 * 255 * 2^15 is the largest sum that 32 bits hold.
TEST(Int8MatMulAvx2Test, SumsDoNotSaturate) {
  if (!HasLoops()) GTEST_SKIP() << "a CPU without AVX2";
  const int64_t depth = 1 << 15;
  Int8MatMulTask task{
      .depth = depth, .matrices = {{}}, .factors = {1.0f}, .offsets = {0.0f}, .finish = {.type = DataType::kFloat32}};
  task.a = {DataType::kUInt8, 0, depth, 1};
  task.b = {DataType::kInt8, 127, depth, 1};
  const Bytes a(depth, std::byte{255}), b(depth, std::byte{128});
  const auto matmul = MakeInt8MatMul(task, nullptr);
  ASSERT_TRUE(matmul.ok()) << matmul.status();
  Bytes scratch((*matmul)->scratch_bytes(omp_get_max_threads()));
  float y = 0;
  (*matmul)->Run(a.data(), b.data(), nullptr, reinterpret_cast<std::byte*>(&y), scratch.data());
  EXPECT_EQ(y, -255.0f * 255 * static_cast<float>(depth));
  Int8MatMulTask longer = task;
  ++longer.depth;
  EXPECT_EQ(MakeInt8MatMul(longer, nullptr).status().code(), absl::StatusCode::kUnimplemented);
  Int8MatMulTask larger = task;
  larger.factors[0] = INFINITY;
  EXPECT_EQ(MakeInt8MatMul(larger, nullptr).status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace halftone::simd

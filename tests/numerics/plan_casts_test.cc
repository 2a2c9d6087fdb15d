// SPDX-License-Identifier: Apache-2.0
// Casts as plans carry them out: between all layouts, out of and into all types; and the last rounding of kernels that
// compute in f32 and write bf16.
#include <bit>
#include <cmath>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "base/strings.h"
#include "gtest/gtest.h"
#include "ir/text.h"
#include "runtime/cpu/onednn/forced_layouts.h"
#include "runtime/engine.h"
#include "tests/numerics/nearest.h"

namespace halftone::testing {
namespace {

// All upper halves of a float, each with these lower ones: denormals, infinities and NaN are among them.
constexpr uint16_t kLowerHalves[] = {0x0000, 0x0001, 0x1000, 0x3000, 0x7fff, 0x8000, 0x8001, 0xffff, 0xf000, 0x5555};
constexpr int64_t kUppers = 1 << 16;
static_assert(4 * 40 * 64 * 64 == kUppers * static_cast<int64_t>(std::size(kLowerHalves)));

// 40 channels do not fill blocks of 16.
Tensor EveryUpperHalf() {
  Tensor x(DataType::kFloat32, {4, 40, 64, 64});
  const std::span<float> numbers = x.mutable_data<float>();
  for (size_t i = 0; i < numbers.size(); ++i) {
    const uint32_t upper = static_cast<uint32_t>(i / std::size(kLowerHalves));
    numbers[i] = std::bit_cast<float>(upper << 16 | kLowerHalves[i % std::size(kLowerHalves)]);
  }
  return x;
}

// All 2^16 numbers of a narrow type.
Tensor EveryPattern(DataType type, std::vector<int64_t> dims) {
  Tensor x(type, std::move(dims));
  const std::span<uint16_t> bits = x.mutable_data<uint16_t>();
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
  return x;
}

// The only result of the graph, and which kernels made it.
struct RunResult {
  Tensor tensor;
  std::string steps;
};

// `backend`: null for that of the product.
absl::StatusOr<RunResult> RunText(std::string_view text, const Backend* backend, const Tensor& x) {
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  if (!graph.ok()) return graph.status();
  const CompileOptions options{.threads = 2};
  const absl::StatusOr<std::unique_ptr<Plan>> plan =
      backend == nullptr ? CompilePlan(*graph, options) : Plan::Compile(*graph, options, *backend);
  if (!plan.ok()) return plan.status();
  absl::StatusOr<std::vector<Tensor>> y = (*plan)->Run(std::vector<Tensor>{x});
  if (!y.ok()) return y.status();
  RunResult result{.tensor = y->front()};
  for (const StepInfo& step : (*plan)->steps())
    result.steps = Concat(result.steps, step.op, " ", step.kernel.name, "\n");
  return result;
}

// ---- f32 to bf16: out of every layout, into it, within it, and into a permuted one. oneDNN's reorders make zeros of
// denormal numbers, and some lose the sign of zero; where nothing but the type changes both stay (converters.cc).

constexpr std::string_view kCasts[] = {"a: $F = identity(x)  b: $T = cast(a)  return b",
                                       "b: $T = cast(x)  c: $T = identity(b)  return c",
                                       "a: $F = identity(x)  b: $T = cast(a)  c: $T = identity(b)  return c",
                                       "a: $F = identity(x)  t = transpose(a, [0,2,3,1])  b: $N = cast(t)  c: $N = "
                                       "identity(b)  return transpose(c, [0,3,1,2])"};
constexpr uint16_t kSign = 0x8000;
constexpr uint16_t kLeastNormal = 0x0080;

TEST(PlanCastsTest, RoundedInEveryLayout) {
  const Tensor x = EveryUpperHalf();
  const std::span<const float> numbers = x.data<float>();
  const Nearest nearest(DataType::kBFloat16);
  int kept = 0;  // denormal numbers
  for (const ForcedLayout layout : kForcedLayouts) {
    const std::unique_ptr<Backend> backend = MakeForcedLayoutBackend(layout);
    for (const std::string_view body : kCasts) {
      const std::string text =
          absl::StrReplaceAll(Concat("graph (x: $F) { ", body, " }"),
                              {{"$F", "f32[4,40,64,64]"}, {"$T", "bf16[4,40,64,64]"}, {"$N", "bf16[4,64,64,40]"}});
      SCOPED_TRACE(Concat(ForcedLayoutName(layout), ": ", text));
      const absl::StatusOr<RunResult> y = RunText(text, backend.get(), x);
      ASSERT_TRUE(y.ok()) << y.status();
      const std::span<const uint16_t> actual = y->tensor.data<uint16_t>();
      ASSERT_EQ(actual.size(), numbers.size());
      for (size_t i = 0; i < numbers.size(); ++i) {
        uint16_t expected = nearest.Round(numbers[i]);
        const bool is_denormal = std::fpclassify(numbers[i]) == FP_SUBNORMAL;
        kept += is_denormal && actual[i] == expected && (expected & ~kSign) != 0;
        const bool may_be_any_zero = is_denormal || (expected & ~kSign) == 0;
        if (may_be_any_zero && (actual[i] & ~kSign) == 0) expected = actual[i];
        ASSERT_EQ(Difference(std::bit_cast<uint32_t>(numbers[i]), {&actual[i], 1}, {&expected, 1}), "")
            << "element " << i << "\n"
            << y->steps;
      }
    }
  }
  std::printf("%d denormal numbers were kept\n", kept);
}

// ---- All numbers of the narrow types.

bool IsNan(DataType type, uint16_t bits) { return (bits & 0x7fff) > (type == DataType::kBFloat16 ? 0x7f80 : 0x7c00); }

// Numbers, that is: of float16, reorders lose the sign of zero; of bf16, denormals.
TEST(PlanCastsTest, WideningIsExactInEveryLayout) {
  for (const DataType from : {DataType::kBFloat16, DataType::kFloat16}) {
    const Tensor x = EveryPattern(from, {4, 4, 64, 64});
    const Nearest nearest(from);
    for (const ForcedLayout layout : kForcedLayouts) {
      const std::unique_ptr<Backend> backend = MakeForcedLayoutBackend(layout);
      for (const std::string_view body :
           {"a: $F = identity(x)  b: $T = cast(a)  return b", "b: $T = cast(x)  c: $T = identity(b)  return c"}) {
        const std::string text =
            absl::StrReplaceAll(Concat("graph (x: $F) { ", body, " }"),
                                {{"$F", Concat(DataTypeName(from), "[4,4,64,64]")}, {"$T", "f32[4,4,64,64]"}});
        SCOPED_TRACE(Concat(ForcedLayoutName(layout), ": ", text));
        const absl::StatusOr<RunResult> y = RunText(text, backend.get(), x);
        ASSERT_TRUE(y.ok()) << y.status();
        const std::span<const float> actual = y->tensor.data<float>();
        for (uint32_t bits = 0; bits < kUppers; ++bits) {
          const uint32_t magnitude = bits & 0x7fff;
          const bool vanishes = from == DataType::kBFloat16 && magnitude < kLeastNormal;
          if (magnitude == 0 || (vanishes && actual[bits] == 0)) {
            ASSERT_EQ(actual[bits], 0.0f) << bits;
            continue;
          }
          if (IsNan(from, static_cast<uint16_t>(bits))) {
            ASSERT_TRUE(std::isnan(actual[bits])) << bits;
          } else if (magnitude == nearest.infinity()) {
            ASSERT_TRUE(std::isinf(actual[bits])) << bits;
          } else {
            ASSERT_EQ(static_cast<double>(std::fabs(actual[bits])), nearest.values()[magnitude]) << bits << "\n"
                                                                                                 << y->steps;
          }
          ASSERT_EQ(std::signbit(actual[bits]), bits >= kSign) << bits;
        }
      }
    }
  }
}

TEST(PlanCastsTest, BetweenTheNarrowTypes) {
  for (const auto& [from, to] :
       {std::pair(DataType::kBFloat16, DataType::kFloat16), std::pair(DataType::kFloat16, DataType::kBFloat16)}) {
    const Tensor x = EveryPattern(from, {64, 16, 64});
    const Nearest nearest(to);
    const std::string text = Concat("graph (x: ", DataTypeName(from), "[64,16,64]) { y: ", DataTypeName(to),
                                    "[64,16,64] = cast(x)  return y }");
    SCOPED_TRACE(text);
    const absl::StatusOr<RunResult> y = RunText(text, nullptr, x);
    ASSERT_TRUE(y.ok()) << y.status();
    const auto widen = from == DataType::kBFloat16 ? FloatFromBFloat16 : FloatFromFloat16;
    const std::span<const uint16_t> actual = y->tensor.data<uint16_t>();
    for (uint32_t bits = 0; bits < kUppers; ++bits) {
      const uint16_t expected = nearest.Round(widen(static_cast<uint16_t>(bits)));
      ASSERT_EQ(actual[bits], expected) << bits << "\n" << y->steps;
    }
  }
}

// ---- Kernels that compute.

// x times 1 + 2^-7 has at most 16 bits, so that f32 holds it: what is left is one rounding.
constexpr float kFactor = 1.0078125f;
constexpr std::string_view kProducts[] = {
    "graph (x: bf16[64,16,64]) { return mul(x, 1.0078125:bf16) }",
    "graph (x: bf16[64,16,64]) { return binary_chain(x, 1.0078125:bf16, 1.0:bf16) {ops=[\"mul\", \"mul\"]} }",
    "graph (x: bf16[64,16,64]) { w = fill([1,1], 1.0078125:bf16)  return reshape(matmul(reshape(x, [65536,1]), w), "
    "[64,16,64]) }",
    "graph (x: bf16[64,16,64]) { w = fill([1,1], 1.0078125:bf16)  return reshape(gemm(reshape(x, [65536,1]), w), "
    "[64,16,64]) }",
    "graph (x: bf16[64,16,64]) { w = fill([16,1,1], 1.0078125:bf16)  return conv(x, w) {group=16} }",
    "graph (x: bf16[64,16,64]) { y = reshape(x, [4,16,16,64])  w = fill([16,1,1,1], 1.0078125:bf16)  "
    "return reshape(conv(y, w) {group=16}, [64,16,64]) }",
    "graph (x: bf16[64,16,64]) { y = reshape(x, [64,1,16,64])  w = fill([1,1,1,1], 1.0078125:bf16)  "
    "return reshape(conv(y, w), [64,16,64]) }",
    "graph (x: bf16[64,16,64]) { y = reshape(x, [64,1,16,64])  w = fill([1,1,1,1], 1.0078125:bf16)  "
    "return reshape(conv_transpose(y, w), [64,16,64]) }",
    "graph (x: bf16[64,16,64]) { w = fill([1,1], 1.0078125:bf16)  return reshape(einsum(reshape(x, [65536,1]), w) "
    "{equation=\"ij,jk->ik\"}, [64,16,64]) }",
};

// Here the CPU's instructions round, which make zeros of denormal numbers. All finite numbers: an infinity times the
// zero of a padded weight is NaN in its neighbour.
TEST(PlanCastsTest, KernelsRoundTheirResultsToNearestEven) {
  Tensor x = EveryPattern(DataType::kBFloat16, {64, 16, 64});
  for (uint16_t& bits : x.mutable_data<uint16_t>()) bits = (bits & 0x7f80) == 0x7f80 ? uint16_t{0x3f80} : bits;
  const Nearest nearest(DataType::kBFloat16);
  for (const std::string_view text : kProducts) {
    SCOPED_TRACE(text);
    const absl::StatusOr<RunResult> y = RunText(text, nullptr, x);
    ASSERT_TRUE(y.ok()) << y.status();
    const std::span<const uint16_t> given = x.data<uint16_t>(), actual = y->tensor.data<uint16_t>();
    for (size_t i = 0; i < actual.size(); ++i) {
      const float product = FloatFromBFloat16(given[i]) * kFactor;
      const uint16_t expected = nearest.Round(product);
      if ((expected & ~kSign) <= kLeastNormal) {
        ASSERT_LE(actual[i] & ~kSign, kLeastNormal + 1) << i << "\n" << y->steps;
      } else {
        ASSERT_EQ(actual[i], expected) << i << ": " << product << "\n" << y->steps;
      }
    }
  }
}

}  // namespace
}  // namespace halftone::testing

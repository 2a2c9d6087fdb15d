// SPDX-License-Identifier: Apache-2.0
#include "tests/numerics/converters.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/log/check.h"
#include "absl/strings/str_cat.h"
#include "ir/reference/reference.h"
#include "ir/tensor.h"
#include "ir/text.h"
#include "runtime/cpu/simd/channel_copy.h"
#include "runtime/cpu/simd/elementwise.h"
#include "runtime/cpu/simd/gates.h"
#include "runtime/cpu/simd/round_floats.h"
#include "runtime/cpu/simd/simd.h"
#include "runtime/cpu/simd/vector_math.h"
#include "runtime/cpu/simd/vectors.h"
#include "runtime/engine.h"

namespace halftone::testing {
namespace {

using Floats = std::vector<float>;
using Halves = std::vector<uint16_t>;

// ---- Loops over what kernels inline, for each kind of CPU.

HALFTONE_INLINE void Scalars(const float* x, uint16_t* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = simd::ToBf16(x[i]);
}
template <int kLanes>
HALFTONE_INLINE void Pairs(const float* x, uint16_t* y, int64_t count) {
  for (int64_t i = 0; i + 2 * kLanes <= count; i += 2 * kLanes) {
    simd::PairOf<typename simd::Vectors<kLanes>::Floats> pair;
    for (int k = 0; k < kLanes; ++k) {
      pair.even[k] = x[i + 2 * k];
      pair.odd[k] = x[i + 2 * k + 1];
    }
    simd::StorePair(y + i, pair);
  }
}
HALFTONE_INLINE void F16s(const float* x, uint16_t* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = simd::F16::Put(x[i]);
}

using Loop = void (*)(const float*, uint16_t*, int64_t);
struct InlinedRow {
  std::string_view name;
  DataType to;
  Loop avx512, avx2, any;
};

#define HALFTONE_INLINED(Body, Name)                                                                       \
  HALFTONE_FOR_AVX512 void Name##Avx512(const float* x, uint16_t* y, int64_t count) { Body(x, y, count); } \
  HALFTONE_FOR_AVX2 void Name##Avx2(const float* x, uint16_t* y, int64_t count) { Body(x, y, count); }     \
  void Name##Any(const float* x, uint16_t* y, int64_t count) { Body(x, y, count); }
HALFTONE_INLINED(Scalars, Scalars)
HALFTONE_INLINED(Pairs<16>, Pairs16)
HALFTONE_INLINED(Pairs<8>, Pairs8)
HALFTONE_INLINED(Pairs<4>, Pairs4)
HALFTONE_INLINED(F16s, F16s)

constexpr InlinedRow kInlined[] = {
    {"runtime/cpu/simd/simd.h ToBf16", DataType::kBFloat16, ScalarsAvx512, ScalarsAvx2, ScalarsAny},
    {"runtime/cpu/simd/vectors.h StorePair of 16", DataType::kBFloat16, Pairs16Avx512, Pairs16Avx2, Pairs16Any},
    {"runtime/cpu/simd/vectors.h StorePair of 8", DataType::kBFloat16, Pairs8Avx512, Pairs8Avx2, Pairs8Any},
    {"runtime/cpu/simd/vectors.h StorePair of 4", DataType::kBFloat16, Pairs4Avx512, Pairs4Avx2, Pairs4Any},
    {"runtime/cpu/simd/elementwise.h F16::Put", DataType::kFloat16, F16sAvx512, F16sAvx2, F16sAny},
};

void AddInlined(std::vector<Converter>& all) {
  for (const InlinedRow& row : kInlined) {
    const auto add = [&](std::string_view cpu, Loop loop) {
      all.push_back({absl::StrCat(std::string(row.name), ", ", std::string(cpu)), row.to,
                     [loop](const Floats& x, Halves& y) { loop(x.data(), y.data(), static_cast<int64_t>(x.size())); }});
    };
    if (__builtin_cpu_supports("x86-64-v4")) add("avx512", row.avx512);
    if (__builtin_cpu_supports("x86-64-v3")) add("avx2", row.avx2);
    add("any", row.any);
  }
}

// ---- Functions of kernels.

void AddHost(std::vector<Converter>& all) {
  for (const simd::RoundFunctions& functions : simd::RoundFunctionsForThisCpu()) {
    const std::string cpu(functions.cpu);
    for (const auto& [to, loop] :
         {std::pair(DataType::kBFloat16, functions.to_bf16), std::pair(DataType::kFloat16, functions.to_f16)}) {
      all.push_back(
          {absl::StrCat("runtime/cpu/simd/round_floats.h to ", std::string(DataTypeName(to)), ", ", cpu), to,
           [loop = loop](const Floats& x, Halves& y) { loop(x.data(), y.data(), static_cast<int64_t>(x.size())); }});
    }
  }
  all.push_back({"runtime/cpu/simd/gates.h to_bf16", DataType::kBFloat16, [](const Floats& x, Halves& y) {
                   simd::GateFunctionsForThisCpu().to_bf16(x.data(), y.data(), static_cast<int64_t>(x.size()));
                 }});
  for (const int64_t channels : {2, 3, 4}) {
    all.push_back({absl::StrCat("runtime/cpu/simd/channel_copy.h InterleavePlanes of ", channels), DataType::kBFloat16,
                   [channels, pixels_first = Halves()](const Floats& x, Halves& y) mutable {
                     const int64_t pixels = static_cast<int64_t>(x.size()) / channels;
                     pixels_first.resize(x.size());
                     simd::InterleavePlanes(x.data(), channels, pixels, DataType::kBFloat16,
                                            reinterpret_cast<std::byte*>(pixels_first.data()));
                     for (int64_t pixel = 0; pixel < pixels; ++pixel) {
                       for (int64_t c = 0; c < channels; ++c)
                         y[c * pixels + pixel] = pixels_first[pixel * channels + c];
                     }
                   }});
  }
}

// ---- Tensors and graphs.

void CopyOut(const Tensor& tensor, Halves& y) {
  const std::span<const uint16_t> bits = tensor.data<uint16_t>();
  CHECK_EQ(bits.size(), y.size());
  std::copy(bits.begin(), bits.end(), y.begin());
}

Tensor Vector(const Floats& x) { return Tensor::Of<float>({static_cast<int64_t>(x.size())}, x); }

Graph CastGraph(int64_t size, DataType to) {
  absl::StatusOr<Graph> graph = ParseGraph(absl::StrCat(
      "graph (x: f32[", size, "]) { y: ", std::string(DataTypeName(to)), "[", size, "] = cast(x)  return y }"));
  CHECK(graph.ok()) << graph.status();
  return *std::move(graph);
}

void AddOfType(std::vector<Converter>& all, int64_t size, DataType to) {
  const std::string name(DataTypeName(to));
  const auto round = to == DataType::kBFloat16 ? BFloat16FromFloat : Float16FromFloat;
  all.push_back({absl::StrCat("ir/types.h to ", name), to, [round](const Floats& x, Halves& y) {
                   for (size_t i = 0; i < x.size(); ++i) y[i] = round(x[i]);
                 }});
  all.push_back({absl::StrCat("Tensor::ConvertTo ", name), to, [to](const Floats& x, Halves& y) {
                   const absl::StatusOr<Tensor> made = Vector(x).ConvertTo(to);
                   CHECK(made.ok()) << made.status();
                   CopyOut(*made, y);
                 }});
  auto graph = std::make_shared<const Graph>(CastGraph(size, to));
  all.push_back({absl::StrCat("cast to ", name, " by its reference function"), to, [graph](const Floats& x, Halves& y) {
                   const absl::StatusOr<std::vector<Tensor>> made = reference::EvaluateGraph(*graph, {Vector(x)});
                   CHECK(made.ok()) << made.status();
                   CopyOut(made->front(), y);
                 }});
  absl::StatusOr<std::unique_ptr<Plan>> compiled = CompilePlan(*graph, {.threads = 1});
  CHECK(compiled.ok()) << compiled.status();
  std::shared_ptr<Plan> plan = *std::move(compiled);
  all.push_back({absl::StrCat("cast to ", name, " by a plan"), to, [plan](const Floats& x, Halves& y) {
                   const std::vector<Tensor> inputs = {Vector(x)};
                   const absl::StatusOr<std::vector<Tensor>> made = plan->Run(inputs);
                   CHECK(made.ok()) << made.status();
                   CopyOut(made->front(), y);
                 }});
}

}  // namespace

std::vector<Converter> AllConverters(int64_t size) {
  CHECK_EQ(size % 96, 0);
  std::vector<Converter> all;
  for (const DataType to : {DataType::kBFloat16, DataType::kFloat16}) AddOfType(all, size, to);
  AddHost(all);
  AddInlined(all);
  return all;
}

}  // namespace halftone::testing

// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/onednn/repeat.h"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/status.h"
#include "runtime/cpu/onednn/repeat_internal.h"

namespace halftone {
namespace {

using onednn::CpuEngine;
using onednn::MadePrimitive;
using Clock = std::chrono::steady_clock;

// Small numbers of both signs that no float type has to round: no denormals, no infinities.
void Fill(dnnl::memory::data_type type, Pages& pages) {
  constexpr float kValues[] = {0.5f, -0.25f, 1.0f, 0.125f, -0.75f, 0.375f, -1.0f, 0.0625f};
  const size_t width = dnnl::memory::data_type_size(type);
  for (size_t i = 0; i < pages.size() / width; ++i) {
    std::byte* to = pages.data() + i * width;
    const float value = kValues[(i * 5 + i / 8) % 8];
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    switch (type) {
      case dnnl::memory::data_type::f32:
        std::memcpy(to, &bits, sizeof(bits));
        break;
      case dnnl::memory::data_type::bf16:
        bits >>= 16;
        std::memcpy(to, &bits, width);
        break;
      case dnnl::memory::data_type::f16: {
        const _Float16 half = static_cast<_Float16>(value);
        std::memcpy(to, &half, width);
        break;
      }
      default:
        *to = static_cast<std::byte>(i % 7);
    }
  }
}

absl::StatusOr<RepeatedPrimitive> Time(const MadePrimitive& made, double seconds) {
  std::vector<Pages> pages;
  std::unordered_map<int, dnnl::memory> memory;
  for (const auto& [argument, desc] : made.arguments) {
    const size_t bytes = desc.get_size();
    if (bytes == 0) continue;
    HALFTONE_ASSIGN_OR_RETURN(Pages own, Pages::Allocate(bytes));
    if (argument != DNNL_ARG_SCRATCHPAD) Fill(desc.get_data_type(), own);
    memory[argument] = dnnl::memory(desc, CpuEngine(), own.data());
    pages.push_back(std::move(own));
  }
  RepeatedPrimitive result{.kernel = made.kernel};
  const dnnl::stream stream(CpuEngine());
  constexpr int kWarmUp = 3, kMinRuns = 7;
  std::vector<double> times;
  for (int i = 0; i < kWarmUp; ++i) made.primitive.execute(stream, memory);
  const Clock::time_point begin = Clock::now();
  for (Clock::time_point start = begin;
       times.size() < kMinRuns || start - begin < std::chrono::duration<double>(seconds);) {
    start = Clock::now();
    made.primitive.execute(stream, memory);
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  result.best_us = times.front();
  result.median_us = times[times.size() / 2];
  result.runs = static_cast<int>(times.size());
  return result;
}

}  // namespace

absl::StatusOr<RepeatedPrimitive> RepeatPrimitive(std::string_view text, int threads, double seconds) {
  omp_set_num_threads(threads);
  HALFTONE_ASSIGN_OR_RETURN(const onednn::PrimitiveLine line, onednn::ParsePrimitiveLine(text));
  HALFTONE_ASSIGN_OR_RETURN(const MadePrimitive made, onednn::MakeFromLine(line));
  absl::StatusOr<RepeatedPrimitive> result;
  HALFTONE_RETURN_IF_ERROR(onednn::Guard([&] { result = Time(made, seconds); }));
  if (!result.ok()) return result;
  result->wanted = line.kernel;
  result->line_us = line.ms * 1e3;
  return result;
}

absl::Status CanRepeat(std::string_view text) {
  const absl::StatusOr<onednn::PrimitiveLine> line = onednn::ParsePrimitiveLine(text);
  return line.ok() ? onednn::MakeFromLine(*line).status() : line.status();
}

std::string BenchdnnCommandOf(std::string_view text) {
  const absl::StatusOr<onednn::PrimitiveLine> line = onednn::ParsePrimitiveLine(text);
  return line.ok() ? onednn::BenchdnnCommand(*line) : "";
}

}  // namespace halftone

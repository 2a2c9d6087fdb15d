// SPDX-License-Identifier: Apache-2.0
// Every one of the 2^32 floats through every way in which the product makes bf16 and f16 of it. Takes a minute or two
// on two cores: run by name, not with the other tests.
#include <omp.h>

#include <atomic>
#include <bit>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/numerics/converters.h"
#include "tests/numerics/nearest.h"

namespace halftone::testing {
namespace {

constexpr int64_t kSize = 96 << 13;  // what the caches hold; chunks that reach beyond the last float start earlier
constexpr uint64_t kHalf = uint64_t{1} << 31;  // floats of one sign

// What went wrong first, by converter.
struct Problems {
  std::mutex mutex;
  std::map<std::string, std::string> first;
  void Add(const std::string& converter, const std::string& problem) {
    const std::lock_guard<std::mutex> lock(mutex);
    first.emplace(converter, problem);
  }
};

// One thread's part: chunks that no thread has taken yet.
void Work(const Nearest& bf16, const Nearest& f16, std::atomic<uint64_t>& next, std::atomic<uint64_t>& done,
          Problems& problems) {
  omp_set_num_threads(1);
  const std::vector<Converter> converters = AllConverters(kSize);
  std::vector<float> x(kSize);
  std::vector<uint16_t> y(kSize), of_bf16(kSize), of_f16(kSize);
  constexpr uint64_t kChunks = (kHalf + kSize - 1) / kSize;  // of one sign
  for (uint64_t chunk = next++; chunk < 2 * kChunks; chunk = next++) {
    const uint64_t begin = std::min<uint64_t>(chunk % kChunks * kSize, kHalf - kSize);
    const uint32_t first = static_cast<uint32_t>(begin + (chunk < kChunks ? 0 : kHalf));
    for (int64_t i = 0; i < kSize; ++i) x[i] = std::bit_cast<float>(first + static_cast<uint32_t>(i));
    bf16.Round(first, of_bf16);
    f16.Round(first, of_f16);
    for (const Converter& converter : converters) {
      converter.convert(x, y);
      const std::string problem = Difference(first, y, converter.to == DataType::kBFloat16 ? of_bf16 : of_f16);
      if (!problem.empty()) problems.Add(converter.name, problem);
    }
    ++done;
  }
}

TEST(AllFloatsTest, EveryConverterRoundsEveryFloatToNearestEven) {
  const Nearest bf16(DataType::kBFloat16), f16(DataType::kFloat16);
  std::atomic<uint64_t> next = 0, done = 0;
  Problems problems;
  std::vector<std::thread> threads;
  const unsigned count = std::max(1u, std::thread::hardware_concurrency());
  for (unsigned i = 0; i < count; ++i) {
    threads.emplace_back([&] { Work(bf16, f16, next, done, problems); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, 2 * ((kHalf + kSize - 1) / kSize));
  for (const auto& [converter, problem] : problems.first) ADD_FAILURE() << converter << ": " << problem;
}

}  // namespace
}  // namespace halftone::testing

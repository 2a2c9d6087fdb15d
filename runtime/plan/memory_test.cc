// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/memory.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace halftone {
namespace {

void ExpectNoOverlap(const std::vector<MemoryRequest>& requests, const MemoryLayout& layout) {
  ASSERT_EQ(layout.offsets.size(), requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(layout.offsets[i] % kMemoryAlignment, 0u);
    EXPECT_LE(layout.offsets[i] + requests[i].bytes, layout.total);
    for (size_t j = 0; j < i; ++j) {
      const bool together = requests[i].first <= requests[j].last && requests[j].first <= requests[i].last;
      const bool apart = layout.offsets[i] + requests[i].bytes <= layout.offsets[j] ||
                         layout.offsets[j] + requests[j].bytes <= layout.offsets[i];
      EXPECT_TRUE(!together || apart) << i << " and " << j;
    }
  }
}

TEST(MemoryTest, AChainNeedsTwoPieces) {
  std::vector<MemoryRequest> requests;
  for (int i = 0; i < 10; ++i) requests.push_back({1000, i, i + 1});
  const MemoryLayout layout = PlaceInArena(requests);
  ExpectNoOverlap(requests, layout);
  EXPECT_EQ(layout.total, 2 * 1024u);
}

TEST(MemoryTest, ASmallPieceFillsAHole) {
  const std::vector<MemoryRequest> requests = {{4096, 0, 1}, {2048, 0, 9}, {1024, 2, 9}};
  const MemoryLayout layout = PlaceInArena(requests);
  ExpectNoOverlap(requests, layout);
  EXPECT_EQ(layout.total, 6144u);
}

TEST(MemoryTest, RandomLifetimesNeverOverlap) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<MemoryRequest> requests;
    for (int i = 0; i < 60; ++i) {
      const int first = static_cast<int>(random() % 40);
      requests.push_back({random() % 5000, first, first + static_cast<int>(random() % 10)});
    }
    ExpectNoOverlap(requests, PlaceInArena(requests));
  }
}

// What is alive at the busiest step; no arena can be smaller.
size_t LargestSum(const std::vector<MemoryRequest>& requests) {
  size_t largest = 0;
  for (const MemoryRequest& at : requests) {
    size_t sum = 0;
    for (const MemoryRequest& other : requests)
      sum += other.first <= at.first && at.first <= other.last ? other.bytes : 0;
    largest = std::max(largest, sum);
  }
  return largest;
}

// As in nets: most values die soon, some are kept for a sum or a concatenation further on.
TEST(MemoryTest, TheArenaIsLittleLargerThanWhatIsAlive) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 30; ++trial) {
    std::vector<MemoryRequest> requests;
    for (int i = 0; i < 200; ++i) {
      const int kept = random() % 8 == 0 ? 1 + static_cast<int>(random() % 12) : 1;
      requests.push_back({(1 + random() % 16) * 4096, i, i + kept});
    }
    const MemoryLayout layout = PlaceInArena(requests);
    ExpectNoOverlap(requests, layout);
    EXPECT_LE(layout.total, LargestSum(requests) * 1.3);
  }
}

TEST(MemoryTest, ManyPiecesAreFast) {
  std::mt19937 random(9);
  std::vector<MemoryRequest> chain, together;
  for (int i = 0; i < 200'000; ++i) {
    chain.push_back({64 + random() % 9000, i, i + 1 + static_cast<int>(random() % 20)});
    together.push_back({64, i, 200'000});
  }
  EXPECT_GT(PlaceInArena(chain).total, 0u);
  EXPECT_EQ(PlaceInArena(together).total, 200'000u * 64);  // quadratic work would take minutes
}

TEST(MemoryTest, PagesAreZeroAndWritable) {
  absl::StatusOr<Pages> pages = Pages::Allocate(3 << 20);
  ASSERT_TRUE(pages.ok());
  EXPECT_EQ(pages->data()[(3 << 20) - 1], std::byte{0});
  pages->data()[(3 << 20) - 1] = std::byte{1};
  const Pages moved = *std::move(pages);
  EXPECT_EQ(moved.data()[(3 << 20) - 1], std::byte{1});
}

TEST(MemoryTest, NoMemoryIsAnError) {
  EXPECT_EQ(Pages::Allocate(size_t{1} << 60).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Pages::Allocate(~size_t{0}).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(MemoryTest, LastingPiecesAreApart) {
  std::vector<Pages> pieces;
  for (size_t bytes = 1; bytes < (size_t{5} << 20); bytes = bytes * 3 + 7) {
    absl::StatusOr<Pages> pages = Pages::AllocateLasting(bytes);
    ASSERT_TRUE(pages.ok()) << pages.status();
    ASSERT_EQ(pages->size(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pages->data()) % kMemoryAlignment, 0u);
    std::memset(pages->data(), static_cast<int>(pieces.size()), bytes);
    pieces.push_back(*std::move(pages));
  }
  pieces.erase(pieces.begin());  // the others stay
  for (size_t i = 0; i < pieces.size(); ++i) {
    const std::byte* data = pieces[i].data();
    const auto is_mine = [i](std::byte b) { return b == static_cast<std::byte>(i + 1); };
    EXPECT_TRUE(std::all_of(data, data + pieces[i].size(), is_mine)) << i;
  }
}

}  // namespace
}  // namespace halftone

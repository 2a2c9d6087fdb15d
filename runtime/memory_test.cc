#include "runtime/memory.h"

#include <random>

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

}  // namespace
}  // namespace halftone

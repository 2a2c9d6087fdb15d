// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/strided_copy.h"

#include <numeric>

#include "gtest/gtest.h"

namespace halftone {
namespace {

TEST(StridedCopyTest, TransposesEveryElementSize) {
  const auto check = [](auto zero) {
    using T = decltype(zero);
    std::vector<T> from(6), to(6);
    std::iota(from.begin(), from.end(), T{1});  // [2, 3]
    const std::vector<int64_t> dims = {3, 2}, from_strides = {1, 3}, to_strides = {2, 1};
    StridedCopy(dims, from_strides, to_strides, sizeof(T))
        .Run(reinterpret_cast<const std::byte*>(from.data()), reinterpret_cast<std::byte*>(to.data()));
    EXPECT_EQ(to, (std::vector<T>{1, 4, 2, 5, 3, 6}));
  };
  check(uint8_t{0});
  check(uint16_t{0});
  check(uint32_t{0});
  check(uint64_t{0});
}

TEST(StridedCopyTest, ReversesAndBroadcasts) {
  const std::vector<int32_t> from = {1, 2, 3};
  std::vector<int32_t> to(6);
  const std::vector<int64_t> dims = {2, 3}, from_strides = {0, -1}, to_strides = {3, 1};
  StridedCopy(dims, from_strides, to_strides, 4)
      .Run(reinterpret_cast<const std::byte*>(from.data() + 2), reinterpret_cast<std::byte*>(to.data()));
  EXPECT_EQ(to, (std::vector<int32_t>{3, 2, 1, 3, 2, 1}));
}

TEST(StridedCopyTest, ScalarsAndNothing) {
  const int32_t from = 7;
  int32_t to = 0;
  const std::vector<int64_t> none, empty = {0}, stride = {1};
  StridedCopy(empty, stride, stride, 4)
      .Run(reinterpret_cast<const std::byte*>(&from), reinterpret_cast<std::byte*>(&to));
  EXPECT_EQ(to, 0);
  StridedCopy(none, none, none, 4).Run(reinterpret_cast<const std::byte*>(&from), reinterpret_cast<std::byte*>(&to));
  EXPECT_EQ(to, 7);
}

}  // namespace
}  // namespace halftone

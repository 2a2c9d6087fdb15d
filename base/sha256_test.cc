// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace halftone {
namespace {

// The examples of FIPS 180-4's test vectors.
constexpr char kEmpty[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr char kAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr char kMillionA[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(Sha256, TestVectors) {
  EXPECT_EQ(Sha256Hex(""), kEmpty);
  EXPECT_EQ(Sha256Hex("abc"), kAbc);
  EXPECT_EQ(Sha256Hex(std::string(1'000'000, 'a')), kMillionA);
}

TEST(Sha256, PiecesGiveTheSameDigestWithHexInBetween) {
  Sha256 hash;
  EXPECT_EQ(hash.Hex(), kEmpty);
  hash.Update("a");
  EXPECT_EQ(hash.Hex(), Sha256Hex("a"));
  Sha256 moved = std::move(hash);
  moved.Update("bc");
  EXPECT_EQ(moved.Hex(), kAbc);
}

TEST(Sha256, WellFormedNames) {
  EXPECT_TRUE(IsSha256Hex(kAbc));
  std::string upper = kAbc;
  upper[0] = 'B';
  EXPECT_FALSE(IsSha256Hex(upper));
  EXPECT_FALSE(IsSha256Hex(std::string(kAbc) + "0"));
  EXPECT_FALSE(IsSha256Hex(std::string(kAbc, 63)));
  EXPECT_FALSE(IsSha256Hex(""));
}

}  // namespace
}  // namespace halftone

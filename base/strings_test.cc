// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace halftone {
namespace {

TEST(Strings, ViewsOfBothKinds) {
  EXPECT_EQ(Concat("a", std::string("b"), std::string_view("c"), absl::string_view("d"), 5), "abcd5");
  EXPECT_EQ(StdView(AbslView("text")), "text");
}

TEST(Strings, TextArgTakesEveryTextType) {
  const auto length = [](TextArg text) { return text.std().size() + text.absl().size(); };
  EXPECT_EQ(length("abc"), 6u);
  EXPECT_EQ(length(std::string("abc")), 6u);
  EXPECT_EQ(length(std::string_view("abc")), 6u);
  EXPECT_EQ(length(absl::string_view("abc")), 6u);
}

}  // namespace
}  // namespace halftone

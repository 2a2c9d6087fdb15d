// SPDX-License-Identifier: Apache-2.0
#include "base/debug.h"

#include "gtest/gtest.h"

namespace halftone {
namespace {

TEST(DebugOptions, EverySetting) {
  const DebugOptions options =
      ParseDebugOptions("dump=/tmp/d,time,why,only=fuse-*,only=fold,fuel=fuse-bias:3,verify=full,skip=dead*").value();
  EXPECT_EQ(options.dump_dir, "/tmp/d");
  EXPECT_TRUE(options.time && options.why && options.verify_full);
  EXPECT_TRUE(options.Selects("fuse-bias"));
  EXPECT_TRUE(options.Selects("fold"));
  EXPECT_FALSE(options.Selects("lower"));
  EXPECT_TRUE(options.Skips("dead-code"));
  EXPECT_EQ(options.Fuel("fuse-bias"), 3);
  EXPECT_EQ(options.Fuel("fold"), std::nullopt);
}

TEST(DebugOptions, EmptyIsOff) {
  const DebugOptions options = ParseDebugOptions("").value();
  EXPECT_FALSE(options.time || options.why || options.verify_full);
  EXPECT_TRUE(options.Selects("anything"));
  EXPECT_FALSE(options.Skips("anything"));
}

TEST(DebugOptions, ErrorsNameTheSetting) {
  for (const char* text :
       {"tiem", "time=1", "dump", "dump=", "fuel=x", "fuel=:3", "fuel=x:-1", "verify", "verify=half"}) {
    const absl::Status status = ParseDebugOptions(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_NE(status.message().find(text), std::string::npos) << status;
  }
}

TEST(GlobMatch, Table) {
  EXPECT_TRUE(GlobMatch("*", ""));
  EXPECT_TRUE(GlobMatch("fuse-*", "fuse-"));
  EXPECT_TRUE(GlobMatch("*-bias", "fuse-matmul-bias"));
  EXPECT_TRUE(GlobMatch("a*b*c", "a.b.b.c"));
  EXPECT_TRUE(GlobMatch("a?c", "abc"));
  EXPECT_FALSE(GlobMatch("a?c", "ac"));
  EXPECT_FALSE(GlobMatch("", "a"));
  EXPECT_FALSE(GlobMatch("fuse", "fuse-bias"));
  EXPECT_FALSE(GlobMatch("a*b", "a.b.c"));
}

}  // namespace
}  // namespace halftone

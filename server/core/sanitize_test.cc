// SPDX-License-Identifier: Apache-2.0
#include "server/core/sanitize.h"

#include "gtest/gtest.h"

namespace halftone::server {
namespace {

TEST(HidePaths, KnownPathsOnlySoThatNodeNamesStay) {
  const PathNames names = {{"/data/work/1", "work"}, {"/data/blobs/ab/abcd-5", "model.onnx"}};
  EXPECT_EQ(HidePaths("/data/blobs/ab/abcd-5: node '/layer1/conv' in /data/work/1/x", names),
            "model.onnx: node '/layer1/conv' in work/x");
  EXPECT_EQ(HidePaths("a\x1b[31mb\nc", {}), "a?[31mb\nc");
}

TEST(LastLines, CutsPathsAndLength) {
  const PathNames names = {{"/data/blobs/ab/abcd-5", "model.onnx"}};
  EXPECT_EQ(LastLines("at /usr/lib/x/libfoo.so.1(+0x1) reading /data/blobs/ab/abcd-5\n\n", names),
            "at libfoo.so.1(+0x1) reading model.onnx");
  std::string many;
  for (int i = 0; i < 100; ++i) many += "line " + std::to_string(i) + "\n";
  EXPECT_EQ(LastLines(many, names).substr(0, 7), "line 92");
  EXPECT_LE(LastLines(std::string(100'000, 'x'), names).size(), 2000u);
  EXPECT_EQ(LastLines("\xff\x01", names), "??");
}

}  // namespace
}  // namespace halftone::server

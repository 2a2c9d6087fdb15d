// SPDX-License-Identifier: Apache-2.0
// A prepared graph reads back as it was written, and only for the model file that it was made of.

#include "optimizer/prepared_graph.h"

#include <string>

#include "base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"

namespace halftone {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kModel = R"(
  graph format=onnx (x: f32[2,40]) {
    w = const f32[40,30] uniform(-2, 2)
    q: s8[40,30]{0.0123, 0} = const s8[40,30]
    b = const f32[3] {0.1, -inf, 7}
    m: f32[2,30] = matmul(x, w) {activation="relu"} name="layer"
    d = dequantize_linear(q, 0.0123, 0:s8)
    y = matmul(x, d)
    return m, "out:0"=y, b
  } header {ir_version=8, opset=[17], opset_domains=[""]})";

class PreparedGraphTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<Graph> graph = ParseGraph(kModel);
    ASSERT_TRUE(graph.ok()) << graph.status();
    graph_ = *std::move(graph);
  }

  const TempDir dir_ = *TempDir::Create();
  const std::string path_ = dir_.path() + "/prepared";
  Graph graph_;
};

TEST_F(PreparedGraphTest, ReadsBackWhatWasWritten) {
  ASSERT_EQ(WritePreparedGraph(graph_, "abc", path_), absl::OkStatus());
  const absl::StatusOr<Graph> read = ReadPreparedGraph(path_, "abc");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(PrintGraph(*read, {.with_weights = true}), PrintGraph(graph_, {.with_weights = true}));
}

TEST_F(PreparedGraphTest, BelongsToOneModelFile) {
  ASSERT_EQ(WritePreparedGraph(graph_, "abc", path_), absl::OkStatus());
  const absl::Status other = ReadPreparedGraph(path_, "abd").status();
  EXPECT_EQ(other.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(other.message()), HasSubstr("was not prepared from the model file with the digest abd"));
}

TEST_F(PreparedGraphTest, OtherFilesAreRefused) {
  for (const std::string& text : {std::string(), std::string("short"), std::string(4096, '\xff')}) {
    ASSERT_EQ(WriteFileAtomically(path_, text), absl::OkStatus());
    EXPECT_EQ(ReadPreparedGraph(path_, "abc").status().code(), absl::StatusCode::kInvalidArgument) << text.size();
  }
}

}  // namespace
}  // namespace halftone

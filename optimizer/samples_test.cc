// SPDX-License-Identifier: Apache-2.0
#include "optimizer/samples.h"

#include <map>

#include "base/files.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/npz/npz.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"
#include "optimizer/prepare.h"

namespace halftone {
namespace {

using ::testing::HasSubstr;

class SamplesTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::map<std::string, Tensor>& arrays) {
    const std::string path = Concat(dir_.path(), "/", name);
    std::vector<NamedArray> list;
    for (const auto& [key, tensor] : arrays) list.push_back({key, tensor});
    EXPECT_TRUE(WriteNpz(path, list).ok());
    return path;
  }

  static Tensor Ramp(std::vector<int64_t> dims) {
    Tensor tensor(DataType::kFloat32, std::move(dims));
    float next = 0;
    for (float& value : tensor.mutable_data<float>()) value = next++;
    return tensor;
  }

  std::string BindError(const std::map<std::string, Tensor>& arrays, std::string_view graph_text) {
    const std::unique_ptr<SampleSource> samples = *OpenSamples({{Write("s.npz", arrays), "s.npz"}});
    return std::string(samples->Bind(*ParseGraph(graph_text)).message());
  }

  TempDir dir_ = *TempDir::Create();
};

constexpr std::string_view kBatchOf2 = "graph (x: f32[2,3], keep: f32[]) { y = mul(x, keep) return y }";

TEST_F(SamplesTest, CutsFilesIntoBatchesAndPadsTheLast) {
  const std::string a = Write("a.npz", {{"x", Ramp({5, 3})},
                                        {"keep", Tensor::Scalar(0.5f)},
                                        {"labels", Tensor::Ints(std::vector<int64_t>{0, 1, 2, 3, 4})}});
  const std::string b = Write("b.npz", {{"x", Ramp({1, 3})},
                                        {"keep", Tensor::Scalar(0.5f)},
                                        {"labels", Tensor::Ints(std::vector<int64_t>{9})},
                                        {"z", Ramp({1})}});
  const std::unique_ptr<SampleSource> samples = *OpenSamples({{a, "a"}, {b, "b"}});
  ASSERT_TRUE(samples->Bind(*ParseGraph(kBatchOf2)).ok());
  EXPECT_EQ(samples->num_samples(), 6);
  ASSERT_EQ(samples->num_batches(), 4);
  const Batch third = *samples->Read(2);
  EXPECT_EQ(third.rows, 1);
  EXPECT_EQ(third.labels, (std::vector<int64_t>{4}));
  EXPECT_EQ(third.inputs[0].ToFloats(), (std::vector<float>{12, 13, 14, 12, 13, 14}));
  EXPECT_EQ(third.inputs[1].ToFloats(), (std::vector<float>{0.5f}));
  EXPECT_EQ(samples->Read(3)->labels, (std::vector<int64_t>{9}));
  EXPECT_EQ(samples->unused_arrays(), (std::vector<std::string>{"z"}));
}

TEST_F(SamplesTest, ErrorsNameFileArrayAndInput) {
  const Tensor keep = Tensor::Scalar(1);
  EXPECT_THAT(BindError({{"image", Ramp({4, 3})}, {"keep", keep}}, kBatchOf2),
              HasSubstr("samples 's.npz': no array for input 'x'; it has 'image', 'keep'"));
  EXPECT_THAT(BindError({{"x", Ramp({4, 4})}, {"keep", keep}}, kBatchOf2),
              HasSubstr("array 'x' has shape [4,4]; the input needs [?,3]"));
  EXPECT_THAT(BindError({{"x", Ramp({4, 3})}, {"keep", keep}, {"labels", Ramp({4})}}, kBatchOf2),
              HasSubstr("'labels' must be integers of shape [4]"));
  EXPECT_THAT(BindError({{"x", Ramp({0, 3})}, {"keep", keep}}, kBatchOf2), HasSubstr("holds no samples"));
}

// Pixels before preprocessing are the usual case.
TEST_F(SamplesTest, IntegersAreNoFloats) {
  EXPECT_THAT(BindError({{"x", Tensor(DataType::kUInt8, {2, 3})}, {"keep", Tensor::Scalar(1)}}, kBatchOf2),
              HasSubstr("array 'x' is u8 where the input is f32"));
}

TEST_F(SamplesTest, ErrorsAreMarkedAsThoseOfSamples) {
  const std::unique_ptr<SampleSource> samples = *OpenSamples({{Write("m.npz", {{"image", Ramp({4, 3})}}), "m"}});
  const absl::Status bound = samples->Bind(*ParseGraph(kBatchOf2));
  EXPECT_FALSE(bound.ok());
  EXPECT_TRUE(IsSamplesError(Annotate(bound, "fp32 variant")));
  EXPECT_TRUE(IsSamplesError(OpenSamples({{"/none.npz", "none.npz"}}).status()));
  EXPECT_FALSE(IsSamplesError(absl::InvalidArgumentError("no model")));
}

TEST_F(SamplesTest, InputsMayTakeDifferentNumbersOfRows) {
  constexpr std::string_view kGraph =
      "graph (x: f32[1,3], cache: f32[2,2], table: f32[4], step: f32[]) { y = add(x, step) return y, cache, table }";
  const std::string path =
      Write("c.npz", {{"x", Ramp({3, 3})}, {"cache", Ramp({6, 2})}, {"table", Ramp({4})}, {"step", Ramp({3})}});
  const std::unique_ptr<SampleSource> samples = *OpenSamples({{path, "c"}});
  const absl::Status bound = samples->Bind(*ParseGraph(kGraph));
  ASSERT_TRUE(bound.ok()) << bound;
  EXPECT_EQ(samples->num_samples(), 3);
  ASSERT_EQ(samples->num_batches(), 3);
  const Batch last = *samples->Read(2);
  EXPECT_EQ(last.rows, 1);
  EXPECT_EQ(last.inputs[0].ToFloats(), (std::vector<float>{6, 7, 8}));
  EXPECT_EQ(last.inputs[1].ToFloats(), (std::vector<float>{8, 9, 10, 11}));  // two rows a run
  EXPECT_EQ(last.inputs[2].ToFloats(), (std::vector<float>{0, 1, 2, 3}));    // enough for one run: whole in each
  EXPECT_EQ(last.inputs[3].ToFloats(), (std::vector<float>{2}));             // one number per run
  EXPECT_TRUE(last.inputs[3].dims().empty());
  EXPECT_THAT(
      BindError({{"x", Ramp({3, 3})}, {"cache", Ramp({8, 2})}, {"table", Ramp({4})}, {"step", Ramp({3})}}, kGraph),
      HasSubstr("array 'x' of shape [3,3] is for 3 runs, 'cache' of shape [8,2] for 4: they must"));
}

TEST_F(SamplesTest, FilesMayHaveOtherLengths) {
  const std::string a = Write("a.npz", {{"x", Ramp({2, 3})}}), b = Write("b.npz", {{"x", Ramp({1, 5})}});
  const std::unique_ptr<SampleSource> samples = *OpenSamples({{a, "a"}, {b, "b"}});
  EXPECT_EQ(samples->dims().at("x"), (std::vector<int64_t>{2, -1}));
  Graph graph = *ParseGraph("graph (x: f32[N,T]) { y = relu(x) return y }");
  const absl::Status bound = BindShapes(graph, DimSizes(), samples->dims());
  ASSERT_TRUE(bound.ok()) << bound;
  EXPECT_EQ(graph.shape(graph.outputs()[0].value).ToString(), "[1,T]");
  ASSERT_TRUE(samples->Bind(graph).ok());
  ASSERT_EQ(samples->num_batches(), 3);
  EXPECT_EQ(samples->Read(1)->inputs[0].dims(), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(samples->Read(2)->inputs[0].dims(), (std::vector<int64_t>{1, 5}));
}

TEST(BindShapesTest, NamedDimensions) {
  constexpr std::string_view kGraph =
      "graph (x: f32[N,T,3], mask: f32[N,T]) { y = relu(x) z = relu(mask) return y, z }";
  Graph graph = *ParseGraph(kGraph);
  EXPECT_THAT(
      std::string(BindShapes(graph, {.batch = 2}, {}).message()),
      HasSubstr("the shape of input 'x' [2,T,3], 'mask' [2,T] is dynamic: give samples (--eval) or sizes of the "
                "dimensions (--dim NAME=N)"));
  graph = *ParseGraph(kGraph);
  const absl::Status bound = BindShapes(graph, {.batch = 2, .named = {{"T", 7}}}, {});
  ASSERT_TRUE(bound.ok()) << bound;
  EXPECT_EQ(graph.shape(graph.outputs()[0].value).ToString(), "[2,7,3]");
  EXPECT_EQ(graph.shape(graph.outputs()[1].value).ToString(), "[2,7]");
  graph = *ParseGraph(kGraph);
  EXPECT_EQ(std::string(BindShapes(graph, {.named = {{"L", 7}}}, {}).message()),
            "no input has a dynamic dimension 'L'; there are N, T");
}

TEST(BindShapesTest, ABatchThatTheModelDoesNotHaveIsRefused) {
  constexpr std::string_view kStatic = "graph (x: f32[4,3]) { y = relu(x) return y }";
  Graph graph = *ParseGraph(kStatic);
  EXPECT_THAT(std::string(BindShapes(graph, {.batch = 8}, {}).message()),
              HasSubstr("batch 8: the first dimension of input 'x' [4,3] is static"));
  graph = *ParseGraph(kStatic);
  EXPECT_TRUE(BindShapes(graph, {.batch = 4}, {}).ok());
  graph = *ParseGraph(kStatic);
  EXPECT_TRUE(BindShapes(graph, DimSizes(), {}).ok()) << "not asked for";
  graph = *ParseGraph("graph (x: f32[N,3], table: f32[9]) { y = relu(x) z = relu(table) return y, z }");
  EXPECT_TRUE(BindShapes(graph, {.batch = 8}, {}).ok()) << "one input has it";
}

TEST_F(SamplesTest, AFirstDimensionOfItsOwnIsNoBatch) {
  Graph graph = *ParseGraph("graph (x: f32[N,3], words: f32[L]) { y = relu(x) z = relu(words) return y, z }");
  ASSERT_TRUE(BindShapes(graph, {.batch = 2}, {{"x", {10, 3}}, {"words", {7}}}).ok());
  EXPECT_EQ(graph.shape(graph.outputs()[0].value).ToString(), "[2,3]");
  EXPECT_EQ(graph.shape(graph.outputs()[1].value).ToString(), "[7]");
}

}  // namespace
}  // namespace halftone

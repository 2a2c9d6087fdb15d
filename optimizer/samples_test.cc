#include "optimizer/samples.h"

#include <map>

#include "base/files.h"
#include "base/strings.h"
#include "formats/npz/npz.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"

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
              HasSubstr("array 'x' has shape [4,4]; the input wants [?,3]"));
  EXPECT_THAT(BindError({{"x", Ramp({4, 3})}, {"keep", keep}, {"labels", Ramp({4})}}, kBatchOf2),
              HasSubstr("'labels' must be integers of shape [4]"));
  EXPECT_THAT(BindError({{"x", Ramp({0, 3})}, {"keep", keep}}, kBatchOf2), HasSubstr("holds no samples"));
}

TEST_F(SamplesTest, ConvertsBytesToFloats) {
  Tensor bytes(DataType::kUInt8, {2, 3});
  bytes.mutable_data<uint8_t>()[4] = 200;
  const std::unique_ptr<SampleSource> samples =
      *OpenSamples({{Write("u.npz", {{"x", bytes}, {"keep", Tensor::Scalar(1)}}), "u"}});
  ASSERT_TRUE(samples->Bind(*ParseGraph(kBatchOf2)).ok());
  EXPECT_EQ(samples->Read(0)->inputs[0].ToFloats()[4], 200.0f);
}

}  // namespace
}  // namespace halftone

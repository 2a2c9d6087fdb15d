// Where ranges come from, and what is said of them.

#include "optimizer/calibrate.h"

#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/sha256.h"
#include "formats/npz/npz.h"
#include "formats/ranges/ranges_json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"

namespace halftone {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kModel = R"(
  graph onnx (x: f32[N,3]) {
    w = const f32[3,2] {1, 0, 0, 2, 0, 0}
    m = matmul(x, w)
    y = relu(m)
    return y
  } header {ir_version=8, opset=[17], opset_domains=[""]})";

class CalibrateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    graph_ = *ParseGraph(kModel);
    options_.model.path = Path("model.onnx");
    options_.out_dir = dir_.path();
    ASSERT_TRUE(SaveModel(graph_, options_.model.path).ok());
  }
  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }

  void GiveSamples(std::vector<float> numbers) {
    Tensor x(DataType::kFloat32, {static_cast<int64_t>(numbers.size()) / 3, 3});
    std::copy(numbers.begin(), numbers.end(), x.mutable_data<float>().begin());
    ASSERT_TRUE(WriteNpz(Path("s.npz"), {{"x", x}}).ok());
    options_.calibration = {{Path("s.npz"), "s.npz"}};
  }
  void GiveRanges(const std::string& text) {
    std::ofstream(Path("r.json")) << text;
    options_.int8.ranges = SampleFile{Path("r.json"), "r.json"};
  }
  absl::StatusOr<CalibratedRanges> Run() const { return CalibrateModel(graph_, graph_, options_); }

  TempDir dir_ = *TempDir::Create();
  Graph graph_;
  OptimizeOptions options_;
};

TEST_F(CalibrateTest, RangesOfSamplesWithoutTheirPadding) {
  options_.benchmark.batch = 2;  // 3 samples: the second run has one row and a copy of it
  GiveSamples({1, 2, 0, -4, 3, 0, 5, -1, 0});
  const absl::StatusOr<CalibratedRanges> result = Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->ranges.samples, 3);
  const ValueRange& x = result->ranges.values.at("x");
  EXPECT_EQ(x.min, -4);
  EXPECT_EQ(x.max, 5);
  EXPECT_EQ(x.count, 9u);
  EXPECT_EQ(result->ranges.values.at("m").max, 6) << "2 * 3";
  EXPECT_EQ(result->ranges.values.at("y").min, 0);
  EXPECT_EQ(result->summary.source, "samples");
  EXPECT_EQ(result->summary.calibrator, "min-max");
  EXPECT_FALSE(result->summary.synthetic);
  EXPECT_EQ(result->summary.silent_channels, (std::map<std::string, int64_t>{{"x", 1}}));
  EXPECT_THAT(result->warnings, IsEmpty());
}

TEST_F(CalibrateTest, TheFileGivesTheSameRanges) {
  GiveSamples({1, 2, 0, -4, 3, 0, 5, -1, 0});
  const absl::StatusOr<CalibratedRanges> first = Run();
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->summary.file_name, "model.ranges.json");
  const std::string text = *ReadFile(first->summary.path);
  EXPECT_EQ(first->summary.sha256, Sha256Hex(text));
  const absl::StatusOr<RangesFile> file = ReadRanges(text, "model.ranges.json");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->model_sha256, Sha256Hex(*ReadFile(options_.model.path)));
  EXPECT_EQ(file->samples_sha256, Sha256Hex(*ReadFile(Path("s.npz"))));

  options_.calibration.clear();
  GiveRanges(text);
  const absl::StatusOr<CalibratedRanges> second = Run();
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->ranges, first->ranges);
  EXPECT_EQ(second->summary.source, "ranges");
  EXPECT_EQ(second->summary.samples, 3);
  EXPECT_THAT(second->warnings, IsEmpty());
}

TEST_F(CalibrateTest, WithoutSamplesTheyAreMadeUpAndThatIsSaid) {
  const absl::StatusOr<CalibratedRanges> result = Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->summary.synthetic);
  EXPECT_EQ(result->summary.source, "synthetic");
  EXPECT_THAT(result->warnings, ElementsAre(HasSubstr("RANDOM inputs")));
  const absl::StatusOr<CalibratedRanges> again = Run();
  EXPECT_EQ(again->ranges, result->ranges) << "seeded";
  EXPECT_THAT(*ReadFile(result->summary.path), HasSubstr("\"synthetic\": true"));
}

TEST_F(CalibrateTest, FilesForAnotherModel) {
  RangesFile file;
  file.model_sha256 = std::string(64, 'a');
  file.ranges.values["x"] = {.min = -1, .max = 1};
  file.ranges.values["stranger"] = {.min = -1, .max = 1};
  GiveRanges(WriteRanges(file));
  const absl::StatusOr<CalibratedRanges> result = Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->ranges.values.size(), 1u);
  EXPECT_THAT(result->warnings, Contains(HasSubstr("the fused model has no value 'stranger'")));
  EXPECT_THAT(result->warnings, Contains(HasSubstr("were made for another model file (aaaaaaaaaaaa")));

  file.ranges.values.erase("x");
  GiveRanges(WriteRanges(file));
  EXPECT_EQ(Run().status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(Run().status().message()),
              HasSubstr("ranges 'r.json': none of its 1 ranges is of a value of this model; it has 'stranger'"));
}

TEST_F(CalibrateTest, BadSamplesAndFiles) {
  GiveSamples({1, 2, 0, -4, std::numeric_limits<float>::infinity(), 0});
  EXPECT_EQ(Run().status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(Run().status().message()), HasSubstr("samples 's.npz': input 'x' holds inf in sample 1"));
  options_.calibration.insert(options_.calibration.begin(), {Path("first.npz"), "first.npz"});
  ASSERT_TRUE(WriteNpz(Path("first.npz"), {{"x", Tensor(DataType::kFloat32, {4, 3})}}).ok());
  EXPECT_THAT(std::string(Run().status().message()),
              HasSubstr("samples 's.npz' (samples are numbered through all files): input 'x' holds inf in sample 5"));
  GiveRanges("{\"version\": ");
  EXPECT_THAT(std::string(Run().status().message()), HasSubstr("r.json"));
  GiveRanges("neither JSON nor a log");
  EXPECT_THAT(std::string(Run().status().message()), HasSubstr("r.json"));
}

}  // namespace
}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// Where ranges come from, and what is said of them.

#include "optimizer/calibrate.h"

#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "base/files.h"
#include "base/sha256.h"
#include "formats/npz/npz.h"
#include "formats/ranges/ranges_json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/text.h"
#include "optimizer/export.h"

namespace halftone {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kModel = R"(
  graph format=onnx (x: f32[N,3]) {
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
  options_.benchmark.sizes.batch = 2;  // 3 samples: the second run has one row and a copy of it
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
  EXPECT_EQ(result->summary.always_zero_channels, (std::map<std::string, int64_t>{{"x", 1}}));
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

TEST_F(CalibrateTest, RangesOfAnEarlierJobAreFoundAgain) {
  GiveSamples({1, 2, 0, -4, 3, 0, 5, -1, 0});
  EXPECT_EQ(Run()->summary.key, "") << "none is wanted";
  options_.known_ranges.emplace();
  const absl::StatusOr<CalibratedRanges> first = Run();
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->summary.source, "samples");
  const std::string key = first->summary.key;
  EXPECT_TRUE(IsSha256Hex(key));
  std::filesystem::rename(first->summary.path, Path("kept"));
  options_.known_ranges.emplace()[key] = Path("kept");
  const absl::StatusOr<CalibratedRanges> second = Run();
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->summary.source, "cache");
  EXPECT_EQ(second->summary.key, key);
  EXPECT_EQ(second->summary.samples, 3);
  EXPECT_EQ(second->ranges, first->ranges);
  EXPECT_EQ(second->summary.sha256, first->summary.sha256) << "the same file is written";
  EXPECT_EQ(second->summary.always_zero_channels, first->summary.always_zero_channels);
  EXPECT_THAT(second->warnings, IsEmpty());
}

TEST_F(CalibrateTest, EverythingThatRangesDependOnIsInTheKey) {
  GiveSamples({1, 2, 0, -4, 3, 0, 5, -1, 0});
  options_.known_ranges.emplace();
  std::set<std::string> keys;
  const auto expect_another = [&](const char* what) { EXPECT_TRUE(keys.insert(Run()->summary.key).second) << what; };
  expect_another("the first");
  options_.benchmark.sizes.batch = 3;
  expect_another("batch");
  options_.int8.calibrator.calibrator = Calibrator::kPercentile;
  expect_another("calibrator");
  options_.int8.calibrator.percentile = 99.9999999;
  expect_another("percentile");
  options_.int8.quantize.activations = DataType::kInt8;
  expect_another("type");
  options_.int8.quantize.symmetric_activations = true;
  expect_another("symmetric");
  GiveSamples({1, 2, 0, -4, 3, 0, 5, -1, 0.5});
  expect_another("samples");
  graph_ = *ParseGraph(absl::StrReplaceAll(std::string(kModel), {{"{1, 0, 0, 2, 0, 0}", "{1, 0, 0, 2, 0, 1}"}}));
  expect_another("weights");
  graph_ = *ParseGraph(absl::StrReplaceAll(std::string(kModel), {{"relu", "tanh"}}));
  expect_another("ops");
  // Of a weight that is not printed whole the last element counts too.
  constexpr std::string_view kLarge = R"(graph format=onnx (x: f32[N,3]) {
    w = const f32[3,40]
    y = matmul(x, w)
    return y
  } header {ir_version=8, opset=[17], opset_domains=[""]})";
  graph_ = *ParseGraph(kLarge);
  expect_another("a large weight");
  GraphEditor edit(graph_);
  for (const NodeId id : graph_.nodes()) {
    if (graph_.op(id) != OpKind::kConstant) continue;
    const Tensor& weight = *graph_.ConstantTensor(graph_.output(id));
    Tensor changed(weight.type(), weight.dims(), Buffer::CopyOf(weight.raw(), weight.byte_size()));
    changed.mutable_data<float>()[119] += 1;
    edit.SetAttribute(id, "value", changed);
  }
  expect_another("its last element");
  options_.calibration.clear();
  EXPECT_EQ(Run()->summary.key, "") << "random inputs are not worth keeping";
}

TEST_F(CalibrateTest, WhatCannotBeUsedIsMadeAgain) {
  GiveSamples({1, 2, 0, -4, 3, 0, 5, -1, 0});
  options_.known_ranges.emplace();
  const absl::StatusOr<CalibratedRanges> first = Run();
  ASSERT_TRUE(first.ok()) << first.status();
  const std::string good = *ReadFile(first->summary.path);
  options_.known_ranges.emplace()[first->summary.key] = Path("kept");
  const std::pair<std::string, const char*> broken[] = {
      {"", "cannot be read"},
      {good.substr(0, good.size() / 2), "ranges of an earlier job"},
      {absl::StrReplaceAll(good, {{"min-max", "entropy"}}), "of other samples or by another calibration method"},
      {absl::StrReplaceAll(good, {{"\"synthetic\": false", "\"synthetic\": true"}}), "of other samples"},
      {absl::StrReplaceAll(good, {{"\"m\"", "\"stranger\""}}), "has no value 'stranger'"},
  };
  for (const auto& [text, why] : broken) {
    std::filesystem::remove(Path("kept"));
    if (!text.empty()) std::ofstream(Path("kept")) << text;
    const absl::StatusOr<CalibratedRanges> result = Run();
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_THAT(result->warnings, ElementsAre(HasSubstr(why)));
    EXPECT_THAT(result->warnings, ElementsAre(::testing::Not(HasSubstr(dir_.path()))));
    EXPECT_EQ(result->summary.source, "samples");
    EXPECT_EQ(result->summary.key, first->summary.key) << "so that it is kept in the place of the broken one";
    EXPECT_EQ(result->ranges, first->ranges);
  }
}

// Numbers of a layer: most of them small, a few large.
std::vector<float> LongTail(int rows) {
  std::vector<float> numbers;
  for (int i = 0; i < 3 * rows; ++i) {
    numbers.push_back(static_cast<float>(i * 37 % 101 - 50) / (i % 41 == 0 ? 1.0f : 50.0f));
  }
  return numbers;
}

TEST_F(CalibrateTest, AnotherCalibratorIsAsIfItHadBeenAskedForAtFirst) {
  GiveSamples(LongTail(200));
  options_.known_ranges.emplace();
  for (const bool with_goal : {false, true}) {  // only a goal makes it keep what the samples showed
    if (with_goal) options_.int8.goal.min_sqnr_db = 20;
    for (const Calibrator calibrator : {Calibrator::kMeanSquaredError, Calibrator::kPercentile, Calibrator::kEntropy}) {
      options_.int8.calibrator.calibrator = Calibrator::kMinMax;
      absl::StatusOr<CalibratedRanges> changed = Run();
      ASSERT_TRUE(changed.ok()) << changed.status();
      EXPECT_EQ(changed->seen != nullptr, with_goal);
      options_.int8.calibrator.calibrator = calibrator;
      const absl::StatusOr<ValueRanges> ranges = RangesByCalibrator(graph_, options_, *changed);
      ASSERT_TRUE(ranges.ok()) << ranges.status();
      EXPECT_NE(changed->seen, nullptr);
      EXPECT_NE(*ranges, changed->ranges) << "nothing is changed yet";
      ASSERT_TRUE(TakeRanges(*ranges, graph_, options_, *changed).ok());
      const std::string text = *ReadFile(changed->summary.path);

      const absl::StatusOr<CalibratedRanges> asked = Run();
      ASSERT_TRUE(asked.ok()) << asked.status();
      EXPECT_EQ(changed->ranges, asked->ranges);
      EXPECT_EQ(text, *ReadFile(asked->summary.path));
      EXPECT_EQ(changed->summary.sha256, asked->summary.sha256);
      EXPECT_EQ(changed->summary.calibrator, asked->summary.calibrator);
      EXPECT_EQ(changed->summary.always_zero_channels, asked->summary.always_zero_channels);
      EXPECT_EQ(changed->summary.still_widening, asked->summary.still_widening);
      EXPECT_EQ(changed->summary.key, asked->summary.key) << "so that it is kept for jobs that ask for it";
    }
  }
}

TEST_F(CalibrateTest, OfAnEarlierJobsRangesOthersAreMadeFromTheSamples) {
  GiveSamples(LongTail(200));
  options_.int8.goal.min_sqnr_db = 20;
  options_.known_ranges.emplace();
  const absl::StatusOr<CalibratedRanges> first = Run();
  ASSERT_TRUE(first.ok()) << first.status();
  std::filesystem::rename(first->summary.path, Path("kept"));
  options_.known_ranges.emplace()[first->summary.key] = Path("kept");
  absl::StatusOr<CalibratedRanges> cached = Run();
  ASSERT_TRUE(cached.ok()) << cached.status();
  EXPECT_EQ(cached->summary.source, "cache");
  EXPECT_EQ(cached->seen, nullptr);
  options_.int8.calibrator.calibrator = Calibrator::kEntropy;
  const absl::StatusOr<ValueRanges> ranges = RangesByCalibrator(graph_, options_, *cached);
  ASSERT_TRUE(ranges.ok()) << ranges.status();
  ASSERT_TRUE(TakeRanges(*ranges, graph_, options_, *cached).ok());
  EXPECT_EQ(cached->summary.source, "samples");
  EXPECT_NE(cached->summary.key, first->summary.key);
  EXPECT_EQ(cached->ranges, Run()->ranges);
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

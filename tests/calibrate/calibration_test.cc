// SPDX-License-Identifier: Apache-2.0
// Calibration observes what the graph computes: compares the statistics of every value with the reference evaluator,
// for all kinds of plans and layouts and for ragged and dynamic batches.
#include "runtime/calibrate/calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/reference/reference.h"
#include "ir/text.h"

namespace halftone {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Graph Parse(const std::string& text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

CalibrationSource From(std::vector<CalibrationBatch> batches) {
  return [batches = std::move(batches), next = size_t{0}]() mutable -> absl::StatusOr<std::optional<CalibrationBatch>> {
    if (next == batches.size()) return std::nullopt;
    return batches[next++];
  };
}

// Every computed f32 value by the reference functions, one tensor per batch.
std::map<std::string, std::vector<Tensor>> AllValues(Graph graph, const std::vector<CalibrationBatch>& batches) {
  std::vector<ValueId> values;
  GraphEditor edit(graph);
  std::map<std::string, std::vector<Tensor>> result;
  const size_t own = graph.outputs().size();
  for (const NodeId node : graph.nodes()) {
    for (const ValueId value : graph.node(node).outputs) {
      if (!value.valid() || graph.type(value) != DataType::kFloat32 || graph.op(node) == OpKind::kConstant) continue;
      if (graph.op(node) == OpKind::kInput) continue;
      values.push_back(value);
      edit.AddGraphOutput("all:" + std::to_string(values.size()), value);
    }
  }
  for (const CalibrationBatch& batch : batches) {
    const absl::StatusOr<std::vector<Tensor>> outputs = reference::EvaluateGraph(graph, batch.inputs);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    for (size_t i = 0; i < values.size(); ++i) result[RangeName(graph, values[i])].push_back((*outputs)[own + i]);
    for (size_t i = 0; i < batch.inputs.size(); ++i) {
      if (batch.inputs[i].type() == DataType::kFloat32)
        result[RangeName(graph, graph.output(graph.inputs()[i]))].push_back(batch.inputs[i]);
    }
  }
  return result;
}

struct Expected {
  TensorStatistics statistics;
  std::vector<float> channels;  // by `axis`
  std::vector<double> means;
};

Expected ExpectedOf(const std::vector<Tensor>& tensors, int axis) {
  Expected expected;
  double per_channel = 0;
  for (const Tensor& tensor : tensors) {
    EXPECT_EQ(expected.statistics.Add(tensor.data<float>()), std::nullopt);
    if (axis < 0) continue;
    int64_t inner = 1;
    for (size_t i = axis + 1; i < tensor.dims().size(); ++i) inner *= tensor.dims()[i];
    expected.channels.resize(tensor.dims()[axis], 0.0f);
    expected.means.resize(tensor.dims()[axis], 0.0);
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      float& channel = expected.channels[i / inner % tensor.dims()[axis]];
      channel = std::max(channel, std::fabs(tensor.data<float>()[i]));
      expected.means[i / inner % tensor.dims()[axis]] += tensor.data<float>()[i];
    }
    per_channel += static_cast<double>(tensor.num_elements()) / static_cast<double>(tensor.dims()[axis]);
  }
  for (double& mean : expected.means) mean /= per_channel;
  return expected;
}

std::vector<CalibrationBatch> RandomBatches(const Graph& graph, int count) {
  std::vector<CalibrationBatch> batches;
  for (int i = 0; i < count; ++i) batches.push_back({reference::RandomInputs(graph, 100 + i)});
  return batches;
}

// Counts must be equal, ranges within the tolerance of kernels.
void ExpectObserved(const Graph& graph, const std::vector<CalibrationBatch>& batches, const CompileOptions& options) {
  const absl::StatusOr<Calibration> calibration = Calibration::Collect(graph, From(batches), options);
  ASSERT_TRUE(calibration.ok()) << calibration.status();
  EXPECT_EQ(calibration->batches(), static_cast<int64_t>(batches.size()));
  const absl::StatusOr<ValueRanges> ranges = calibration->Ranges({});
  ASSERT_TRUE(ranges.ok()) << ranges.status();
  const std::map<std::string, std::vector<Tensor>> values = AllValues(graph, batches);
  EXPECT_EQ(ranges->values.size(), values.size());
  for (const auto& [name, tensors] : values) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(ranges->values.contains(name));
    const ValueRange& range = ranges->values.at(name);
    const Expected expected = ExpectedOf(tensors, range.channel_axis);
    EXPECT_EQ(range.count, expected.statistics.count());
    const float tolerance =
        options.reference_only ? 0.0f : 1e-4f * (1 + expected.statistics.max() - expected.statistics.min());
    EXPECT_NEAR(range.observed_min, expected.statistics.min(), tolerance);
    EXPECT_NEAR(range.observed_max, expected.statistics.max(), tolerance);
    ASSERT_EQ(range.channel_magnitudes.size(), expected.channels.size());
    ASSERT_EQ(range.channel_means.size(), expected.means.size());
    for (size_t i = 0; i < expected.channels.size(); ++i) {
      EXPECT_NEAR(range.channel_magnitudes[i], expected.channels[i], tolerance) << i;
      EXPECT_NEAR(range.channel_means[i], expected.means[i], tolerance + 1e-5f * expected.channels[i]) << i;
    }
    if (options.reference_only && !calibration->views().contains(name)) {
      EXPECT_EQ(calibration->values().at(name)->statistics.histogram(), expected.statistics.histogram());
    }
  }
  for (const auto& [name, seen] : calibration->values()) {
    EXPECT_LE(seen->statistics.MemoryBytes(), TensorStatistics::kMostBytes) << name;
  }
}

// Channel counts that are multiples of a block and others; a depthwise conv; views; small and large images.
std::string ConvNet(const std::string& size) {
  return "graph (x: f32[1,3," + size + "," + size + R"(]) {
    w1 = const f32[32,3,3,3]  w2 = const f32[32,1,3,3]  w3 = const f32[24,32,1,1]  w4 = const f32[48,24,3,3]
    c1 = conv(x, w1) {pads=[1,1,1,1], strides=[2,2], activation="relu6"}
    c2 = conv(c1, w2) {pads=[1,1,1,1], group=32, activation="relu"}
    c3 = conv(c2, w3)
    c4 = conv(c3, w4) {pads=[1,1,1,1]}
    r4 = relu(c4)
    p4 = max_pool(r4) {kernel=[2,2], strides=[2,2]}
    s = sigmoid(p4)
    m = mul(p4, s)
    f = reshape(m, [1, -1])
    g = neg(f)
    return g
  })";
}

TEST(Calibration, ObservesEveryValueOfAConvNet) {
  for (const std::string size : {"16", "96"}) {
    const Graph graph = Parse(ConvNet(size));
    const std::vector<CalibrationBatch> batches = RandomBatches(graph, 3);
    for (const int threads : {1, 2}) ExpectObserved(graph, batches, {.threads = threads});
    if (size == "16") ExpectObserved(graph, batches, {.reference_only = true});
  }
}

TEST(Calibration, ChannelsLast) {
  const Graph graph = Parse(R"(graph (x: f32[2,20,20,3]) {
    w1 = const f32[3,3,3,40]  b = const f32[40]  w2 = const f32[1,1,40,16]
    c1 = conv(x, w1) {layout="NHWC", weights_layout="HWIO", activation="relu"}
    a = bias_add(c1, b) {layout="NHWC"}
    c2 = conv(a, w2) {layout="NHWC", weights_layout="HWIO"}
    t = transpose(c2, [0, 3, 1, 2])
    r = relu(t)
    return r
  })");
  ExpectObserved(graph, RandomBatches(graph, 2), {});
  const absl::StatusOr<ValueRanges> ranges = CalibrateGraph(graph, From(RandomBatches(graph, 1)), {});
  ASSERT_TRUE(ranges.ok()) << ranges.status();
  EXPECT_EQ(ranges->values.at("c1").channel_axis, 3);
  EXPECT_EQ(ranges->values.at("x").channel_axis, 3);
  EXPECT_EQ(ranges->values.at("c1").channel_magnitudes.size(), 40);
}

TEST(Calibration, SeveralInputsAndMatmuls) {
  const Graph graph = Parse(R"(graph (a: f32[2,7,24], b: f32[2,24,9], i: s64[3]) {
    m = matmul(a, b)
    s = softmax(m)
    q = add(m, s)
    c = concat(q, m, 1)
    y = mul(c, 0.5:f32)
    z = gather(s, i, 1)
    return y, z
  })");
  ExpectObserved(graph, RandomBatches(graph, 4), {});
  ExpectObserved(graph, RandomBatches(graph, 4), {.reference_only = true});
}

// The graph has dynamic dimensions, and batches have more different sizes than plans are cached.
TEST(Calibration, DynamicDimensions) {
  const Graph graph = Parse(R"(graph (x: f32[N,T,4]) {
    w = const f32[4,3]  b = const f32[3]
    m = matmul(x, w, b)
    s = reduce_sum(m, [1]) {keepdims=false}
    t = tanh(s)
    return t
  })");
  std::vector<CalibrationBatch> batches;
  for (const auto& [n, t] : {std::pair(1, 5), {3, 2}, {2, 7}, {1, 1}, {4, 3}, {5, 5}, {1, 5}, {1, 900}}) {
    const std::string dims = std::to_string(n) + "," + std::to_string(t) + ",4";
    batches.push_back({reference::RandomInputs(Parse("graph (x: f32[" + dims + "]) { return neg(x) }"), n + t)});
  }
  ExpectObserved(graph, batches, {});
}

TEST(Calibration, ShapesThatDependOnData) {
  const Graph graph = Parse(R"(graph (x: f32[6,5]) {
    r = relu(x)
    i = non_zero(r)
    v = gather_nd(r, transpose(i, [1, 0]))
    y = tanh(v)
    return y
  })");
  ExpectObserved(graph, RandomBatches(graph, 3), {});
}

// Values inside control flow are not observed, its outputs are. Views inside are not views of values outside.
TEST(Calibration, ControlFlow) {
  const Graph graph = Parse(R"(graph (c: bool[], x: f32[2,3]) {
    y: f32[6] = if(c, x) {then=graph (a: f32[2,3]) { b = reshape(a, [6]) return b },
                          else=graph (a: f32[2,3]) { b = add(a, a) d = reshape(b, [6]) return d }}
    z = neg(y)
    return z
  })");
  ExpectObserved(graph, RandomBatches(graph, 5), {});
}

// A short last batch is padded to the size of the others. Padding is not counted.
TEST(Calibration, RaggedBatches) {
  const Graph graph = Parse(R"(graph (x: f32[4,16,6,6], bias: f32[16]) {
    w = const f32[16,16,3,3]
    c = conv(x, w) {pads=[1,1,1,1], activation="relu"}
    f = reshape(c, [4, -1])
    r = reshape(f, [8, -1])
    n = neg(r)
    k = mul(bias, 2.0:f32)
    return n, k
  })");
  std::vector<CalibrationBatch> whole = RandomBatches(graph, 1), cut = whole;
  cut[0].samples = 3;
  cut[0].capacity = 4;
  // Calibration must not observe the padding.
  Tensor padded(DataType::kFloat32, {4, 16, 6, 6});
  std::ranges::copy(whole[0].inputs[0].data<float>(), padded.mutable_data<float>().begin());
  std::ranges::fill(padded.mutable_data<float>().subspan(3 * 16 * 36), 1e6f);
  cut[0].inputs[0] = padded;
  const absl::StatusOr<Calibration> calibration = Calibration::Collect(graph, From({whole[0], cut[0]}));
  ASSERT_TRUE(calibration.ok()) << calibration.status();
  EXPECT_EQ(calibration->samples(), 1 + 3);
  for (const std::string name : {"x", "c", "n"}) {
    const TensorStatistics& statistics = calibration->values().at(name)->statistics;
    EXPECT_EQ(statistics.count(), (4 + 3) * 16 * 36) << name;
    EXPECT_LT(statistics.max(), 1000) << name;
  }
  EXPECT_EQ(calibration->values().at("k")->statistics.count(), 2 * 16);
}

TEST(Calibration, ReportsWideningRangesAndAlwaysZeroChannels) {
  const Graph graph = Parse("graph (x: f32[1,3,2,2]) { y = relu(x)  return y }");
  const auto batch = [](float low, float high) {
    Tensor x(DataType::kFloat32, {1, 3, 2, 2});
    for (int i = 0; i < 12; ++i) x.mutable_data<float>()[i] = i / 4 == 1 ? low : high;
    return CalibrationBatch{{x}};
  };
  const ValueRanges settled = CalibrateGraph(graph, From({batch(-1, 2), batch(-1, 1.5f)}), {}).value();
  EXPECT_FALSE(settled.values.at("y").still_widening);
  EXPECT_EQ(settled.values.at("y").AlwaysZeroChannels(), (std::vector<int64_t>{1}));
  EXPECT_TRUE(settled.values.at("x").AlwaysZeroChannels().empty());
  EXPECT_EQ(settled.samples, 2);
  const ValueRanges widening = CalibrateGraph(graph, From({batch(-1, 2), batch(-1, 4)}), {}).value();
  EXPECT_TRUE(widening.values.at("y").still_widening);
}

// After one pass over the samples, every method can compute ranges, repeatedly.
TEST(Calibration, OnePassServesEveryCalibrator) {
  const Graph graph = Parse(ConvNet("16"));
  int reads = 0;
  const std::vector<CalibrationBatch> batches = RandomBatches(graph, 3);
  const CalibrationSource source = [&]() -> absl::StatusOr<std::optional<CalibrationBatch>> {
    if (reads == 3) return std::nullopt;
    return batches[reads++];
  };
  const absl::StatusOr<Calibration> calibration = Calibration::Collect(graph, source);
  ASSERT_TRUE(calibration.ok()) << calibration.status();
  for (int calibrator = 0; calibrator < static_cast<int>(Calibrator::kLog); ++calibrator) {
    const CalibratorOptions options{static_cast<Calibrator>(calibrator), {DataType::kUInt8}};
    const absl::StatusOr<ValueRanges> ranges = calibration->Ranges(options);
    ASSERT_TRUE(ranges.ok()) << ranges.status();
    EXPECT_EQ(*ranges, calibration->Ranges(options).value());
    for (const auto& [name, range] : ranges->values) {
      EXPECT_TRUE(QuantizationFor(range.min, range.max, {}).ok()) << name;
      EXPECT_EQ(range.calibrator, options.calibrator);
    }
  }
}

std::string ErrorOf(const Graph& graph, std::vector<CalibrationBatch> batches) {
  const absl::Status status = Calibration::Collect(graph, From(std::move(batches))).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(Calibration, ErrorsNameValueNodeAndSample) {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  const Graph graph = Parse(R"(graph (x: f32[2,40]) { s = exp(x)  y = relu(s)  return y })");
  const auto batch = [](int64_t at, float number) {
    Tensor x(DataType::kFloat32, {2, 40});
    x.mutable_data<float>()[at] = number;
    return CalibrationBatch{{x}, 2, 2};
  };
  EXPECT_THAT(ErrorOf(graph, {batch(0, 1), batch(50, nan)}),
              AllOf(HasSubstr("input 'x' holds NaN in sample 3"), HasSubstr("finite")));
  EXPECT_THAT(ErrorOf(graph, {batch(3, -inf)}), HasSubstr("input 'x' holds -inf in sample 0"));
  EXPECT_THAT(ErrorOf(graph, {batch(0, 1), batch(1, 1), batch(79, 200)}),
              HasSubstr("node 's': value 's' holds inf in sample 5"));
  EXPECT_THAT(ErrorOf(graph, {}), HasSubstr("at least one sample"));
  EXPECT_THAT(ErrorOf(graph, {{{}}}), HasSubstr("0 inputs given, the model has 1"));
  EXPECT_THAT(ErrorOf(graph, {{{Tensor(DataType::kFloat32, {2, 39})}}}),
              HasSubstr("input 'x' must be f32[2,40], not f32[2,39]"));
  EXPECT_THAT(ErrorOf(graph, {{{Tensor(DataType::kInt32, {2, 40})}}}), HasSubstr("must be f32[2,40], not s32[2,40]"));
}

TEST(Calibration, ErrorsOfTheSourceComeBack) {
  const Graph graph = Parse("graph (x: f32[2]) { return relu(x) }");
  const CalibrationSource source = []() -> absl::StatusOr<std::optional<CalibrationBatch>> {
    return absl::NotFoundError("samples are gone");
  };
  EXPECT_EQ(Calibration::Collect(graph, source).status().message(), "samples are gone");
}

}  // namespace
}  // namespace halftone

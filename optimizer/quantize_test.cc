// SPDX-License-Identifier: Apache-2.0
// The int8 variant as a graph: its outputs, the reason for each node, the files beside it.

#include "optimizer/quantize.h"

#include <memory>
#include <string>

#include "base/files.h"
#include "formats/formats.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/provenance.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "optimizer/export.h"
#include "optimizer/int8_share.h"
#include "optimizer/int8_source.h"
#include "optimizer/prepare.h"
#include "optimizer/quantize_for_runtime.h"
#include "runtime/cpu/target.h"
#include "runtime/measure/fidelity.h"

namespace halftone {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// conv, relu, pool, conv; a product at the end.
constexpr std::string_view kModel = R"(
  graph format=onnx (x: f32[2,3,9,9]) {
    w = const f32[8,3,3,3]
    b = const f32[8]
    c = conv(x, w, b) {pads=[1, 1, 1, 1]}
    r = relu(c)
    p = max_pool(r) {kernel=[2, 2], strides=[2, 2]}
    v = const f32[16,8,3,3]
    d = conv(p, v)
    q = relu(d)
    g = global_average_pool(q)
    f = flatten(g)
    u = const f32[16,4]
    y = matmul(f, u)
    return y
  } header {ir_version=7, opset=[12], opset_domains=[""]})";

// Has kernels of integers for everything, whatever the CPU.
class EveryKernel final : public Target {
 public:
  explicit EveryKernel(const Target& target) : target_(target) {}
  std::string_view name() const override { return "every-kernel"; }
  absl::Status SupportsFused(const Graph& graph, NodeId node, const FusedParts& parts) const override {
    return target_.SupportsFused(graph, node, parts);
  }
  absl::Status SupportsOp(const Graph& graph, OpKind op, std::span<const ValueId> inputs) const override {
    return target_.SupportsOp(graph, op, inputs);
  }
  std::vector<Signature> Signatures(const Graph& graph, NodeId node) const override {
    return target_.Signatures(graph, node);
  }
  bool IsNative(DataType type) const override { return target_.IsNative(type); }
  absl::Status SupportsQuantized(const Graph&, NodeId, std::span<const ValueId>, ValueId) const override {
    return absl::OkStatus();
  }

 private:
  const Target& target_;
};

class QuantizeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.model.path = dir_.path() + "/model.onnx";
    options_.out_dir = dir_.path();
    options_.force = true;  // bf16 the same on every CPU
    original_ = *ParseGraph(kModel);
    ASSERT_TRUE(SaveModel(original_, options_.model.path).ok());
  }
  ConvertedGraph Lower() { return Lower(*target_); }
  ConvertedGraph Lower(const Target& target) {
    absl::StatusOr<OptimizedModel> model = OptimizeModel(original_, target, options_);
    EXPECT_TRUE(model.ok()) << model.status();
    const absl::StatusOr<Int8Base> base = MakeInt8Base(*model, target, options_);
    EXPECT_TRUE(base.ok()) << base.status();
    absl::StatusOr<CalibratedRanges> ranges = CalibratedRanges();
    if (options_.int8.mode == Int8Mode::kStatic) ranges = CalibrateModel(model->imported.graph, base->graph, options_);
    EXPECT_TRUE(ranges.ok()) << ranges.status();
    absl::StatusOr<ConvertedGraph> lowered = MakeInt8(*base, ranges->ranges, *model, target, options_);
    EXPECT_TRUE(lowered.ok()) << lowered.status();
    return lowered.ok() ? *std::move(lowered) : ConvertedGraph();
  }
  static const NodeDecision& Of(const ConvertedGraph& lowered, std::string_view name) {
    static const NodeDecision kNothing;
    for (const NodeDecision& decision : lowered.decisions) {
      if (decision.node == name) return decision;
    }
    ADD_FAILURE() << "no decision for " << name;
    return kNothing;
  }
  // Of the file that is written of it.
  double ShareOf(const ConvertedGraph& lowered) {
    const ModelSource file{.path = dir_.path() + "/model.int8.onnx"};
    EXPECT_TRUE(SaveModel(lowered.graph, file.path).ok());
    absl::StatusOr<Graph> graph = LoadModel(file);
    EXPECT_TRUE(graph.ok()) << graph.status();
    if (!graph.ok()) return -1;
    const absl::Status prepared = PrepareToRun(*graph, DimSizes(), {}, Preparation::kOptimize, *target_);
    EXPECT_TRUE(prepared.ok()) << prepared;
    return Int8ShareOf(*graph);
  }
  static int Count(const Graph& graph, OpKind op) {
    int count = 0;
    for (const NodeId id : graph.nodes()) count += graph.op(id) == op ? 1 : 0;
    return count;
  }

  const std::unique_ptr<Target> target_ = MakeCpuTarget();
  const TempDir dir_ = *TempDir::Create();
  Graph original_;
  OptimizeOptions options_;
};

TEST_F(QuantizeTest, AnswersNearlyAsBefore) {
  const ConvertedGraph lowered = Lower();
  const std::vector<Tensor> inputs = reference::RandomInputs(original_, 77);
  const auto expected = reference::EvaluateGraph(original_, inputs);
  const auto actual = reference::EvaluateGraph(lowered.graph, inputs);
  ASSERT_TRUE(actual.ok()) << actual.status();
  FidelityAccumulator fidelity;
  ASSERT_TRUE(fidelity.Add((*expected)[0], (*actual)[0]).ok());
  EXPECT_GT(fidelity.Result().sqnr_db, 25);
  EXPECT_LT(fidelity.Result().sqnr_db, 100) << "int8 cannot be exact";
  EXPECT_THAT(ProvenanceOf(lowered.graph).calibration, HasSubstr("SYNTHETIC: ")) << "the file itself warns";
  EXPECT_EQ(ShareOf(lowered), 1);
}

TEST_F(QuantizeTest, EveryNodeIsExplained) {
  const ConvertedGraph lowered = Lower();
  EXPECT_THAT(lowered.summary, HasSubstr("3 of 3 convolutions and matmuls"));
  EXPECT_THAT(lowered.summary, Not(HasSubstr("%")));
  EXPECT_EQ(Of(lowered, "r").precision, VariantKind::kInt8);
  EXPECT_EQ(Of(lowered, "r").reason.rule, "int8.contraction");
  EXPECT_THAT(Of(lowered, "r").reason.text, HasSubstr("input 0: u8 scale "));
  EXPECT_THAT(Of(lowered, "r").reason.text, HasSubstr("weights: s8 with 8 scales"));
  EXPECT_EQ(Of(lowered, "p").reason.rule, "int8.between");
  for (const NodeDecision& decision : lowered.decisions) {
    EXPECT_THAT(decision.reason.rule, HasSubstr(".")) << decision.node;
    EXPECT_FALSE(decision.reason.text.empty()) << decision.node;
  }
  ASSERT_TRUE(Of(lowered, "r").result.has_value());
  EXPECT_EQ(Of(lowered, "r").result->min, 0) << "a relu";
  EXPECT_GT(Of(lowered, "r").result->max, 0);
}

TEST_F(QuantizeTest, WhatAPolicyKeepsIsFp32OrBf16) {
  options_.rules.nodes = {{.name = "d", .min_precision = DataType::kBFloat16}};
  const ConvertedGraph fp32 = Lower();
  EXPECT_EQ(Of(fp32, "q").precision, VariantKind::kFp32);
  EXPECT_EQ(Of(fp32, "q").reason.rule, "policy.min-precision");
  EXPECT_EQ(Of(fp32, "r").precision, VariantKind::kInt8);
  const double share = ShareOf(fp32);
  EXPECT_GT(share, 0.2);
  EXPECT_LT(share, 0.9);

  options_.int8.fallback_precision = VariantKind::kBf16;
  const ConvertedGraph bf16 = Lower();
  EXPECT_EQ(Of(bf16, "q").precision, VariantKind::kBf16);
  EXPECT_EQ(Of(bf16, "r").precision, VariantKind::kInt8);
  EXPECT_GT(bf16.casts.planned, 0);
  EXPECT_EQ(ShareOf(bf16), share);
}

TEST_F(QuantizeTest, OptionsOfQuantization) {
  options_.int8.quantize.activations = DataType::kInt8;
  options_.int8.quantize.symmetric_activations = true;
  options_.int8.quantize.per_channel_weights = false;
  const ConvertedGraph lowered = Lower(EveryKernel(*target_));  // CPUs without VNNI have none for s8
  EXPECT_THAT(Of(lowered, "r").reason.text, HasSubstr("input 0: s8 scale "));
  EXPECT_THAT(Of(lowered, "r").reason.text, HasSubstr(" zero point 0,"));
  EXPECT_THAT(Of(lowered, "r").reason.text, ::testing::Not(HasSubstr("scales")));
}

TEST_F(QuantizeTest, OperatorsOfIntegers) {
  options_.int8.form = QuantFormat::kQOperator;
  const ConvertedGraph lowered = Lower();
  const std::string path = dir_.path() + "/operators.onnx";
  ASSERT_TRUE(SaveModel(lowered.graph, path, FileOptionsOf(VariantKind::kInt8, options_.int8.form)).ok());
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  ASSERT_TRUE(bytes.ok());
  EXPECT_THAT(*bytes, HasSubstr("QLinearConv"));
  const absl::StatusOr<Graph> read = LoadModel({.path = path, .name = "", .format = std::nullopt, .outputs = {}});
  ASSERT_TRUE(read.ok()) << read.status();
  const std::vector<Tensor> inputs = reference::RandomInputs(original_, 77);
  const auto expected = reference::EvaluateGraph(original_, inputs);
  const auto actual = reference::EvaluateGraph(*read, inputs);
  ASSERT_TRUE(actual.ok()) << actual.status();
  FidelityAccumulator fidelity;
  ASSERT_TRUE(fidelity.Add((*expected)[0], (*actual)[0]).ok());
  EXPECT_GT(fidelity.Result().sqnr_db, 20);
  EXPECT_LT(fidelity.Result().sqnr_db, 100);
  EXPECT_THAT(*ReadFile(dir_.path() + "/model.onnx"), ::testing::Not(HasSubstr("QLinearConv")));
}

TEST_F(QuantizeTest, WeightsAlone) {
  options_.int8.mode = Int8Mode::kWeightOnly;
  ConvertedGraph lowered = Lower();
  EXPECT_THAT(lowered.summary, HasSubstr("3 of 3 convolutions and matmuls"));
  EXPECT_THAT(lowered.summary, HasSubstr("mode weight-only"));
  EXPECT_EQ(ProvenanceOf(lowered.graph).calibration, "") << "it has no ranges";
  EXPECT_EQ(Of(lowered, "r").reason.rule, "int8.weights");
  EXPECT_THAT(Of(lowered, "r").reason.text, HasSubstr("weights: s8 with 8 scales"));
  EXPECT_EQ(Of(lowered, "r").precision, VariantKind::kFp32);
  EXPECT_EQ(Count(lowered.graph, OpKind::kDequantizeLinear), 3);
  EXPECT_EQ(Count(lowered.graph, OpKind::kQuantizeLinear), 0);
  EXPECT_EQ(ShareOf(lowered), 0);
  options_.int8.fallback_precision = VariantKind::kBf16;
  lowered = Lower();
  EXPECT_EQ(Of(lowered, "r").precision, VariantKind::kBf16);
  EXPECT_EQ(Count(lowered.graph, OpKind::kDequantizeLinear), 3);
}

TEST_F(QuantizeTest, ProductsThatFindTheirRanges) {
  options_.int8.mode = Int8Mode::kDynamic;
  const ConvertedGraph lowered = Lower();
  EXPECT_THAT(lowered.summary, HasSubstr("1 of 3 convolutions and matmuls"));
  EXPECT_THAT(lowered.summary, HasSubstr("mode dynamic"));
  EXPECT_EQ(Of(lowered, "y").reason.rule, "int8.dynamic");
  EXPECT_EQ(Of(lowered, "y").precision, VariantKind::kInt8);
  EXPECT_EQ(Of(lowered, "r").reason.rule, "int8.no-dynamic-form");
  EXPECT_EQ(Count(lowered.graph, OpKind::kMatMulInteger), 1);
  EXPECT_EQ(Count(lowered.graph, OpKind::kDynamicQuantizeLinear), 1);
  const double share = ShareOf(lowered);
  EXPECT_GT(share, 0);
  EXPECT_LT(share, 0.1);
  const std::vector<Tensor> inputs = reference::RandomInputs(original_, 77);
  const auto expected = reference::EvaluateGraph(original_, inputs);
  const auto actual = reference::EvaluateGraph(lowered.graph, inputs);
  ASSERT_TRUE(actual.ok()) << actual.status();
  FidelityAccumulator fidelity;
  ASSERT_TRUE(fidelity.Add((*expected)[0], (*actual)[0]).ok());
  EXPECT_GT(fidelity.Result().sqnr_db, 30);
  EXPECT_LT(fidelity.Result().sqnr_db, 100);
}

TEST_F(QuantizeTest, ProductsOfAGraphDefHaveOneScaleOfWeights) {
  options_.int8.mode = Int8Mode::kDynamic;
  SetFormat(original_, ModelFormat::kGraphDef);
  const ConvertedGraph lowered = Lower();
  EXPECT_EQ(Count(lowered.graph, OpKind::kMatMulIntegerToFloat), 1);  // TensorFlow has it as it is
  EXPECT_EQ(Count(lowered.graph, OpKind::kMatMulInteger), 0);
  for (const NodeId id : lowered.graph.nodes()) {
    if (lowered.graph.op(id) != OpKind::kMatMulIntegerToFloat) continue;
    EXPECT_EQ(lowered.graph.ConstantTensor(lowered.graph.input(id, 3))->num_elements(), 1);
  }
}

TEST_F(QuantizeTest, WhereNothingCanBeInt8ItStaysFp32) {
  options_.rules.nodes = {{.match = ".*", .min_precision = DataType::kFloat32}};
  const ConvertedGraph lowered = Lower();
  EXPECT_EQ(lowered.kind, VariantKind::kInt8);
  EXPECT_THAT(lowered.summary, HasSubstr("kept fp32: no node of this model can be computed in int8 here"));
  EXPECT_EQ(Count(lowered.graph, OpKind::kQuantizeLinear), 0);
  EXPECT_EQ(ShareOf(lowered), 0);
}

}  // namespace
}  // namespace halftone

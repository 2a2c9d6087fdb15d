// SPDX-License-Identifier: Apache-2.0
#include "optimizer/job.h"

#include <algorithm>
#include <fstream>
#include <limits>

#include "formats/npz/npz.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "optimizer/check_options.h"
#include "optimizer/export.h"
#include "optimizer/job_testing.h"
#include "runtime/cpu/target.h"

namespace halftone {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(JobTest, NumbersComeFromTheExportedFile) {
  const absl::StatusOr<OptimizeResult> honest = Run();
  ASSERT_TRUE(honest.ok()) << honest.status();
  ASSERT_EQ(honest->variants.size(), 3u);
  EXPECT_EQ(runner_.evaluated, (std::vector<std::string>{"model.onnx", "model.fp32.onnx", "model.bf16.onnx"}));
  EXPECT_GT(honest->variants[2].fidelity[0].fidelity.sqnr_db, 30);
  EXPECT_LT(honest->variants[2].fidelity[0].fidelity.sqnr_db, 100) << "bf16 cannot be exact";

  // One weight of the written bf16 file changes before it runs: its outputs must show it.
  runner_.before_evaluate = [](const std::string& path) {
    if (!path.ends_with(".bf16.onnx")) return;
    Graph graph = *LoadModel({.path = path, .name = "", .format = std::nullopt, .outputs = {}});
    GraphEditor edit(graph);
    for (const NodeId id : graph.nodes()) {
      const Tensor* weights = graph.op(id) == OpKind::kConstant ? graph.ConstantTensor(graph.output(id)) : nullptr;
      if (weights == nullptr || weights->rank() != 4) continue;
      Tensor changed(weights->type(), weights->dims(), Buffer::CopyOf(weights->raw(), weights->byte_size()));
      changed.mutable_data<uint16_t>()[0] = BFloat16FromFloat(50);
      edit.SetAttribute(id, "value", changed);
    }
    ASSERT_TRUE(SaveModel(graph, path).ok());
  };
  const absl::StatusOr<OptimizeResult> altered = Run();
  ASSERT_TRUE(altered.ok()) << altered.status();
  EXPECT_LT(altered->variants[2].fidelity[0].fidelity.sqnr_db, 10);
  EXPECT_EQ(altered->variants[1].fidelity[0].fidelity.sqnr_db, kExactSqnr);
}

TEST_F(JobTest, TellsWhyEachNodeIsWhatItIs) {
  const absl::StatusOr<OptimizeResult> result = Run();
  ASSERT_TRUE(result.ok()) << result.status();
  const VariantResult& bf16 = result->variants[2];
  EXPECT_THAT(bf16.summary, HasSubstr("nodes to bfloat16 precision using"));
  bool found = false;
  for (const NodeResult& node : bf16.nodes) {
    EXPECT_FALSE(node.reason.text.empty()) << node.step.name;
    EXPECT_THAT(node.reason.rule, HasSubstr(".")) << node.step.name;
    if (node.step.op.starts_with("conv")) {
      found = true;
      EXPECT_EQ(node.step.op, "conv+bias+relu");
      // As it ran: a CPU without the instructions emulates them, or computes in f32 between casts; AMX reads f32 and
      // rounds it on the way in.
      if (DescribeCpu().native_bf16 && !DescribeCpu().tiles) {
        EXPECT_EQ(node.precision, VariantKind::kBf16);
      } else {
        EXPECT_NE(node.precision, VariantKind::kInt8);
      }
      EXPECT_THAT(node.reason.text, HasSubstr("Conv2D"));
      EXPECT_EQ(node.reason.rule, "lists.allow");
    }
  }
  EXPECT_TRUE(found);
  EXPECT_LE(bf16.size_bytes, result->variants[1].size_bytes);
  EXPECT_FALSE(result->variants[1].rewrites.applied.empty());
}

TEST_F(JobTest, CountsCastsBeforeAndAfter) {
  const absl::StatusOr<OptimizeResult> result = Run();
  ASSERT_TRUE(result.ok()) << result.status();
  const VariantResult& bf16 = result->variants[2];
  EXPECT_GT(bf16.casts.planned, 0);
  EXPECT_GT(bf16.casts.in_file, 0) << "the file says them";
  EXPECT_GE(bf16.casts.run, 0);
  if (DescribeCpu().native_bf16) {
    EXPECT_LE(bf16.casts.run, bf16.casts.in_file);
  }
  EXPECT_EQ(result->variants[0].casts.in_file, 0);
  EXPECT_EQ(result->variants[1].casts.run, 0);
}

TEST_F(JobTest, Float16IsWrittenAndOnlyRunWhereTheCpuHasIt) {
  options_.precisions = {VariantKind::kBf16, VariantKind::kFp16};
  options_.force = false;
  options_.benchmark.skip = false;
  options_.benchmark.rounds = 3;
  options_.benchmark.round_seconds = 0.01;
  const absl::StatusOr<OptimizeResult> result = Run();
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->variants.size(), 4u);
  const VariantResult& fp16 = result->variants[3];
  EXPECT_EQ(fp16.file_name, "model.fp16.onnx");
  EXPECT_GT(fp16.size_bytes, 0);
  EXPECT_FALSE(fp16.decisions.empty());
  const bool native = MakeCpuTarget()->IsNative(DataType::kFloat16);
  EXPECT_EQ(fp16.not_measured.empty(), native);
  EXPECT_EQ(fp16.benchmark.has_value(), native);
  EXPECT_EQ(fp16.fidelity.empty(), !native);
  EXPECT_EQ(fp16.casts.run, native ? fp16.casts.run : -1);
  EXPECT_EQ(fp16.emulated, false);
  ASSERT_TRUE(result->variants[2].benchmark.has_value()) << "the others are measured";

  options_.force = true;
  options_.benchmark.skip = true;
  const absl::StatusOr<OptimizeResult> forced = Run();
  ASSERT_TRUE(forced.ok()) << forced.status();
  EXPECT_EQ(forced->variants[3].emulated, !native);
  ASSERT_EQ(forced->variants[3].fidelity.size(), 1u);
  EXPECT_GT(forced->variants[3].fidelity[0].fidelity.sqnr_db, 50) << "eleven bits";
}

TEST_F(JobTest, CountsNodesAndFusions) {
  const absl::StatusOr<OptimizeResult> result = Run();
  ASSERT_TRUE(result.ok()) << result.status();
  const RewriteSummary& original = result->variants[0].rewrites;
  EXPECT_EQ(original.nodes_before, 4);
  EXPECT_EQ(original.nodes_after, 4);
  const RewriteSummary& fp32 = result->variants[1].rewrites;
  EXPECT_EQ(fp32.nodes_before, 4);
  EXPECT_EQ(fp32.nodes_after, 3);
  EXPECT_EQ(fp32.nodes_written, 4) << "the portable file says conv and relu";
  ASSERT_EQ(fp32.fusions.size(), 1u);
  EXPECT_EQ(fp32.fusions[0].pass, "fuse-activation");
  EXPECT_EQ(fp32.fusions[0].count, 1);
  EXPECT_EQ(fp32.passes_verified, 0);
}

TEST_F(JobTest, PassesAreVerified) {
  Write(R"(
  graph format=onnx (x: f32[2,3,7,5]) {
    w = const f32[6,3,3,3]
    c = conv(x, w)
    r = relu(c)
    return r
  } header {ir_version=8, opset=[17], opset_domains=[""]})");
  options_.verify_passes = true;
  options_.precisions.clear();
  const absl::StatusOr<OptimizeResult> result = Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GE(result->variants[1].rewrites.passes_verified, 2) << "one fuses, one splits";
}

TEST_F(JobTest, NamedPassesRunBeforeAllElse) {
  options_.passes = {"round_weights(num_steps=2)"};
  const absl::StatusOr<OptimizeResult> result = Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_LT(result->variants[0].fidelity[0].fidelity.sqnr_db, 60) << "the weights are others";
  EXPECT_EQ(result->variants[1].rewrites.fusions[0].pass, "round_weights(num_steps=2)");
  EXPECT_GT(result->variants[1].rewrites.fusions[0].count, 0);
}

TEST_F(JobTest, OptionsThatFitNoModelAreSaidAtOnce) {
  options_.dialect = Dialect::kTensorFlow;
  EXPECT_THAT(CheckOptions(options_).message(), HasSubstr("whose dialects are 'portable', 'onnxruntime'"));
  EXPECT_FALSE(Run().ok());
  options_.dialect = Dialect::kPortable;
  options_.passes = {"no_such_pass"};
  EXPECT_THAT(CheckOptions(options_).message(), HasSubstr("no_such_pass"));
}

TEST_F(JobTest, MeasuresInRoundsAndGivesIntervals) {
  options_.benchmark.skip = false;
  options_.benchmark.rounds = 3;
  options_.benchmark.round_seconds = 0.02;
  const absl::StatusOr<OptimizeResult> result = Run();
  ASSERT_TRUE(result.ok()) << result.status();
  for (const VariantResult& variant : result->variants) {
    ASSERT_TRUE(variant.benchmark.has_value());
    EXPECT_EQ(variant.benchmark->rounds.size(), 3u);
    EXPECT_EQ(variant.benchmark->summary.round_ms.size(), 3u);
    ASSERT_TRUE(variant.benchmark->speedup.has_value());
    EXPECT_LE(variant.benchmark->speedup->low, variant.benchmark->speedup->median);
    EXPECT_LE(variant.benchmark->speedup->median, variant.benchmark->speedup->high);
  }
  EXPECT_EQ(result->variants[1].benchmark->speedup->median, 1);
  EXPECT_EQ(result->variants[1].benchmark->speedup->verdict, Verdict::kSame);
  ASSERT_TRUE(result->benchmark_run.has_value());
  EXPECT_EQ(result->benchmark_run->order.size(), 3u);
  ASSERT_TRUE(result->benchmark_run->self_check.has_value());
  EXPECT_EQ(result->benchmark_run->self_check->rounds.size(), 3u);
  for (const VariantResult& variant : result->variants) {
    for (const std::string& reason : variant.benchmark->invalid_reasons)
      EXPECT_THAT(reason, Not(HasSubstr("outputs while timed")));
    EXPECT_EQ(variant.benchmark->rounds[0][0].output_hash, variant.output_hash);
  }
}

TEST_F(JobTest, AModelWithAnOpaqueOpIsRewrittenButNotRun) {
  Write(R"(
    graph format=onnx (x: f32[1,4]) {
      w = const f32[4,4]
      m = matmul(x, w)
      r = relu(m)
      y: f32[1,4] = opaque "Mystery" domain="some.domain" (r)
      return y
    } header {ir_version=8, opset=[17, 1], opset_domains=["", "some.domain"]})");
  const absl::StatusOr<OptimizeResult> result = Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(runner_.evaluated.empty());
  EXPECT_EQ(result->variants[1].opaque_ops, (std::vector<std::string>{"some.domain.Mystery (1)"}));
  EXPECT_THAT(result->warnings.back(), HasSubstr("some.domain.Mystery (1)"));
  EXPECT_TRUE(LoadModel({.path = result->variants[1].path, .name = "", .format = std::nullopt, .outputs = {}}).ok());
}

TEST_F(JobTest, OutputsOfAGraphDefKeepTheirOrder) {
  options_.model.path = dir_->path() + "/model.pb";
  // The conversion moves y after z in the file: z waits for the convolution, and y for a cast that follows it.
  Write(R"(
    graph format=graphdef layout=channels_last (x: f32[1,6,7,2]) {
      w = const f32[3,3,2,4] name="w"
      b = const f32[4] name="b"
      c = conv "Conv2D" (x, w) {auto_pad="SAME_UPPER", layout="NHWC", strides=[1, 1], weights_layout="HWIO"} name="c"
      d = bias_add "BiasAdd" (c, b) {layout="NHWC"} name="d"
      y = relu(d) name="y"
      z = relu(x) name="z" after("c")
      return y, z
    } header {producer=1395})");
  const absl::StatusOr<OptimizeResult> result = Run();
  ASSERT_TRUE(result.ok()) << result.status();
  for (const VariantResult& variant : result->variants) {
    ASSERT_EQ(variant.fidelity.size(), 2u);
    EXPECT_EQ(variant.fidelity[0].output, "y");
    EXPECT_GT(variant.fidelity[0].fidelity.sqnr_db, 30);
  }
}

TEST_F(JobTest, WhatTheFormatCannotSayInBf16IsFp32InTheFile) {
  Write(R"(
    graph format=onnx (x: f32[1,4]) {
      w = const f32[4,4]
      y: f32[1,4] = opaque "LogSoftmax" (matmul(x, w)) extra {unheard_of=1}
      return y
    } header {ir_version=8, opset=[11], opset_domains=[""]})");
  const absl::StatusOr<OptimizeResult> result = Run();
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->variants.size(), 3u);
  bool found = false;
  for (const NodeDecision& decision : result->variants[2].decisions) {
    if (decision.op != "matmul") continue;
    found = true;
    EXPECT_EQ(decision.precision, VariantKind::kFp32);
    EXPECT_EQ(decision.reason.rule, "file.types");
  }
  EXPECT_TRUE(found);
  EXPECT_THAT(result->warnings, ::testing::Contains(HasSubstr("LogSoftmax")));
}

TEST_F(JobTest, SamplesThatAreNoNumbersAreToldOf) {
  Tensor image(DataType::kFloat32, {1, 3, 7, 5});
  image.mutable_data<float>()[4] = std::numeric_limits<float>::quiet_NaN();
  const std::string path = dir_->path() + "/s.npz";
  ASSERT_TRUE(WriteNpz(path, {{"x", image}}).ok());
  options_.evaluation = {{path, "s.npz"}};
  const absl::StatusOr<OptimizeResult> result = Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->warnings,
              ::testing::Contains(HasSubstr("NaN or infinities, of which kernels make different things: x")));
}

TEST_F(JobTest, ErrorsNameTheFile) {
  std::ofstream(options_.model.path) << "nonsense";
  EXPECT_THAT(std::string(Run().status().message()), HasSubstr("model.onnx"));
  options_.model.path = dir_->path() + "/model.txt";
  std::ofstream(options_.model.path) << "nonsense";
  EXPECT_THAT(std::string(Run().status().message()), HasSubstr("the extension says no format"));
}

}  // namespace
}  // namespace halftone

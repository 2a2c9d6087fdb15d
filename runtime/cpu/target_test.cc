// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/target.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/text.h"
#include "runtime/engine.h"

namespace halftone {
namespace {

using testing::HasSubstr;

Graph Parse(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

// Without AVX-512 some parts after a matmul are refused, as loops after it are faster.
bool HasAvx512() {
  const std::string isa = DescribeCpu().isa;
  return isa.starts_with("avx512") || isa.starts_with("avx10");
}
bool IsFasterAfter(const absl::Status& status) {
  return absl::IsUnimplemented(status) && status.message().ends_with(" is faster on this CPU");
}

// What the target accepts must become one step of the plan.
TEST(TargetTest, WhatItAcceptsRunsAsOneKernel) {
  const std::unique_ptr<Target> target = MakeCpuTarget();
  const std::vector<std::string> texts = {
      "graph (x: $T[1,3,7,5]) { w = const $T[17,3,3,3]  y = conv(x, w) {pads=[1,1,1,1]}  return y }",
      "graph (x: $T[1,7,5,6]) { w = const $T[3,3,6,1]  y = conv(x, w) {layout=\"NHWC\", weights_layout=\"HWCM\", "
      "group=6}  return y }",
      "graph (x: $T[2,5,9]) { w = const $T[4,5,3]  y = conv(x, w) {strides=[2]}  return y }",
      "graph (x: $T[2,3,5]) { w = const $T[5,7]  y = matmul(x, w)  return y }",
      "graph (x: $T[2,3,5], w: $T[2,7,5]) { y = matmul(x, w) {transpose_b=true}  return y }",
  };
  int accepted = 0, after = 0;
  for (std::string text : texts) {
    for (const std::string type : {"f32", "bf16"}) {
      std::string typed = text;
      for (size_t at; (at = typed.find("$T")) != std::string::npos;) typed.replace(at, 2, type);
      for (const bool bias : {false, true}) {
        for (const bool residual : {false, true}) {
          for (int a = 0; a < kNumActivations; ++a) {
            const Activation activation = static_cast<Activation>(a);
            Graph graph = Parse(typed);
            const NodeId node = graph.producer(graph.outputs()[0].value);
            const FusedParts parts{bias, residual, activation};
            SCOPED_TRACE(typed + " " + std::string(ActivationName(activation)));
            const absl::Status status = target->SupportsFused(graph, node, parts);
            if (IsFasterAfter(status)) {
              ++after;
              EXPECT_EQ(graph.op(node), OpKind::kMatMul);
              continue;
            }
            ASSERT_TRUE(status.ok()) << status;
            ++accepted;
            GraphEditor edit(graph);
            const ValueId y = graph.output(node);
            const DataType element = graph.type(y);
            const int channel = typed.find("NHWC") != std::string::npos || graph.op(node) == OpKind::kMatMul ? -1 : 1;
            if (bias)
              edit.SetInput(node, 2, edit.AddInput("b", element, Shape::Of({graph.shape(y).dim(channel).value})));
            if (residual) edit.SetInput(node, 3, edit.AddInput("r", element, graph.shape(y)));
            if (a != 0) edit.SetAttribute(node, "activation", std::string(ActivationName(activation)));
            const auto plan = CompilePlan(graph);
            ASSERT_TRUE(plan.ok()) << plan.status();
            int kernels = 0;
            for (const StepInfo& step : (*plan)->steps()) {
              if (step.kind == StepKind::kConversion) continue;
              ++kernels;
              EXPECT_FALSE(step.kernel.slow) << step.kernel.name;
            }
            EXPECT_EQ(kernels, 1);
          }
        }
      }
    }
  }
  EXPECT_EQ(accepted + after, 5 * 2 * 2 * 2 * kNumActivations);
  EXPECT_EQ(after == 0, HasAvx512());
}

TEST(TargetTest, Refusals) {
  const std::unique_ptr<Target> target = MakeCpuTarget();
  const Graph graph = Parse(R"(graph (x: f32[1,3,7,5], i: f64[2,3], j: f64[3,4]) {
    w = const f32[5,3,3,3]  b = const f32[5]
    y = conv(x, w, b) {activation="relu"}
    m = matmul(i, j)
    return y, m, relu(y)
  })");
  const NodeId conv = graph.producer(graph.FindValue("y")), matmul = graph.producer(graph.FindValue("m"));
  EXPECT_EQ(target->SupportsFused(graph, conv, {.residual = true}).message(), "nothing can follow the activation relu");
  EXPECT_TRUE(target->SupportsFused(graph, conv, {}).ok());
  EXPECT_EQ(target->SupportsFused(graph, matmul, {.bias = true}).message(), "no kernel for matmul of f64");
  EXPECT_EQ(target->SupportsFused(graph, graph.producer(graph.outputs()[2].value), {.bias = true}).message(),
            "nothing is fused into relu");
}

// The table says what can be fused into an op, its kernel the details.
TEST(TargetTest, PartsThatNoKernelHas) {
  const std::unique_ptr<Target> target = MakeCpuTarget();
  const Graph graph = Parse(R"(graph (x: f32[2,3], v: f32[1,2,5,5]) {
    s = const f32[2]
    soft = softmax(x)
    k = const f32[3,4]
    whole = gemm(x, k)
    norm = batch_norm(v, s, s, s, s)
    instance = instance_norm(v, s, s)
    return soft, whole, norm, instance
  })");
  const auto refusal = [&](std::string_view name, const FusedParts& parts) {
    return std::string(target->SupportsFused(graph, graph.producer(graph.FindValue(name)), parts).message());
  };
  EXPECT_EQ(refusal("soft", {.residual = true}), "");
  EXPECT_EQ(refusal("soft", {.bias = true}), "no kernel of softmax with a bias");
  EXPECT_EQ(refusal("whole", {.bias = true}), "nothing is fused into gemm");
  EXPECT_EQ(refusal("norm", {.activation = Activation::kRelu}), "");
  EXPECT_EQ(refusal("norm", {.activation = Activation::kTanh}), "no kernel of batch_norm with tanh");
  EXPECT_EQ(refusal("instance", {.activation = Activation::kTanh}), "");
  EXPECT_EQ(refusal("instance", {.scale = true}), "no kernel of instance_norm with a scale");
}

TEST(TargetTest, PartsAfterAnActivation) {
  const std::unique_ptr<Target> target = MakeCpuTarget();
  const Graph graph = Parse(R"(graph (x: f32[1,3,7,5], r: f32[1,5,5,3], p: f32[2,3], q: f32[3,4]) {
    w = const f32[5,3,3,3]
    y = conv(x, w) {activation="relu"}
    z = conv(x, w, _, r) {activation="relu", activation_first=true}
    m = matmul(p, q)
    return y, z, m
  })");
  const NodeId y = graph.producer(graph.FindValue("y")), z = graph.producer(graph.FindValue("z"));
  const NodeId m = graph.producer(graph.FindValue("m"));
  EXPECT_TRUE(target->SupportsFused(graph, y, {.residual = true, .activation_first = true}).ok());
  EXPECT_EQ(target->SupportsFused(graph, y, {.bias = true, .activation_first = true}).message(),
            "nothing can follow the activation relu");
  EXPECT_EQ(target->SupportsFused(graph, z, {.residual = true, .activation_first = true}).message(),
            "it has a residual already");
  EXPECT_EQ(target->SupportsFused(graph, m, {.residual = true, .activation_first = true}).message(),
            "there is no activation that could come first");
  EXPECT_EQ(target->SupportsFused(graph, y, {.residual = true, .broadcast_residual = true, .activation_first = true})
                .message(),
            "a convolution has no scale and no broadcast residual");
  for (const FusedParts& parts : {FusedParts{.scale = true},
                                  {.residual = true, .broadcast_residual = true},
                                  {.residual = true, .activation = Activation::kGelu, .activation_first = true}}) {
    const absl::Status status = target->SupportsFused(graph, m, parts);
    EXPECT_TRUE(HasAvx512() ? status.ok() : IsFasterAfter(status)) << status;
  }
}

TEST(TargetTest, WholeOps) {
  const std::unique_ptr<Target> target = MakeCpuTarget();
  const Graph graph = Parse("graph (x: f32[2,3], i: s32[2,3]) { return x, i }");
  const ValueId x = graph.FindValue("x"), i = graph.FindValue("i");
  const std::vector<ValueId> two = {x, x}, many(17, x), integers = {i, i};
  EXPECT_TRUE(target->SupportsOp(graph, OpKind::kBinaryChain, two).ok());
  EXPECT_TRUE(target->SupportsOp(graph, OpKind::kL2Loss, two).ok());
  EXPECT_EQ(target->SupportsOp(graph, OpKind::kBinaryChain, many).message(), "no kernel for more than 16 operands");
  EXPECT_EQ(target->SupportsOp(graph, OpKind::kL2Loss, integers).message(), "no kernel for inputs of s32");
  EXPECT_EQ(target->SupportsOp(graph, OpKind::kOpaque, two).message(), "no kernel for opaque");
  EXPECT_EQ(target->SupportsOp(graph, OpKind::kHardmax, two).message(), "no kernel for hardmax");  // but the reference
}

TEST(TargetTest, SymbolicShapesAreNoObstacle) {
  const std::unique_ptr<Target> target = MakeCpuTarget();
  const Graph graph = Parse(R"(graph (x: f32[N,3,H,W], t: f32[N,T,16], u: f32[?,?,?,?]) {
    w = const f32[5,3,3,3]  v = const f32[16,4]
    return conv(x, w), matmul(t, v), conv(u, w)
  })");
  for (const GraphOutput& output : graph.outputs()) {
    EXPECT_TRUE(
        target->SupportsFused(graph, graph.producer(output.value), {.bias = true, .activation = Activation::kRelu})
            .ok());
  }
}

TEST(TargetTest, SignaturesSayWhatIsEmulated) {
  const std::unique_ptr<Target> target = MakeCpuTarget();
  const Graph graph = Parse(
      "graph (x: f32[1,3,7,5]) { w = const f32[5,3,3,3]  y = conv(x, w)  z: f32[1] = opaque \"Q\" (y)  return y, z }");
  const auto signatures = target->Signatures(graph, graph.producer(graph.FindValue("y")));
  ASSERT_GE(signatures.size(), 3u);
  EXPECT_EQ(signatures[0], (Signature{DataType::kFloat32, DataType::kFloat32, DataType::kFloat32, true}));
  EXPECT_EQ(signatures[1].src, DataType::kBFloat16);
  EXPECT_EQ(signatures[1].native, target->IsNative(DataType::kBFloat16));
  EXPECT_TRUE(target->Signatures(graph, graph.producer(graph.FindValue("z"))).empty());
  EXPECT_TRUE(target->IsNative(DataType::kFloat32));
}

// Of `node`, with its own inputs and result.
absl::Status SupportsQuantized(const Graph& graph, std::string_view value) {
  const NodeId node = graph.producer(graph.FindValue(value));
  return MakeCpuTarget()->SupportsQuantized(graph, node, graph.node(node).inputs, graph.output(node));
}

TEST(TargetTest, KernelsOfBytesAreFoundByAsking) {
  const Graph graph = Parse(R"(graph (x: u8[?,16,9,7]{0.02, 128}, z: u8[1,16,9,7]{0.03, 1}) {
    w: s8[24,16,3,3]{0.01, 0} = const s8[24,16,3,3] uniform(-64, 64)
    d: s8[16,1,3,3]{0.01, 0} = const s8[16,1,3,3] uniform(-64, 64)
    v: s8[7,5]{[0.1, 0.2, 0.3, 0.4, 0.5], 0, axis=1} = const s8[7,5] uniform(-64, 64)
    along: s8[7,5]{[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], 0, axis=0} = const s8[7,5] uniform(-64, 64)
    conv: u8[?,24,7,5]{0.1, 3} = conv(x, w) {activation="relu"}
    floats: f32[?,24,7,5] = conv(x, w)
    depthwise: u8[?,16,7,5]{0.1, 3} = conv(x, d) {group=16}
    product: u8[?,16,9,5]{0.1, 3} = matmul(x, v)
    wrong: u8[?,16,9,5]{0.1, 3} = matmul(x, along)
    sum: u8[1,16,9,7]{0.1, 3} = add(z, z)
    table: u8[?,16,9,7]{0.1, 3} = sigmoid(x)
    moved: u8[?,9,7,16]{0.02, 128} = transpose(x, [0,2,3,1])
    pooled: u8[1,16,4,3]{0.03, 1} = max_pool(z) {kernel=[2,2], strides=[2,2]}
    other: u8[1,16,4,3]{0.04, 1} = max_pool(z) {kernel=[2,2], strides=[2,2]}
    norm: u8[1,16,9,7]{0.1, 3} = softmax(z)
    return conv, floats, depthwise, product, wrong, sum, table, moved, pooled, other, norm
  })");
  const bool vnni = DescribeCpu().native_int8 && !DescribeCpu().isa.starts_with("avx2");
  for (const std::string_view value : {"conv", "floats", "product", "depthwise", "sum", "table", "moved", "pooled"}) {
    if (!vnni && (value == "conv" || value == "floats" || value == "product")) continue;  // as its oneDNN has them
    EXPECT_TRUE(SupportsQuantized(graph, value).ok()) << value << ": " << SupportsQuantized(graph, value);
  }
  for (const std::string_view value : {"wrong", "other", "norm"}) {
    EXPECT_EQ(SupportsQuantized(graph, value).code(), absl::StatusCode::kUnimplemented) << value;
  }
  EXPECT_THAT(SupportsQuantized(graph, "wrong").message(), HasSubstr("another axis"));
}

TEST(TargetTest, EnvironmentNamesTheMachine) {
  const EnvironmentInfo info = DescribeCpu();
  EXPECT_THAT(info.onednn_version, HasSubstr("3."));
  EXPECT_FALSE(info.isa.empty());
  EXPECT_GE(info.cores, 1);
  EXPECT_EQ(info.native_int8, info.isa.find("vnni") != std::string::npos || info.native_bf16);
  EXPECT_EQ(info.native_bf16, MakeCpuTarget()->IsNative(DataType::kBFloat16));
}

}  // namespace
}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// Each step of the planner "lists" on GraphDefs: which type attributes it marks bf16, and which ops start, end or
// extend a path.

#include "passes/precision/auto_mixed_precision.h"

#include <string>

#include "formats/tensorflow/dialects.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "passes/precision/device_name.h"
#include "passes/precision/lists_planner.h"
#include "tests/precision/source_text.h"

namespace halftone {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// "node.attribute" of all marked attributes, in the file's order; an element of a list is "node.attribute[1]".
std::string Marked(const ListsPlan& plan) {
  std::string text;
  for (const TypeAttributeDecision& row : plan.attributes) {
    if (row.type == DataType::kFloat32) continue;
    text += Concat(text.empty() ? "" : " ", row.node, ".", row.type_attr);
    if (row.index >= 0) text += Concat("[", row.index, "]");
  }
  return text;
}

ListsPlan Plan(const Graph& graph, PlannerOptions options = {}) {
  options.imported_from = &GraphDefDialect();
  absl::StatusOr<ListsPlan> plan = PlanByLists(graph, options);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

ListsPlan PlanText(std::string_view text, const PlannerOptions& options = {}) {
  return Plan(SourceGraphOf(text), options);
}

std::string StepOf(const ListsPlan& plan, std::string_view node, std::string_view attribute = "T") {
  for (const TypeAttributeDecision& row : plan.attributes) {
    if (row.node == node && row.type_attr == attribute) return row.step;
  }
  return "no row";
}

TEST(AutoMixedPrecision, OnlyFloatTypesThatAreAttributesHaveRows) {
  const ListsPlan plan = PlanText(R"(
      x Placeholder - dtype=f32
      i Const - dtype=s32
      g Gather x,i Tparams=f32 Tindices=s32
      r ResizeBilinear g,i T=f32
      d MatMul x,x T=f64)");
  std::string rows;
  for (const TypeAttributeDecision& row : plan.attributes) rows += Concat(row.node, ".", row.type_attr, " ");
  EXPECT_EQ(rows, "x.dtype g.Tparams r.T ");
}

TEST(AutoMixedPrecision, WithoutAnAllowOpNothingIsDone) {
  const ListsPlan plan = PlanText(R"(
      x Placeholder - dtype=f32
      a Exp x T=f32
      b Tanh a T=f32)");
  EXPECT_EQ(Marked(plan), "");
  EXPECT_EQ(plan.summary.ToString(), "No allowlist ops found, nothing to do");
  EXPECT_EQ(StepOf(plan, "b"), "infer");
}

TEST(AutoMixedPrecision, AMatmulOfIntegersIsAnAllowOpAndNotMarked) {
  const ListsPlan plan = PlanText("i Const - dtype=s32\nm MatMul i,i T=s32");
  EXPECT_EQ(
      plan.summary.ToString(),
      "Converted 0/2 nodes to bfloat16 precision using 0 cast(s) to bfloat16 (excluding Const and Variable casts)");
}

TEST(AutoMixedPrecision, InferAndClearBetweenLayers) {
  const ListsPlan plan = PlanText(R"(
      x Placeholder - dtype=f32
      m MatMul x,x T=f32
      t Tanh m T=f32
      r Relu t T=f32
      n MatMul r,x T=f32
      u Tanh n T=f32)");
  EXPECT_EQ(Marked(plan), "m.T t.T r.T n.T");
  EXPECT_EQ(StepOf(plan, "t"), "infer-between");
  EXPECT_EQ(StepOf(plan, "u"), "infer");
  EXPECT_EQ(plan.summary.casts_to_bf16, 1);
  EXPECT_EQ(plan.summary.casts_to_f32, 1);
}

TEST(AutoMixedPrecision, InferAfterInTheOrderOfTheFile) {
  // u stands before t, which it reads: when u is looked at, t is not marked yet.
  const std::string_view text = R"(
      x Placeholder - dtype=f32
      m MatMul x,x T=f32
      u Tanh t T=f32
      t Tanh m T=f32
      v Tanh t T=f32
      e Exp x T=f32
      a AddV2 m,e T=f32)";
  EXPECT_EQ(Marked(PlanText(text)), "m.T");
  const ListsPlan plan = PlanText(text, {.mark_infer_after_allow = true});
  EXPECT_EQ(Marked(plan), "m.T t.T v.T");
  EXPECT_EQ(StepOf(plan, "t"), "infer-after");
  EXPECT_EQ(StepOf(plan, "a"), "deny-propagation");
}

TEST(AutoMixedPrecision, ClearBothWaysButNotWhatReadsAVariable) {
  const ListsPlan plan = PlanText(R"(
      v VariableV2 - dtype=f32
      i Identity v T=f32
      e Enter i T=f32
      x Placeholder - dtype=f32
      r Relu x T=f32
      m MatMul r,e T=f32
      s Relu m T=f32
      w VarHandleOp - dtype=f32
      y ReadVariableOp w dtype=f32
      j Identity y T=f32
      n MatMul s,j T=f32)");
  EXPECT_EQ(Marked(plan), "r.T m.T s.T j.T n.T");
  EXPECT_EQ(StepOf(plan, "r"), "clear-adjacent");
  EXPECT_EQ(StepOf(plan, "i"), "clear");
  EXPECT_EQ(StepOf(plan, "e"), "clear");
  // Of the three casts, the two of variables do not count, only that of x.
  EXPECT_EQ(plan.summary.casts_to_bf16, 1);
}

TEST(AutoMixedPrecision, DenyNeedsNoProcessing) {
  // Exp is on a GPU: it is not processed, but it still denies.
  const ListsPlan plan = PlanText(R"(
      x Placeholder - dtype=f32
      m MatMul x,x T=f32
      e Exp m T=f32 device=/device:GPU:0
      r Relu e T=f32
      t Tanh r T=f32
      n MatMul t,x T=f32)");
  EXPECT_EQ(Marked(plan), "m.T n.T");
  EXPECT_EQ(StepOf(plan, "t"), "deny-propagation");
  EXPECT_EQ(StepOf(plan, "r"), "deny-propagation");
}

TEST(AutoMixedPrecision, StatisticsAreNoPath) {
  // The scale of the norm is denied, its data is not: there is no path from one to the other.
  const ListsPlan plan = PlanText(R"(
      x Placeholder - dtype=f32
      m MatMul x,x T=f32
      e Exp x T=f32
      b FusedBatchNormV3 m,e,x,x,x T=f32 U=f32 outputs=6
      n MatMul b,x T=f32)");
  EXPECT_EQ(Marked(plan), "m.T b.T n.T");
  EXPECT_EQ(StepOf(plan, "b", "U"), "deny-propagation");
}

TEST(AutoMixedPrecision, TheFirstBatchNormIsTheSecondUnlessItIsNotProcessed) {
  const std::string_view text = R"(
      x Placeholder - dtype=f32
      m MatMul x,x T=f32
      b FusedBatchNorm m,x,x,x,x T=f32 outputs=5
      n MatMul b,x T=f32)";
  const ListsPlan plan = PlanText(text);
  EXPECT_EQ(Marked(plan), "m.T b.T n.T");
  EXPECT_EQ(StepOf(plan, "b", "U"), "infer");
  EXPECT_EQ(plan.attributes[2].op, "FusedBatchNormV2");
  const ListsPlan elsewhere = PlanText(R"(
      x Placeholder - dtype=f32
      m MatMul x,x T=f32
      b FusedBatchNorm m,x,x,x,x T=f32 outputs=5 device=/device:GPU:0
      n MatMul b,x T=f32)");
  EXPECT_EQ(Marked(elsewhere), "m.T n.T");
  EXPECT_EQ(StepOf(elsewhere, "b", "U"), "no row");
}

TEST(AutoMixedPrecision, AnAllowOpWithoutBFloat16StartsPathsAndIsUnmarked) {
  const ListsPlan plan = PlanText(R"(
      x Placeholder - dtype=f32
      p Const - dtype=s32
      a FusedPadConv2D x,p,x T=f32
      t Tanh a T=f32
      b FusedPadConv2D t,p,x T=f32)");
  EXPECT_EQ(Marked(plan), "t.T");
  EXPECT_EQ(StepOf(plan, "a"), "not-supported");
  EXPECT_EQ(plan.summary.casts_to_bf16, 1);  // of a
}

TEST(AutoMixedPrecision, AnAllowOpWithQuantizedTypesIsUnmarked) {
  ListEdits edits;
  edits.allow.add = {"Bitcast"};
  const std::string_view text = "x Placeholder - dtype=f32\nb Bitcast x T=f32 type=";
  EXPECT_EQ(Marked(PlanText(Concat(text, "s32"), {.edits = {edits}})), "b.T");
  const ListsPlan plan = PlanText(Concat(text, "qs32"), {.edits = {edits}});
  EXPECT_EQ(Marked(plan), "");
  EXPECT_EQ(StepOf(plan, "b"), "not-supported");
}

TEST(AutoMixedPrecision, ElementsOfAListAreSeparateVertices) {
  const ListsPlan plan = PlanText(R"(
      x Placeholder - dtype=f32
      i Const - dtype=s32
      m MatMul x,x T=f32
      e Exp x T=f32
      l IdentityN m,e,i T=[f32,f32,s32] outputs=3
      n MatMul l,x T=f32
      t Tanh l:1 T=f32)");
  EXPECT_EQ(Marked(plan), "m.T l.T[0] n.T");
}

TEST(AutoMixedPrecision, ADefaultIsATypeToo) {
  const ListsPlan plan = PlanText(R"(
      x Placeholder - dtype=f32
      m MatMul x,x T=f32
      l LeakyRelu m
      n MatMul l,x T=f32)");
  EXPECT_EQ(Marked(plan), "m.T l.T n.T");
}

constexpr std::string_view kLoop = R"(
      x Placeholder - dtype=f32
      c Const - dtype=bool
      e Enter x T=f32
      m Merge e,n T=f32 N=2 outputs=2
      s Switch m,c T=f32 outputs=2
      a MatMul s:1,x T=f32
      BODY
      n NextIteration b T=f32
      q Exit s T=f32)";

ListsPlan Loop(std::string_view body) {
  std::string text(kLoop);
  return PlanText(text.replace(text.find("BODY"), 4, body));
}

TEST(AutoMixedPrecision, ALoopWhoseMergeIsMarkedIsMarkedAtItsEnd) {
  EXPECT_EQ(Marked(Loop("b Relu a T=f32")), "e.T m.T s.T a.T b.T n.T q.T");
  // The merge is marked from its input. The sigmoid that ends the body is denied; the back edge follows the merge.
  const ListsPlan plan = Loop("d Exp a T=f32\n b Sigmoid d T=f32");
  EXPECT_EQ(Marked(plan), "e.T m.T s.T a.T n.T q.T");
}

TEST(AutoMixedPrecision, ANextIterationFollowsItsMergesEvenOnAnotherDevice) {
  std::string text(kLoop);
  text.replace(text.find("BODY"), 4, "b Relu a T=f32");
  text.replace(text.find("n NextIteration b T=f32"), 23, "n NextIteration b T=f32 device=/device:GPU:0");
  const ListsPlan plan = PlanText(text);
  EXPECT_THAT(Marked(plan), HasSubstr("n.T"));
  EXPECT_EQ(StepOf(plan, "n"), "loop-edges");
}

TEST(AutoMixedPrecision, AMergeThatIsNotMarkedUnmarksItsSiblingsAndTheBackEdge) {
  std::string text(kLoop);
  text.replace(text.find("BODY"), 4, "b Relu a T=f32\n k Merge x,n T=f32 N=2 outputs=2 device=/device:GPU:0");
  const ListsPlan plan = PlanText(text);
  EXPECT_EQ(Marked(plan), "e.T s.T a.T b.T q.T");
  EXPECT_EQ(StepOf(plan, "m"), "loop-edges");
  EXPECT_EQ(StepOf(plan, "n"), "loop-edges");
}

TEST(AutoMixedPrecision, ACastWithOnlyMarkedConsumersIsMarked) {
  const ListsPlan plan = PlanText(R"(
      i Placeholder - dtype=u8
      c Cast i SrcT=u8 DstT=f32
      d Cast i SrcT=u8 DstT=f32
      m MatMul c,c T=f32
      n MatMul d,d T=f32
      t Tanh d T=f32)");
  EXPECT_EQ(Marked(plan), "c.DstT m.T n.T");
  EXPECT_EQ(StepOf(plan, "c", "DstT"), "casts");
  EXPECT_EQ(plan.summary.casts_to_bf16, 1);  // of d
}

TEST(AutoMixedPrecision, OneCastPerOutputAndDirection) {
  const ListsPlan plan = PlanText(R"(
      x Placeholder - dtype=f32
      s Split c,x T=f32 num_split=2 outputs=2
      c Const - dtype=s32
      a MatMul s,s T=f32
      b MatMul s:1,s T=f32
      t Tanh a T=f32
      u Tanh a T=f32
      e Exp s T=f32)",
                                  {.edits = {ListEdits{.clear = {.remove = {"Split"}}}}});
  EXPECT_EQ(Marked(plan), "a.T b.T");
  EXPECT_EQ(plan.summary.casts_to_bf16, 2);
  EXPECT_EQ(plan.summary.casts_to_f32, 1);
}

TEST(AutoMixedPrecision, OutputsAndInputsArePreserved) {
  const ListsPlan plan = PlanText(R"(
      x Placeholder - dtype=f32
      m MatMul x,x T=f32
      !n MatMul m,x T=f32)");
  EXPECT_EQ(Marked(plan), "m.T");
}

// --- Tensor lists.

constexpr std::string_view kList = R"(
      x Placeholder - dtype=f32
      k Const - dtype=s32
      r TensorListReserve k,k element_dtype=f32 shape_type=s32
      WRITTEN
      w TensorListSetItem r,k,y element_dtype=f32
      h HANDLE
      g TensorListGetItem h,k,k element_dtype=f32
      n MatMul g,x T=f32)";

std::string List(std::string_view written, std::string_view handle) {
  std::string text(kList);
  text.replace(text.find("WRITTEN"), 7, written);
  return text.replace(text.find("HANDLE"), 6, handle);
}

TEST(AutoMixedPrecision, OpsOfOneTensorListHaveOneType) {
  const ListsPlan plan = PlanText(List("y MatMul x,x T=f32", "Identity w T=variant"));
  EXPECT_EQ(Marked(plan), "r.element_dtype y.T w.element_dtype g.element_dtype n.T");
  EXPECT_EQ(StepOf(plan, "r", "element_dtype"), "tensor-lists");
}

TEST(AutoMixedPrecision, AListThatIsWrittenByADenyOpIsDenied) {
  const ListsPlan plan = PlanText(List("y Exp x T=f32\n z Tanh g T=f32", "Identity w T=variant"));
  EXPECT_EQ(Marked(plan), "n.T");
  EXPECT_EQ(StepOf(plan, "g", "element_dtype"), "deny-propagation");  // along the edge of the list
  EXPECT_EQ(StepOf(plan, "r", "element_dtype"), "tensor-lists");
}

TEST(AutoMixedPrecision, AListThatLeavesTheGraphIsDenied) {
  const std::string_view called = "PartitionedCall w Tin=[variant] Tout=[variant]";
  EXPECT_EQ(Marked(PlanText(List("y MatMul x,x T=f32", called))), "y.T n.T");
  const Graph function =
      SourceGraphOf(List("y MatMul x,x T=f32", "my_function w"), {{"my_function", {"variant", "variant", ""}}});
  EXPECT_EQ(Marked(Plan(function)), "y.T n.T");
  EXPECT_EQ(Marked(PlanText(List("y MatMul x,x T=f32", "Identity w T=variant device=/device:GPU:0"))),
            "r.element_dtype y.T w.element_dtype g.element_dtype n.T");
}

TEST(AutoMixedPrecision, AListWithANodeElsewhereIsDenied) {
  std::string text = List("y MatMul x,x T=f32", "Identity w T=variant");
  text.replace(text.find("n MatMul"), 8,
               "l TensorListLength h\n l2 TensorListStack h,k element_dtype=f32 device=/device:GPU:0\n n MatMul");
  EXPECT_EQ(Marked(PlanText(text)), "y.T n.T");
}

// --- Ops and devices.

TEST(AutoMixedPrecision, AnUnknownOpIsAWarningAndUnchanged) {
  const ListsPlan plan = PlanText(R"(
      x Placeholder - dtype=f32
      m MatMul x,x T=f32
      u MyOp m T=f32
      n MatMul u,x T=f32)");
  EXPECT_EQ(Marked(plan), "m.T n.T");
  EXPECT_EQ(StepOf(plan, "u"), "");
  EXPECT_THAT(plan.warnings, Contains(HasSubstr("'MyOp' is not an op")));
}

TEST(AutoMixedPrecision, AFusedOpIsAWarning) {
  const ListsPlan plan = PlanText("x Placeholder - dtype=f32\nf _FusedMatMul x,x,x T=f32 num_args=1");
  EXPECT_THAT(plan.warnings, Contains(HasSubstr("'_FusedMatMul' is on no list")));
}

TEST(AutoMixedPrecision, Float16AsItsRegistrySays) {
  const std::string_view text = R"(
      x Placeholder - dtype=f32
      p Const - dtype=s32
      a FusedPadConv2D x,p,x T=f32
      m MatMul a,x T=f32)";
  EXPECT_EQ(Marked(PlanText(text)), "m.T");
  const ListsPlan plan = PlanText(text, {.target_type = DataType::kFloat16});
  EXPECT_EQ(Marked(plan), "a.T m.T");
  EXPECT_THAT(plan.summary.ToString(), HasSubstr("nodes to float16 precision"));
}

TEST(DeviceName, OnlyWholeNamesWithTypeAndNumberAreDevices) {
  for (const char* name : {"", "/device:CPU:0", "/cpu:0", "/CPU:3", "/job:a/replica:0/task:1/device:CPU:0",
                           "/job:localhost/device:XLA_CPU:0", "/job:*/replica:*/task:*/device:CPU:1"}) {
    EXPECT_TRUE(IsOnCpu(name)) << name;
  }
  for (const char* name : {"/device:GPU:0", "/gpu:0", "/job:cpu", "/job:cpu/device:GPU:0", "/device:CPU:*",
                           "/device:CPU", "/device:*:0", "cpu:0", "/cpu:", "/", "/job:a/", "/replica:x/device:CPU:0"}) {
    EXPECT_FALSE(IsOnCpu(name)) << name;
  }
}

}  // namespace
}  // namespace halftone

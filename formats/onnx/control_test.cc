// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan: subgraphs become closed nested graphs, and subgraphs again.

#include <memory>
#include <string>

#include "formats/onnx/test_models.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/nested.h"
#include "ir/text.h"

namespace halftone::onnx_format {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const Node& OnlyNode(const Graph& graph, OpKind op) {
  for (const NodeId id : graph.nodes()) {
    if (graph.op(id) == op) return graph.node(id);
  }
  ADD_FAILURE() << "no " << OpName(op) << " in\n" << PrintGraph(graph);
  return graph.node(graph.nodes().front());
}

// The subgraph `name` of the only node that has one.
onnx::GraphProto Subgraph(const onnx::ModelProto& model, const std::string& name) {
  for (const onnx::NodeProto& node : model.graph().node()) {
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.name() == name) return attribute.g();
    }
  }
  ADD_FAILURE() << "no subgraph " << name;
  return {};
}

std::string NodesIn(const onnx::GraphProto& graph) {
  onnx::ModelProto model;
  *model.mutable_graph() = graph;
  return NodesOf(model);
}

TEST(Control, IfIsAClosedNodeAndComesBack) {
  const onnx::ModelProto model = Model(13, R"(agraph (bool c, float[2] x) => (float[2] y) <float[2] w = {1,2}> {
      h = Relu(x)
      y = If(c) <then_branch = t () => (float[2] a) { a = Add(h, w) },
                 else_branch = e () => (float[2] b) { k = Identity(x)  b = Add(k, h) }> })");
  const Graph graph = Imported(model);
  const Node& node = OnlyNode(graph, OpKind::kIf);
  EXPECT_THAT(node.captures, ElementsAre("", ""));
  ASSERT_EQ(node.inputs.size(), 3u);  // c, h, x; w is a constant inside
  EXPECT_EQ(graph.value(node.inputs[1]).name, "h");
  EXPECT_FALSE(graph.IsCaptured(node.inputs[1]));
  const std::shared_ptr<const Graph> then = NestedGraph(node, "then");
  ASSERT_NE(then, nullptr);
  EXPECT_EQ(then->inputs().size(), 2u);
  EXPECT_TRUE(then->IsConstant(then->input(then->producer(then->outputs()[0].value), 1)));
  EXPECT_EQ(graph.shape(graph.FindValue("y")).ToString(), "[2]");
  const onnx::ModelProto back = Exported(graph);
  EXPECT_EQ(NodesIn(Subgraph(back, "then_branch")), "Add(h,w)->a\n");
  EXPECT_EQ(NodesIn(Subgraph(back, "else_branch")), "Identity(x)->k\nAdd(k,h)->b\n");
  EXPECT_EQ(Subgraph(back, "then_branch").input_size(), 0);
  EXPECT_EQ(back.graph().initializer_size(), 1);
  EXPECT_EQ(back.graph().initializer(0).name(), "w");
  EXPECT_EQ(Subgraph(back, "then_branch").initializer_size(), 0);
  EXPECT_TRUE(Import(back).ok()) << Import(back).status();
}

TEST(Control, OuterNamesMayChange) {
  Graph graph = Imported(Model(13, R"(agraph (bool c, float[2] x) => (float[2] y) {
      h = Relu(x)
      y = If(c) <then_branch = t () => (float[2] a) { a = Neg(h) }, else_branch = e () => (float[2] b) { b = Exp(h) }> })"));
  GraphEditor edit(graph);
  const ValueId h = graph.FindValue("h");
  edit.ReplaceUses(h, graph.FindValue("x"));
  edit.RemoveDeadNodes();
  EXPECT_EQ(NodesIn(Subgraph(Exported(graph), "then_branch")), "Neg(x)->a\n");
}

TEST(Control, LoopWithStatesAndScannedOutputs) {
  const char* text = R"(agraph (int64 n, bool c, float[2] x, float[2] k) => (float[2] y, float[m,2] z) {
      y, z = Loop(n, c, x) <body = b (int64 i, bool on, float[2] s) => (bool go, float[2] t, float[2] u) {
        go = Identity(on)  t = Add(s, k)  u = Relu(t) }> })";
  const Graph graph = Imported(Model(11, text));
  const Node& node = OnlyNode(graph, OpKind::kLoop);
  EXPECT_EQ(node.inputs.size(), 4u);
  EXPECT_THAT(node.captures, ElementsAre(""));
  EXPECT_EQ(graph.shape(graph.FindValue("y")).ToString(), "[2]");
  EXPECT_EQ(graph.shape(graph.FindValue("z")).ToString(), "[m,2]");
  const onnx::ModelProto back = Exported(graph);
  EXPECT_THAT(NodesOf(back), HasSubstr("Loop(n,c,x)->y,z body=graph"));
  EXPECT_EQ(NodesIn(Subgraph(back, "body")), "Identity(on)->go\nAdd(s,k)->t\nRelu(t)->u\n");
  EXPECT_EQ(Subgraph(back, "body").input_size(), 3);
  EXPECT_EQ(Subgraph(back, "body").output(2).type().tensor_type().shape().dim(0).dim_value(), 2);
  // Neither count nor condition, and an output that the node leaves out.
  onnx::ModelProto model = Model(11, R"(agraph (float[2] x) => (float[2] y) {
      y = Loop(none, none, x) <body = b (int64 i, bool on, float[2] s) => (bool go, float[2] t, float[2] u) {
        go = Identity(on)  t = Neg(s)  u = Relu(t) }> })");
  for (int i = 0; i < 2; ++i) model.mutable_graph()->mutable_node(0)->set_input(i, "");
  EXPECT_THAT(NodesOf(Exported(Imported(model))), HasSubstr("Loop(,,x)->y, body=graph"));
}

// ys.append(y) in a loop, torch.stack(ys) after it.
TEST(Control, AppendedListsAreScannedOutputs) {
  const std::string body =
      R"(<body = b (int64 i, bool on, float[2] p, seq(float[2]) q) => (bool go, float[2] t, seq(float[2]) r) {
        go = Identity(on)  t = Neg(p)  r = SequenceInsert(q, t) }>)";
  const onnx::ModelProto back =
      Exported(Imported(Model(13, R"(agraph (int64 n, bool c, float[2] x) => (float[m,2] y, float[2,m] z) {
      e = SequenceEmpty()
      s, l = Loop(n, c, x, e) )" + body +
                                      R"(
      y = ConcatFromSequence<axis = 0, new_axis = 1>(l)
      z = ConcatFromSequence<axis = -1, new_axis = 1>(l) })")));
  EXPECT_THAT(NodesOf(back), HasSubstr("Loop(n,c,x)->s,l body=graph\nIdentity(l)->y\nTranspose(l)->z perm=1;0;\n"));
  EXPECT_EQ(NodesIn(Subgraph(back, "body")), "Identity(on)->go\nNeg(p)->t\nIdentity(t)->r\n");
  // torch.cat: the elements may have different lengths.
  const Graph cat = Imported(Model(13, R"(agraph (int64 n, bool c, float[2] x) => (float[m] y) {
      e = SequenceEmpty()
      s, l = Loop(n, c, x, e) )" + body + R"(
      y = ConcatFromSequence<axis = 0>(l) })"));
  EXPECT_EQ(OnlyNode(cat, OpKind::kLoop).outputs.size(), 2u);
  EXPECT_EQ(OnlyNode(cat, OpKind::kLoop).inputs.size(), 4u);
}

TEST(Control, ScanSinceOpset9) {
  const char* text = R"(agraph (float[2] s, float[2,3] x) => (float[2] y, float[2,3] z) {
      y, z = Scan(s, x) <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1],
        body = b (float[2] p, float[2] q) => (float[2] t, float[2] u) { t = Add(p, q)  u = Identity(t) }> })";
  const Graph graph = Imported(Model(11, text));
  EXPECT_EQ(graph.shape(graph.FindValue("z")).ToString(), "[2,3]");
  const onnx::ModelProto back = Exported(graph);
  EXPECT_THAT(NodesOf(back), HasSubstr("scan_input_axes=1;"));
  EXPECT_EQ(OnlyNode(Imported(back), OpKind::kScan).inputs.size(), 2u);
  EXPECT_EQ(OnlyNode(Imported(Model(8, text)), OpKind::kOpaque).spelling, "Scan");  // batches first, another operator
}

TEST(Control, WhatIsNotAsItsOperatorWantsStaysOpaque) {
  for (
      const char* body :
      {"y = If(c) <then_branch = t () => (float[2] a) { a = Neg(x) }>",
       "y = If(c) <then_branch = t () => (float[2] a) { a = Neg(x) }, else_branch = e () => (float[2] b, float[2] d) { "
       "b = Neg(x) d = Exp(x) }>",
       "y = If(c) <future = 1, then_branch = t () => (float[2] a) { a = Neg(x) }, else_branch = e () => (float[2] b) { "
       "b = Neg(x) }>",
       "y = Loop(n, c) <body = b (int64 i, bool on, float[2] s) => (bool go, float[2] t) { go = Identity(on) t = "
       "Neg(s) }>"}) {
    const Graph graph =
        Imported(Model(13, "agraph (int64 n, bool c, float[2] x) => (float[2] y) {" + std::string(body) + "}"));
    EXPECT_EQ(OnlyNode(graph, OpKind::kOpaque).outputs.size(), 1u) << body;
    EXPECT_THAT(NodesOf(Exported(graph)), HasSubstr("graph")) << body;
  }
}

TEST(Control, OpaqueNodesInsideKeepTheNamesThatTheyRead) {
  const Graph graph = Imported(Model(13, R"(agraph (bool c, float[2] x) => (float[2] y) {
      h = Relu(x)
      y = If(c) <then_branch = t () => (float[2] a) {
                   a = com.acme.Either(c) <body = i () => (float[2] q) { q = Neg(h) }> },
                 else_branch = e () => (float[2] b) { b = Exp(x) }> })"));
  const Node& node = OnlyNode(graph, OpKind::kIf);
  EXPECT_THAT(node.captures, testing::UnorderedElementsAre("", "h", ""));
  EXPECT_TRUE(graph.IsCaptured(graph.FindValue("h")));
  EXPECT_TRUE(Import(Exported(graph)).ok());
}

TEST(Control, NamesInsideDoNotMeetThoseOutside) {
  // A pass gives a value outside the name of one inside, and the other way round.
  Graph graph = Imported(Model(13, R"(agraph (bool c, float[2] x) => (float[2] y) {
      h = Relu(x)
      y = If(c) <then_branch = t () => (float[2] a) { m = Neg(h)  a = Exp(m) }, else_branch = e () => (float[2] b) { b = Exp(h) }> })"));
  GraphEditor edit(graph);
  edit.SetValueName(graph.FindValue("h"), "m");
  const onnx::ModelProto model = Exported(graph);
  EXPECT_THAT(NodesOf(model), HasSubstr("Relu(x)->m_1\n"));
  EXPECT_EQ(NodesIn(Subgraph(model, "then_branch")), "Neg(m_1)->m\nExp(m)->a\n");
}

TEST(Control, ABranchMayHandAValueThrough) {
  const onnx::ModelProto model = Exported(Imported(Model(13, R"(agraph (bool c, float[2] x) => (float[2] y) {
      y = If(c) <then_branch = t () => (float[2] x) { }, else_branch = e () => (float[2] b) { b = Exp(x) }> })")));
  EXPECT_EQ(NodesIn(Subgraph(model, "then_branch")), "Identity(x)->x_1\n");
  EXPECT_EQ(Subgraph(model, "then_branch").output(0).name(), "x_1");
}

TEST(Control, TheOpsetCountsInsideToo) {
  Graph graph = Imported(Model(11, R"(agraph (bool c, float[2,3] x) => (float[3] y) {
      y = If(c) <then_branch = t () => (float[3] a) { a = ReduceSum<axes = [0], keepdims = 0>(x) },
                 else_branch = e () => (float[3] b) { b = ReduceMax<axes = [0], keepdims = 0>(x) }> })"));
  EXPECT_THAT(NodesIn(Subgraph(Exported(graph), "then_branch")), HasSubstr("axes=0;"));
  const onnx::ModelProto newer = Exported(graph, 18);
  EXPECT_THAT(NodesIn(Subgraph(newer, "then_branch")), Not(HasSubstr("axes=0;")));
  EXPECT_EQ(Subgraph(newer, "then_branch").initializer_size(), 1);
  EXPECT_TRUE(Import(newer).ok()) << Import(newer).status();
}

// ---- Weights: a file has each once.

std::string Numbers(int count) {
  std::string text = "0";
  for (int i = 1; i < count; ++i) text += "," + std::to_string(i);
  return text;
}

TEST(Control, WeightsOfABranchAreReadByNameInside) {
  const std::string weights = "a = Constant<value = float[1000] {" + Numbers(1000) + "}>()";
  const onnx::ModelProto model = Model(13, "agraph (bool c, bool d, float[1000] x) => (float[1000] y) { y = If(c) <" +
                                               ("then_branch = t () => (float[1000] u) { " + weights + R"(
        b = If(d) <then_branch = tt () => (float[1000] v) { v = Add(x, a) },
                   else_branch = te () => (float[1000] w) { w = Sub(x, a) }>
        u = Mul(b, a) }, else_branch = e () => (float[1000] z) { z = Identity(x) }> })"));
  const onnx::ModelProto back = Exported(Imported(model));
  const onnx::GraphProto then = Subgraph(back, "then_branch");
  EXPECT_EQ(then.node(0).op_type(), "Constant");
  EXPECT_EQ(then.initializer_size(), 0);
  EXPECT_EQ(back.graph().initializer_size(), 0);
  for (const onnx::AttributeProto& attribute : then.node(1).attribute()) {
    EXPECT_EQ(attribute.g().initializer_size(), 0);
    EXPECT_EQ(attribute.g().node(0).input(1), "a");
  }
  EXPECT_LE(back.ByteSizeLong(), model.ByteSizeLong() * 102 / 100);
}

// What passes compute of one weight in both branches is the same bytes twice.
TEST(Control, EqualWeightsOfTwoBranchesStandAroundThem) {
  const std::string weights = "= const f32[100] {" + Numbers(100) + "}";
  const absl::StatusOr<Graph> graph = ParseGraph(R"(graph (c: bool[], x: f32[100]) {
    y = if(c, x) {then=graph (x: f32[100]) { t )" +
                                                 weights + R"(  b = const f32[1] {3}  u = add(add(x, t), b)  return u },
                  else=graph (x: f32[100]) { e )" +
                                                 weights + R"(  b = const f32[1] {3}  v = mul(mul(x, e), b)  return v }}
    return y })");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const onnx::ModelProto model = Exported(*graph);
  ASSERT_EQ(model.graph().initializer_size(), 1);
  const std::string name = model.graph().initializer(0).name();
  EXPECT_EQ(Subgraph(model, "then_branch").initializer_size(), 1);  // small ones stay
  EXPECT_EQ(Subgraph(model, "else_branch").initializer_size(), 1);
  EXPECT_EQ(Subgraph(model, "then_branch").node(0).input(1), name);
  EXPECT_EQ(Subgraph(model, "else_branch").node(0).input(1), name);
  EXPECT_TRUE(Import(model).ok()) << Import(model).status();
}

// The constant around is read by branches alone, so that passes remove it there.
TEST(Control, AConstantOfShapeThatBranchesReadStaysANode) {
  Graph graph = Imported(Model(13, R"(agraph (bool c, float[1,512] x) => (float[256,512] y) {
      s = Constant<value = int64[2] {256, 512}>()  w = ConstantOfShape<value = float[1] {0.5}>(s)
      y = If(c) <then_branch = t () => (float[256,512] a) { a = Add(x, w) },
                 else_branch = e () => (float[256,512] b) { b = Sub(x, w) }> })"));
  GraphEditor(graph).RemoveDeadNodes();
  const onnx::ModelProto model = Exported(graph);
  EXPECT_EQ(model.graph().initializer_size(), 0);
  EXPECT_THAT(NodesOf(model), HasSubstr("ConstantOfShape(w_shape)->w value=tensor"));
  for (const char* name : {"then_branch", "else_branch"}) {
    EXPECT_EQ(Subgraph(model, name).initializer_size(), 0);
    EXPECT_EQ(Subgraph(model, name).node(0).input(1), "w");
  }
  EXPECT_LT(model.ByteSizeLong(), 1000u);
  EXPECT_TRUE(Import(model).ok()) << Import(model).status();
}

TEST(Control, TextInBetweenChangesNothing) {
  const Graph graph = Imported(Model(13, R"(agraph (int64 n, bool c, float[2] x) => (float[2] y) <float[2] w = {1,2}> {
      y = Loop(n, c, x) <body = b (int64 i, bool on, float[2] s) => (bool go, float[2] t) {
        go = Identity(on)
        t = If(on) <then_branch = t () => (float[2] a) { a = Add(s, w) }, else_branch = e () => (float[2] d) { d = Mul(s, x) }> }> })"));
  const absl::StatusOr<Graph> parsed = ParseGraph(PrintGraph(graph, {.with_weights = true}));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(Exported(*parsed).SerializeAsString(), Exported(graph).SerializeAsString());
}

}  // namespace
}  // namespace halftone::onnx_format

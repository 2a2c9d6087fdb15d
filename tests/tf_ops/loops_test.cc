// SPDX-License-Identifier: Apache-2.0
// Control flow, TensorArrays and functions of TensorFlow: import, conversion to structured loops, reference functions,
// engine and export.
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "formats/tensorflow/exporter.h"
#include "formats/tensorflow/importer.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/reference/reference.h"
#include "ir/shape_inference.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "passes/prepare/build_loops.h"
#include "runtime/engine.h"
#include "tests/tf_ops/file_text.h"

namespace halftone {
namespace {

using ::testing::ElementsAre;
using testing::FileFromText;
using ::testing::HasSubstr;

Graph Import(std::string_view text, std::vector<std::string> outputs) {
  absl::StatusOr<Graph> graph =
      ImportGraphDef(FileFromText(text).SerializeAsString(), /*is_text=*/false, {.outputs = std::move(outputs)});
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph();
}

// The exported file must have the same nodes and functions.
void ExpectRoundTrip(std::string_view text, const Graph& graph) {
  const absl::StatusOr<std::string> bytes = ExportGraphDef(graph, /*as_text=*/false);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  tensorflow::GraphDef after;
  ASSERT_TRUE(after.ParseFromString(*bytes));
  google::protobuf::util::MessageDifferencer differencer;
  std::string report;
  differencer.ReportDifferencesToString(&report);
  differencer.TreatAsMap(tensorflow::GraphDef::descriptor()->FindFieldByName("node"),
                         tensorflow::NodeDef::descriptor()->FindFieldByName("name"));
  differencer.TreatAsMap(tensorflow::NodeDef::descriptor()->FindFieldByName("attr"),
                         tensorflow::AttrEntry::descriptor()->FindFieldByName("key"));
  EXPECT_TRUE(differencer.Compare(FileFromText(text), after)) << report;
}

absl::Status Build(Graph& graph) {
  GraphEditor edit(graph);
  return BuildLoops(edit);
}

// The values of the only output. Reference functions and engine must agree.
std::vector<float> RunGraph(Graph graph, const std::vector<Tensor>& inputs) {
  GraphEditor edit(graph);
  absl::Status status = Specialize(edit, {}, 1);
  EXPECT_TRUE(status.ok()) << status;
  status = BuildLoops(edit);
  EXPECT_TRUE(status.ok()) << status;
  status = VerifyGraph(graph);
  EXPECT_TRUE(status.ok()) << status << "\n" << PrintGraph(graph);
  const absl::StatusOr<std::vector<Tensor>> expected = reference::EvaluateGraph(graph, inputs);
  EXPECT_TRUE(expected.ok()) << expected.status() << "\n" << PrintGraph(graph);
  if (!expected.ok()) return {};
  const absl::StatusOr<std::unique_ptr<Plan>> plan = CompilePlan(graph);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return {};
  const absl::StatusOr<std::vector<Tensor>> actual = (*plan)->Run(inputs);
  EXPECT_TRUE(actual.ok()) << actual.status();
  if (!actual.ok()) return {};
  EXPECT_EQ(reference::Compare((*actual)[0], (*expected)[0], 1e-6f, 1e-6f), "");
  return (*expected)[0].ToFloats();
}

std::vector<float> RunText(std::string_view text, const std::string& output, const std::vector<Tensor>& inputs) {
  const Graph graph = Import(text, {output});
  ExpectRoundTrip(text, graph);
  return RunGraph(graph, inputs);
}

Tensor Floats(std::vector<int64_t> dims, const std::vector<float>& values) {
  Tensor tensor(DataType::kFloat32, std::move(dims));
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>().begin());
  return tensor;
}

Tensor Bool(bool value) {
  Tensor tensor(DataType::kBool, {});
  tensor.mutable_data<uint8_t>()[0] = value;
  return tensor;
}

// sum = x + x + ... n times; i counts.
constexpr std::string_view kLoop = R"(
  x = Placeholder() dtype=f32 shape=[2]
  n = Const() value=s32:3
  zero = Const() value=s32:0
  i/enter = Enter(zero) T=s32 frame_name="loop"
  x/enter = Enter(x) T=f32 frame_name="loop"
  x/constant = Enter(x) T=f32 frame_name="loop" is_constant=true
  n/enter = Enter(n) T=s32 frame_name="loop" is_constant=true
  i = Merge(i/enter, i/next) T=s32 N=2
  y = Merge(x/enter, y/next) T=f32 N=2
  less = Less(i, n/enter) T=s32
  go = LoopCond(less)
  i/switch = Switch(i, go) T=s32
  y/switch = Switch(y, go) T=f32
  one = Const(^i/switch) value=s32:1
  i/add = AddV2(i/switch:1, one) T=s32
  y/add = AddV2(y/switch:1, x/constant) T=f32
  i/next = NextIteration(i/add) T=s32
  y/next = NextIteration(y/add) T=f32
  out = Exit(y/switch) T=f32
)";

TEST(Loops, AWhileLoopWithInvariants) {
  EXPECT_THAT(RunText(kLoop, "out", {Floats({2}, {1, -2})}), ElementsAre(4, -8));
}

// for i in 0..2: for j in 0..i: y += 1 - an inner loop that starts anew, its bound is the outer counter.
TEST(Loops, NestedLoops) {
  constexpr std::string_view kText = R"(
    y0 = Placeholder() dtype=f32 shape=[]
    zero = Const() value=s32:0
    three = Const() value=s32:3
    i0 = Enter(zero) T=s32 frame_name="outer"
    ye = Enter(y0) T=f32 frame_name="outer"
    n = Enter(three) T=s32 frame_name="outer" is_constant=true
    zero/outer = Enter(zero) T=s32 frame_name="outer" is_constant=true
    i = Merge(i0, i/next) T=s32 N=2
    y = Merge(ye, y/next) T=f32 N=2
    less = Less(i, n) T=s32
    go = LoopCond(less)
    is = Switch(i, go) T=s32
    ys = Switch(y, go) T=f32
    j0 = Enter(zero/outer) T=s32 frame_name="inner"
    ze = Enter(ys:1) T=f32 frame_name="inner"
    m = Enter(is:1) T=s32 frame_name="inner" is_constant=true
    j = Merge(j0, j/next) T=s32 N=2
    z = Merge(ze, z/next) T=f32 N=2
    less2 = LessEqual(j, m) T=s32
    go2 = LoopCond(less2)
    js = Switch(j, go2) T=s32
    zs = Switch(z, go2) T=f32
    one = Const(^js) value=s32:1
    onef = Const(^js) value=f32:1
    j/add = AddV2(js:1, one) T=s32
    z/add = AddV2(zs:1, onef) T=f32
    j/next = NextIteration(j/add) T=s32
    z/next = NextIteration(z/add) T=f32
    z/exit = Exit(zs) T=f32
    i/one = Const(^is) value=s32:1
    i/add = AddV2(is:1, i/one) T=s32
    i/next = NextIteration(i/add) T=s32
    y/next = NextIteration(z/exit) T=f32
    out = Exit(ys) T=f32
  )";
  EXPECT_THAT(RunText(kText, "out", {Floats({}, {0.5f})}), ElementsAre(6.5f));  // 1 + 2 + 3
}

// Rows of x are squared one by one; elements of unknown shape.
TEST(Loops, TensorArraysAreReadAndWritten) {
  constexpr std::string_view kText = R"(
    x = Placeholder() dtype=f32 shape=[3,2]
    three = Const() value=s32:3
    zero = Const() value=s32:0
    step = Const() value=s32:1
    in = TensorArrayV3(three) dtype=f32 element_shape=?
    range = Range(zero, three, step) Tidx=s32
    filled = TensorArrayScatterV3(in, range, x, in:1) T=f32
    result = TensorArrayV3(three) dtype=f32 element_shape=?
    i/enter = Enter(zero) T=s32 frame_name="loop"
    flow/enter = Enter(result:1) T=f32 frame_name="loop"
    in/enter = Enter(in) T=resource frame_name="loop" is_constant=true
    filled/enter = Enter(filled) T=f32 frame_name="loop" is_constant=true
    result/enter = Enter(result) T=resource frame_name="loop" is_constant=true
    n = Enter(three) T=s32 frame_name="loop" is_constant=true
    i = Merge(i/enter, i/next) T=s32 N=2
    flow = Merge(flow/enter, flow/next) T=f32 N=2
    less = Less(i, n) T=s32
    go = LoopCond(less)
    is = Switch(i, go) T=s32
    fs = Switch(flow, go) T=f32
    row = TensorArrayReadV3(in/enter, is:1, filled/enter) dtype=f32
    square = Square(row) T=f32
    write = TensorArrayWriteV3(result/enter, is:1, square, fs:1) T=f32
    one = Const(^is) value=s32:1
    i/add = AddV2(is:1, one) T=s32
    i/next = NextIteration(i/add) T=s32
    flow/next = NextIteration(write) T=f32
    flow/exit = Exit(fs) T=f32
    size = TensorArraySizeV3(result, flow/exit)
    range2 = Range(zero, size, step) Tidx=s32
    out = TensorArrayGatherV3(result, range2, flow/exit) dtype=f32 element_shape=?
    flat = TensorArrayConcatV3(result, flow/exit) dtype=f32
  )";
  const std::vector<Tensor> x = {Floats({3, 2}, {1, 2, 3, 4, 5, 6})};
  EXPECT_THAT(RunText(kText, "out", x), ElementsAre(1, 4, 9, 16, 25, 36));
  EXPECT_THAT(RunText(kText, "flat", x), ElementsAre(1, 4, 9, 16, 25, 36));
  EXPECT_THAT(RunText(kText, "flat:1", x), ElementsAre(2, 2, 2));
}

TEST(Loops, ATensorArrayThatIsSplit) {
  constexpr std::string_view kText = R"(
    x = Placeholder() dtype=f32 shape=[4]
    two = Const() value=s32:2
    one = Const() value=s32:1
    lengths = Const() value=s64[2]:2,2
    array = TensorArrayV3(two) dtype=f32
    flow = TensorArraySplitV3(array, x, lengths, array:1) T=f32
    out = TensorArrayReadV3(array, one, flow) dtype=f32
  )";
  EXPECT_THAT(RunText(kText, "out", {Floats({4}, {1, 2, 3, 4})}), ElementsAre(3, 4));
}

// tf.cond(p, lambda: x + 1, lambda: -x)
constexpr std::string_view kCond = R"(
  x = Placeholder() dtype=f32 shape=[2]
  p = Placeholder() dtype=bool shape=[]
  pivot = Switch(p, p) T=bool
  t = Identity(pivot:1) T=bool
  f = Identity(pivot) T=bool
  pred = Identity(p) T=bool
  x/true = Switch(x, pred) T=f32
  x/false = Switch(x, pred) T=f32
  one = Const(^t) value=f32:1
  add = AddV2(x/true:1, one) T=f32
  neg = Neg(x/false) T=f32
  out = Merge(neg, add) T=f32 N=2
)";

TEST(Conditionals, BothBranches) {
  const Tensor x = Floats({2}, {1, -2});
  EXPECT_THAT(RunText(kCond, "out", {x, Bool(true)}), ElementsAre(2, -1));
  EXPECT_THAT(RunText(kCond, "out", {x, Bool(false)}), ElementsAre(-1, 2));
  EXPECT_THAT(RunText(kCond, "out:1", {x, Bool(true)}), ElementsAre(1));
}

TEST(Conditionals, BranchesOfConstants) {
  constexpr std::string_view kText = R"(
    p = Placeholder() dtype=bool shape=[]
    pivot = Switch(p, p) T=bool
    t = Identity(pivot:1) T=bool
    f = Identity(pivot) T=bool
    a = Const(^t) value=f32[2]:1,2
    b = Const(^f) value=f32[2]:3,4
    out = Merge(a, b) T=f32 N=2
  )";
  EXPECT_THAT(RunText(kText, "out", {Bool(true)}), ElementsAre(1, 2));
  EXPECT_THAT(RunText(kText, "out", {Bool(false)}), ElementsAre(3, 4));
}

// y doubles while i is even, else it loses one.
TEST(Conditionals, InsideALoop) {
  constexpr std::string_view kText = R"(
    x = Placeholder() dtype=f32 shape=[]
    zero = Const() value=s32:0
    three = Const() value=s32:3
    i/enter = Enter(zero) T=s32 frame_name="loop"
    y/enter = Enter(x) T=f32 frame_name="loop"
    n = Enter(three) T=s32 frame_name="loop" is_constant=true
    i = Merge(i/enter, i/next) T=s32 N=2
    y = Merge(y/enter, y/next) T=f32 N=2
    less = Less(i, n) T=s32
    go = LoopCond(less)
    is = Switch(i, go) T=s32
    ys = Switch(y, go) T=f32
    two = Const(^is) value=s32:2
    none = Const(^is) value=s32:0
    rest = FloorMod(is:1, two) T=s32
    even = Equal(rest, none) T=s32
    a = Switch(ys:1, even) T=f32
    b = Switch(ys:1, even) T=f32
    double = AddV2(a:1, a:1) T=f32
    onef = Const(^b) value=f32:1
    less1 = Sub(b, onef) T=f32
    both = Merge(less1, double) T=f32 N=2
    one = Const(^is) value=s32:1
    i/add = AddV2(is:1, one) T=s32
    i/next = NextIteration(i/add) T=s32
    y/next = NextIteration(both) T=f32
    out = Exit(ys) T=f32
  )";
  EXPECT_THAT(RunText(kText, "out", {Floats({}, {5})}), ElementsAre(18));  // 10, 9, 18
}

TEST(Loops, ErrorsNameTheNode) {
  std::string text(kLoop);
  text.replace(text.find("go = LoopCond(less)"), 19, "go = Identity(less) T=bool");
  Graph graph = Import(text, {"out"});
  EXPECT_THAT(std::string(Build(graph).message()), HasSubstr("LoopCond"));
  Graph array = Import(R"(
    n = Placeholder() dtype=s32 shape=[]
    i = Const() value=s32:0
    x = Placeholder() dtype=f32
    a = TensorArrayV3(n) dtype=f32 element_shape=?
    w = TensorArrayWriteV3(a, i, x, a:1) T=f32
    out = TensorArrayReadV3(a, i, w) dtype=f32
  )",
                       {"out"});
  EXPECT_THAT(std::string(Build(array).message()), HasSubstr("node 'a' (tensor_array): the shape of its elements"));
}

// Malformed loops, which TensorFlow does not write, give an error or a graph that cannot run, and never hang.
TEST(Loops, MalformedLoops) {
  std::string no_enter(kLoop), crossed(kLoop), no_exit(kLoop);
  no_enter.replace(no_enter.find("Merge(x/enter, y/next)"), 22, "Merge(y/next, y/next)");
  crossed.replace(crossed.find("Switch(y, go)"), 13, "Switch(y, less)");
  no_exit.replace(no_exit.find("Exit(y/switch)"), 14, "Exit(y/switch:1)");
  for (const std::string& text : {no_enter, crossed, no_exit}) {
    absl::StatusOr<Graph> graph =
        ImportGraphDef(FileFromText(text).SerializeAsString(), /*is_text=*/false, {.outputs = {"out"}});
    if (!graph.ok() || !Build(*graph).ok()) continue;
    EXPECT_FALSE(CompilePlan(*graph).ok()) << PrintGraph(*graph);
  }
}

TEST(Placeholders, WithDefaultRunWithIt) {
  constexpr std::string_view kText = R"(
    x = Placeholder() dtype=f32 shape=[2]
    c = Const() value=f32:3
    d = PlaceholderWithDefault(c) dtype=f32 shape=[]
    out = Mul(x, d) T=f32
  )";
  EXPECT_THAT(RunText(kText, "out", {Floats({2}, {1, -2})}), ElementsAre(3, -6));
}

constexpr std::string_view kFunctions = R"(
  x = Placeholder() dtype=f32 shape=[2]
  p = Placeholder() dtype=bool shape=[]
  zero = Const() value=s32:0
  loop = StatelessWhile(zero, x) T={s32,f32} cond=@more body=@step
  choice = StatelessIf(p, loop:1) Tcond=bool Tin={f32} Tout={f32} then_branch=@twice else_branch=@minus
  out = PartitionedCall(choice, x) Tin={f32,f32} Tout={f32} f=@outer
  function more(i: s32, y: f32) -> (bool r = less:z:0) {
    n = Const() value=s32:3
    less = Less(i, n:output:0) T=s32
  }
  function step(i: s32, y: f32) -> (s32 i2 = next:z:0, f32 y2 = tops:values:0) {
    one = Const() value=s32:1
    two = Const() value=s32:2
    next = AddV2(i, one:output:0) T=s32
    more = AddV2(y, y) T=f32
    tops = TopKV2(more:z:0, two:output:0) T=f32
  }
  function twice(y: f32) -> (f32 r = add:z:0) {
    add = AddV2(y, y) T=f32
  }
  function minus(y: f32) -> (f32 r = neg:y:0) {
    neg = Neg(y) T=f32
  }
  function outer(a: f32, b: f32) -> (f32 r = call:output:0) {
    add = AddV2(a, b) T=f32
    call = StatefulPartitionedCall(add:z:0) Tin={f32} Tout={f32} f=@minus
  }
)";

TEST(Functions, CallsLoopsAndBranches) {
  const Tensor x = Floats({2}, {1, -2});  // 8, -16
  EXPECT_THAT(RunText(kFunctions, "out", {x, Bool(true)}), ElementsAre(-17, 34));
  EXPECT_THAT(RunText(kFunctions, "out", {x, Bool(false)}), ElementsAre(7, -14));
}

// Bodies that a pass changed become new functions; reading these gives the same graph.
TEST(Functions, ChangedBodiesBecomeNewFunctions) {
  Graph graph = Import(kFunctions, {"out"});
  GraphEditor edit(graph);
  ASSERT_TRUE(Specialize(edit, {}, 1).ok());  // writes shapes into the bodies
  for (const NodeId id : graph.nodes()) {
    for (const char* name : {"body", "condition", "then", "else"}) {
      if (const auto* nested = graph.node(id).attributes.find(name); nested != nullptr) {
        Graph body = *std::get<std::shared_ptr<const Graph>>(*nested);
        GraphEditor inside(body);
        for (const NodeId n : body.nodes()) {
          if (body.op(n) == OpKind::kAdd) inside.SetName(n, "renamed");
        }
        edit.SetNestedGraph(id, name, std::move(body), inside.edits());
      }
    }
  }
  const absl::StatusOr<std::string> bytes = ExportGraphDef(graph, /*as_text=*/false);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  tensorflow::GraphDef after;
  ASSERT_TRUE(after.ParseFromString(*bytes));
  for (const auto& function : after.library().function()) {
    EXPECT_NE(function.signature().name(), "step") << "no node calls it";
  }
  const absl::StatusOr<Graph> again = ImportGraphDef(*bytes, /*is_text=*/false, {.outputs = {"out"}});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_THAT(RunGraph(*again, {Floats({2}, {1, -2}), Bool(true)}), ElementsAre(-17, 34));
}

TEST(Functions, CallsThatDoNotMatchTheirFunction) {
  const auto error = [](std::string_view text) {
    return std::string(ImportGraphDef(FileFromText(text).SerializeAsString(), false, {}).status().message());
  };
  EXPECT_THAT(error(R"(
    x = Placeholder() dtype=f32
    y = PartitionedCall(x, x) Tin={f32,f32} Tout={f32} f=@g
    function g(a: f32) -> (f32 r = n:y:0) {
      n = Neg(a) T=f32
    }
  )"),
              HasSubstr("node 'y': function 'g' has 1 arguments and 1 results; the call gives 2 and takes 1"));
  EXPECT_THAT(error(R"(
    x = Placeholder() dtype=f32
    y = PartitionedCall(x) Tin={f32} Tout={f32} f=@g
    function g(a: f32) -> (f32 r = n:y:0) {
      n = Neg(missing:y:0) T=f32
    }
  )"),
              HasSubstr("function 'g'"));
}

}  // namespace
}  // namespace halftone

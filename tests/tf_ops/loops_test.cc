// SPDX-License-Identifier: Apache-2.0
// Control flow and TensorArrays of TensorFlow: import, conversion to structured loops, reference functions, engine and
// export.
#include <string>
#include <string_view>

#include "formats/tensorflow/importer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/text.h"
#include "passes/prepare/build_loops.h"
#include "runtime/engine.h"
#include "tests/tf_ops/file_text.h"
#include "tests/tf_ops/run_text.h"

namespace halftone {
namespace {

using testing::Bool;
using ::testing::ElementsAre;
using testing::FileFromText;
using testing::Floats;
using ::testing::HasSubstr;
using testing::Import;
using testing::RunText;

absl::Status Build(Graph& graph) {
  GraphEditor edit(graph);
  return BuildLoops(edit);
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

}  // namespace
}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// Named passes: how their text is read, and what no golden case can show: bounds of what rounding does, and that
// quantized weights are written and read back in both formats.

#include "formats/dialects.h"
#include "passes/transforms/named_passes.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "formats/formats.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "passes/core/permissive_target.h"
#include "passes/pipelines.h"

namespace halftone {
namespace {

std::string ErrorOf(std::string_view text) {
  const absl::StatusOr<std::unique_ptr<Pass>> pass = ParseNamedPass(text);
  return pass.ok() ? "" : std::string(pass.status().message());
}

bool Contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(NamedPasses, TextsThatAreRight) {
  for (const char* text : {"remove_device", "remove_device()", " round_weights ( num_steps = 64 ) ",
                           "round_weights(minimum_size=1,num_steps=2)", "remove_nodes(op=Identity, op=CheckNumerics)",
                           "strip_unused_nodes(name=a, shape_for_name=\"1,2,3\")", "rename_op(old=Relu,new=Relu6)",
                           "set_device(device=\"/job:a,task:0\", if_default=true)", "fold_constants"}) {
    EXPECT_EQ(ErrorOf(text), "") << text;
    EXPECT_TRUE(IsNamedPass(text));
  }
}

TEST(NamedPasses, TextsThatAreWrongSayWhatIsRight) {
  EXPECT_TRUE(Contains(ErrorOf("round_wights"), "there are: add_default_attributes, "));
  EXPECT_TRUE(Contains(ErrorOf("round_weights(steps=3)"), "no argument 'steps'; there are: num_steps, minimum_size"));
  EXPECT_TRUE(Contains(ErrorOf("round_weights(num_steps=many)"), "it must be a whole number of at least 1"));
  EXPECT_TRUE(Contains(ErrorOf("round_weights(num_steps=1)"), "at least 2"));
  EXPECT_TRUE(Contains(ErrorOf("round_weights(num_steps=4, num_steps=5)"), "is given twice"));
  EXPECT_TRUE(Contains(ErrorOf("rename_op(old=Relu)"), "argument 'new' is missing"));
  EXPECT_TRUE(Contains(ErrorOf("rename_op(old)"), "must be old=VALUE"));
  EXPECT_TRUE(Contains(ErrorOf("set_device(device=a, if_default=yes)"), "true or false"));
  EXPECT_TRUE(Contains(ErrorOf("remove_device("), "must be remove_device(argument=value, ...)"));
  EXPECT_TRUE(Contains(ErrorOf("strip_unused_nodes(name=a, type_for_name=float)"), "must be a type"));
  EXPECT_TRUE(Contains(ErrorOf("strip_unused_nodes(name=a, type=float)"), "type is 'float'; it must be a type"));
  EXPECT_TRUE(Contains(ErrorOf("strip_unused_nodes(name=a, shape=\"1,b\")"), "shape is '1,b'; it must be numbers"));
  EXPECT_TRUE(Contains(ErrorOf("strip_unused_nodes(name=a, name=b, type_for_name=f32)"), "there are 2"));
  EXPECT_TRUE(Contains(ErrorOf("insert_logging(op=Add)"), "there is no printing op"));
  EXPECT_FALSE(IsNamedPass("optimize"));
}

TEST(NamedPasses, ListsAreSplitOutsideOfBracketsAndQuotes) {
  EXPECT_EQ(SplitPassList("optimize,rename_op(old=A,new=B), set_device(device=\"a,b\")"),
            (std::vector<std::string>{"optimize", "rename_op(old=A,new=B)", "set_device(device=\"a,b\")"}));
}

TEST(NamedPasses, TheTablesAreInOrderAndInTheHelp) {
  std::set<std::string> seen;
  std::string last;
  for (const NamedPass& pass : NamedPasses()) {
    EXPECT_LT(last, pass.name);
    last = pass.name;
    EXPECT_TRUE(Contains(NamedPassesHelp(), "  " + last + ": "));
    EXPECT_TRUE(seen.insert(last).second);
  }
  for (const AbsentPass& absent : AbsentPasses()) {
    EXPECT_TRUE(Contains(NamedPassesHelp(), "  " + std::string(absent.name) + ": "));
    EXPECT_TRUE(seen.insert(std::string(absent.name)).second);
  }
}

absl::StatusOr<Graph> After(const std::string& text, const std::string& pass) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  if (!graph.ok()) return graph;
  const absl::StatusOr<Pipeline> pipeline = MakePipelineByName(pass);
  if (!pipeline.ok()) return pipeline.status();
  const PermissiveTarget target;
  PassContext context{.target = target, .file = &FileDialectOf(*graph)};
  if (absl::Status status = pipeline->Run(*graph, context); !status.ok()) return status;
  return graph;
}

// The largest difference of an output, relative to the largest output.
float Moved(const Graph& a, const Graph& b) {
  const std::vector<Tensor> inputs = reference::RandomInputs(a, /*seed=*/3);
  const std::vector<float> x = (*reference::EvaluateGraph(a, inputs))[0].ToFloats();
  const std::vector<float> y = (*reference::EvaluateGraph(b, inputs))[0].ToFloats();
  float moved = 0, largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    moved = std::max(moved, std::abs(x[i] - y[i]));
    largest = std::max(largest, std::abs(x[i]));
  }
  return moved / largest;
}

std::string Net(const char* format) {
  return std::string("graph format=") + format +
         " (x: f32[4,32]) { w = const f32[32,48]  v = const f32[48,8]  h = relu(matmul(x, w))  return y=matmul(h, v) }";
}

TEST(RoundWeights, MoreStepsMoveAnswersLess) {
  const Graph before = *ParseGraph(Net("onnx"));
  float last = 1;
  for (const int steps : {8, 64, 512}) {
    const absl::StatusOr<Graph> after = After(Net("onnx"), "round_weights(num_steps=" + std::to_string(steps) + ")");
    ASSERT_TRUE(after.ok()) << after.status();
    const Tensor& w = *after->ConstantTensor(after->FindValue("w"));
    EXPECT_LE(std::set<float>(w.data<float>().begin(), w.data<float>().end()).size(), static_cast<size_t>(steps));
    const float moved = Moved(before, *after);
    EXPECT_GT(moved, 0);
    EXPECT_LT(moved, last / 2) << steps;
    last = moved;
  }
  EXPECT_LT(last, 0.01);
}

TEST(StripUnusedNodes, TypesAndShapesFollowTheNewInputs) {
  const std::string text =
      "graph format=onnx (x: f32[4,32]) { h = relu(x)  s = sigmoid(h)  y = transpose(s, [1, 0])  return y }";
  const absl::StatusOr<Graph> cut =
      After(text, "strip_unused_nodes(name=h, type_for_name=bf16, shape_for_name=\"7,32\")");
  ASSERT_TRUE(cut.ok()) << cut.status();
  for (const auto& [name, shape] : {std::pair("h", "[7,32]"), std::pair("s", "[7,32]"), std::pair("y", "[32,7]")}) {
    const ValueId value = cut->FindValue(name);
    EXPECT_EQ(cut->type(value), DataType::kBFloat16) << name;
    EXPECT_EQ(cut->shape(value).ToString(), shape) << name;
  }
}

TEST(StripUnusedNodes, WhatReadsTheNewInputMustBeAbleTo) {
  const auto error = [](const std::string& given) {
    return std::string(After(Net("onnx"), "strip_unused_nodes(name=h, " + given + ")").status().message());
  };
  const std::string shape = error("shape_for_name=\"4,47\""), type = error("type_for_name=s32");
  EXPECT_TRUE(Contains(shape, "after the new inputs") && Contains(shape, "matmul")) << shape;
  EXPECT_TRUE(Contains(type, "matmul")) << type;
}

TEST(QuantizeWeights, IsWrittenAndReadBackInBothFormats) {
  for (const bool onnx : {true, false}) {
    std::string text = Net(onnx ? "onnx" : "graphdef");
    if (onnx) text += " header {ir_version=8, opset=[13], opset_domains=[\"\"]}";
    const absl::StatusOr<Graph> before = ParseGraph(text);
    ASSERT_TRUE(before.ok()) << before.status();
    const absl::StatusOr<Graph> after = After(text, "quantize_weights");
    ASSERT_TRUE(after.ok()) << after.status();
    const absl::StatusOr<std::string> small = ExportModel(*after), large = ExportModel(*before);
    ASSERT_TRUE(small.ok() && large.ok()) << small.status() << large.status();
    EXPECT_LT(small->size(), large->size() / 2) << "only v, of 384 elements, stays in f32";
    const absl::StatusOr<Graph> read = ImportModelBytes(*small, onnx ? "a.onnx" : "a.pb");
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(Moved(*after, *read), 0);
    const float moved = Moved(*before, *read);
    EXPECT_GT(moved, 0);
    EXPECT_LT(moved, 0.01);
  }
}

// A graph in text may read a value before the line that makes it; a file may not.
TEST(NamedPasses, SortedFilesAreInExecutionOrder) {
  for (const char* format : {"onnx", "graphdef"}) {
    const std::string text =
        "graph format=" + std::string(format) + " (x: f32[2,3]) { y = tanh(a) name=\"y\"  a = relu(x) name=\"a\"  return y }";
    const absl::StatusOr<Graph> sorted = After(text, "sort_by_execution_order");
    ASSERT_TRUE(sorted.ok()) << sorted.status();
    const absl::StatusOr<std::string> file = ExportModel(*sorted);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE(Contains(*file, "Relu") && Contains(*file, "Tanh"));
    EXPECT_LT(file->find("Relu"), file->find("Tanh")) << format;
  }
}

// It never leaves a graph as it was: what it cannot rename, it names.
TEST(RenameNode, SaysWhatCannotBeRenamed) {
  const std::string text =
      "graph format=graphdef layout=channels_last (x: f32[2]) { m = relu(x) name=\"m\"  y = tanh(m) name=\"y\"  return "
      "y }";
  const absl::Status absent = After(text, "rename_node(old=n, new=k)").status();
  EXPECT_TRUE(Contains(std::string(absent.message()), "no node and no value has the name 'n'")) << absent;
  const absl::Status taken = After(text, "rename_node(old=m, new=y)").status();
  EXPECT_TRUE(Contains(std::string(taken.message()), "the name 'y' is already used")) << taken;
}

constexpr char kOldBatchNorm[] = R"(
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 1 } dim { size: 3 } dim { size: 4 } dim { size: 1 } } } } }
node { name: "w" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor {
  dtype: DT_FLOAT tensor_shape { dim { size: 1 } dim { size: 1 } dim { size: 1 } dim { size: 2 } } float_val: 2 float_val: 3 } } } }
node { name: "m" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor {
  dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: 1 float_val: -1 } } } }
node { name: "v" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor {
  dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: 3.75 float_val: 0.75 } } } }
node { name: "b" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor {
  dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: 5 float_val: 7 } } } }
node { name: "g" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor {
  dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: 4 float_val: 10 } } } }
node { name: "c" op: "Conv2D" input: "x" input: "w" attr { key: "T" value { type: DT_FLOAT } }
  attr { key: "padding" value { s: "VALID" } } attr { key: "strides" value { list { i: 1 i: 1 i: 1 i: 1 } } } }
node { name: "y" op: "BatchNormWithGlobalNormalization" input: "c" input: "m" input: "v" input: "b" input: "g"
  attr { key: "T" value { type: DT_FLOAT } } attr { key: "variance_epsilon" value { f: 0.25 } }
  attr { key: "scale_after_normalization" value { b: true } } }
versions { producer: 22 })";

TEST(FoldOldBatchNorms, TheOperatorOfOldIsReadWrittenAndFolded) {
  const absl::StatusOr<Graph> graph =
      ImportModelBytes(kOldBatchNorm, "old.pbtxt", {.format = ModelFormat::kGraphDefText});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->op(graph->FindNode("y")), OpKind::kBatchNorm);
  const absl::StatusOr<std::string> text = ExportModel(*graph, {.as_text = true});
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_TRUE(Contains(*text, "BatchNormWithGlobalNormalization"));
  EXPECT_TRUE(Contains(*text, "variance_epsilon"));
  const absl::StatusOr<Graph> again = ImportModelBytes(*text, "again.pbtxt", {.format = ModelFormat::kGraphDefText});
  ASSERT_TRUE(again.ok()) << again.status();

  Graph folded = *graph;
  const PermissiveTarget target;
  PassContext context{.target = target};
  ASSERT_TRUE(MakePipelineByName("fold_old_batch_norms")->Run(folded, context).ok());
  EXPECT_EQ(folded.op(folded.FindNode("y")), OpKind::kConv);
  // (2 x - 1) 4 / 2 + 5 and (3 x + 1) 10 / 1 + 7
  const Tensor x = Tensor::Of<float>({1, 3, 4, 1}, std::vector<float>(12, 0.5f));
  for (const Graph* one : std::initializer_list<const Graph*>{&*graph, &*again, &folded}) {
    const std::vector<float> y = (*reference::EvaluateGraph(*one, {x}))[0].ToFloats();
    EXPECT_NEAR(y[0], 5, 1e-5);
    EXPECT_NEAR(y[1], 32, 1e-5);
  }
}

}  // namespace
}  // namespace halftone

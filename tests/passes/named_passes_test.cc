// Named passes: how their text is read, and what no golden case can show: bounds of what rounding does, and that
// quantized weights are written and read back in both formats.

#include "passes/surgery/named_passes.h"

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
  EXPECT_TRUE(Contains(ErrorOf("round_weights(num_steps=4, num_steps=5)"), "came twice"));
  EXPECT_TRUE(Contains(ErrorOf("rename_op(old=Relu)"), "argument 'new' is missing"));
  EXPECT_TRUE(Contains(ErrorOf("rename_op(old)"), "must be old=VALUE"));
  EXPECT_TRUE(Contains(ErrorOf("set_device(device=a, if_default=yes)"), "true or false"));
  EXPECT_TRUE(Contains(ErrorOf("remove_device("), "must be remove_device(argument=value, ...)"));
  EXPECT_TRUE(Contains(ErrorOf("strip_unused_nodes(name=a, type_for_name=float)"), "must be a type"));
  EXPECT_TRUE(Contains(ErrorOf("strip_unused_nodes(name=a, name=b, type_for_name=f32)"), "there are 2"));
  EXPECT_TRUE(Contains(ErrorOf("insert_logging(op=Add)"), "no op of ours prints"));
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
  PassContext context{.target = target};
  if (absl::Status status = pipeline->Run(*graph, context); !status.ok()) return status;
  return graph;
}

// The largest difference of an answer, as a part of the largest answer.
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
  return std::string("graph ") + format +
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

}  // namespace
}  // namespace halftone

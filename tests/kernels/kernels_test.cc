// Every kernel against its reference function. The cases are text; see any .cases file:
//
//   case "what is special" [types=f32,bf16] [slow] [reorders=N] [bf16=E]
//   graph (x: $T[1,3,7,5]) { ... }
//
// $T is replaced by each type. A case fails where a step runs by its reference function, or by one of oneDNN's
// reference loops, unless it says "slow". The tolerance is that of the op's row; below f32 one rounding of the result
// more, and "bf16=E" where what lies between is rounded too: the absolute error that is allowed there.
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/strings.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "runtime/engine.h"

namespace halftone {
namespace {

struct Case {
  std::string file;
  int line = 0;
  std::string name;
  std::vector<std::string> types = {"f32", "bf16"};
  bool slow = false;
  int reorders = -1;
  float bf16_error = 0;
  std::string text;
};

std::vector<std::string>& Files() {
  static std::vector<std::string> files;
  return files;
}

std::vector<Case> ReadCases(const std::string& path) {
  std::vector<Case> cases;
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.starts_with("case ")) {
      Case c{.file = path, .line = number};
      const size_t open = line.find('"'), close = line.find('"', open + 1);
      c.name = line.substr(open + 1, close - open - 1);
      std::istringstream words(line.substr(close + 1));
      for (std::string word; words >> word;) {
        if (word == "slow") {
          c.slow = true;
        } else if (word.starts_with("types=")) {
          c.types = absl::StrSplit(word.substr(6), ',');
        } else if (word.starts_with("reorders=")) {
          c.reorders = std::stoi(word.substr(9));
        } else if (word.starts_with("bf16=")) {
          c.bf16_error = std::stof(word.substr(5));
        } else {
          ADD_FAILURE() << path << ":" << number << ": unknown word " << word;
        }
      }
      cases.push_back(std::move(c));
    } else if (!line.starts_with("#") && !cases.empty()) {
      cases.back().text += line + "\n";
    }
  }
  return cases;
}

std::string Replay(const Case& c, const std::string& type) {
  return Concat(c.file, ":", c.line, " \"", c.name, "\" with ", type, ":\n", c.text);
}

Tolerance ToleranceOf(const Graph& graph, const std::string& type) {
  Tolerance tolerance;
  for (const NodeId node : graph.nodes()) {
    const Tolerance& row = Info(graph.op(node)).tolerance;
    tolerance.relative = std::max(tolerance.relative, row.relative);
    tolerance.absolute = std::max(tolerance.absolute, row.absolute);
  }
  if (type == "bf16") {  // half a unit of the last of 8 bits, twice: both sides round
    tolerance.relative += 1.0f / 128;
    tolerance.absolute += 1e-6f;
  }
  if (type == "f16") {  // 11 bits
    tolerance.relative += 1.0f / 1024;
    tolerance.absolute += 1e-6f;
  }
  return tolerance;
}

// Which steps are slow, and where layouts change, is only promised where oneDNN has all its kernels.
bool HasAllKernels() {
  static const std::string isa = DescribeCpu().isa;
  return isa.starts_with("avx512") || isa.starts_with("avx10");
}

void Check(const Case& c, const std::string& type, int threads) {
  SCOPED_TRACE(Replay(c, type));
  const absl::StatusOr<Graph> graph = ParseGraph(absl::StrReplaceAll(c.text, {{"$T", type}}));
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::vector<Tensor> inputs = reference::RandomInputs(*graph, /*seed=*/17);
  const absl::StatusOr<std::vector<Tensor>> expected = reference::EvaluateGraph(*graph, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  absl::StatusOr<std::unique_ptr<Plan>> plan = CompilePlan(*graph, {.threads = threads});
  ASSERT_TRUE(plan.ok()) << plan.status();
  Tolerance tolerance = ToleranceOf(*graph, type);
  if (type == "bf16") tolerance.absolute += c.bf16_error;
  for (int run = 0; run < 2; ++run) {  // the second run sees the first one's memory
    const absl::StatusOr<std::vector<Tensor>> actual = (*plan)->Run(inputs);
    ASSERT_TRUE(actual.ok()) << actual.status();
    ASSERT_EQ(actual->size(), expected->size());
    for (size_t i = 0; i < actual->size(); ++i) {
      EXPECT_EQ(reference::Compare((*actual)[i], (*expected)[i], tolerance.relative, tolerance.absolute), "")
          << "output " << i << ", run " << run << ", " << threads << " threads";
    }
  }
  if (!HasAllKernels()) return;
  int reorders = 0;
  std::string steps;
  for (const StepInfo& step : (*plan)->steps()) {
    steps += Concat("  ", step.label, " ", step.op, " ", step.kernel, "\n");
    if (step.op == "reorder") ++reorders;
  }
  for (const StepInfo& step : (*plan)->steps()) {
    const bool concat = step.op == "concat" && step.kernel == "ref:any";  // reorders into place, no loop
    EXPECT_FALSE(!c.slow && step.kernel.starts_with("ref") && !concat) << "slow step\n" << steps;
  }
  if (c.reorders >= 0) {
    EXPECT_EQ(reorders, c.reorders) << steps;
  }
}

TEST(KernelsTest, EveryCaseMatchesTheReference) {
  ASSERT_FALSE(Files().empty()) << "give the .cases files as arguments";
  int count = 0;
  for (const std::string& path : Files()) {
    for (const Case& c : ReadCases(path)) {
      for (const std::string& type : c.types) {
        Check(c, type, /*threads=*/1);
        ++count;
      }
      Check(c, c.types.front(), /*threads=*/2);
    }
  }
  EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) halftone::Files().push_back(argv[i]);
  return RUN_ALL_TESTS();
}

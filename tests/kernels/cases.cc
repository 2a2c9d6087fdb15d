// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/cases.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "base/strings.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/reference/reference.h"
#include "runtime/engine.h"

namespace halftone::testing {
namespace {

bool IsSlow(const StepInfo& step) {
  const bool concat = step.op == "concat" && step.kernel.name == "ref:any";  // reorders into place, no loop
  return step.kind == StepKind::kKernel && step.kernel.slow && !concat;
}

std::string Line(const StepInfo& step) { return Concat("  ", step.label, " ", step.op, " ", step.kernel.name, "\n"); }

}  // namespace

std::string Case::TextWith(std::string_view type) const { return absl::StrReplaceAll(text, {{"$T", AbslView(type)}}); }

std::string Case::Replay(std::string_view type) const {
  return Concat(file, ":", line, " \"", name, "\" with ", type, ":\n", text);
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

Tolerance ToleranceOf(const Graph& graph, std::string_view type) {
  Tolerance tolerance;
  for (const NodeId node : graph.nodes()) {
    const Tolerance& row = Info(graph.op(node)).tolerance;
    tolerance.relative = std::max(tolerance.relative, row.relative);
    tolerance.absolute = std::max(tolerance.absolute, row.absolute);
  }
  const bool narrow = std::ranges::any_of(
      graph.outputs(), [&](const GraphOutput& output) { return graph.type(output.value) == DataType::kBFloat16; });
  if (type == "bf16" || narrow) {  // half a unit of the last of 8 bits, twice: both sides round
    tolerance.relative += 1.0f / 128;
    tolerance.absolute += 1e-6f;
  }
  if (type == "f16") {  // 11 bits
    tolerance.relative += 1.0f / 1024;
    tolerance.absolute += 1e-6f;
  }
  return tolerance;
}

bool HasAllKernels() {
  static const bool all = DescribeCpu().native_int8 && !DescribeCpu().isa.starts_with("avx2");
  return all;
}

bool RoundsInMathMode() {
  static const bool rounds = DescribeCpu().native_bf16 && !DescribeCpu().tiles;
  return rounds;
}

std::string SlowSteps(const Plan& plan) {
  std::string slow;
  for (const StepInfo& step : plan.steps()) slow += IsSlow(step) ? Line(step) : "";
  return slow;
}

std::string AllSteps(const Plan& plan) {
  std::string all;
  for (const StepInfo& step : plan.steps()) all += Line(step);
  return all;
}

std::string CompareAll(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected, Tolerance tolerance) {
  if (actual.size() != expected.size()) return Concat(actual.size(), " results, ", expected.size(), " are expected");
  std::string differences;
  for (size_t i = 0; i < actual.size(); ++i) {
    const std::string difference = reference::Compare(actual[i], expected[i], tolerance.relative, tolerance.absolute);
    if (!difference.empty()) differences += Concat("result ", i, ": ", difference, "\n");
  }
  return differences;
}

absl::StatusOr<OutputSets> ExpectedOutputs(const Graph& graph, const std::vector<Tensor>& inputs) {
  OutputSets sets(1);
  HALFTONE_ASSIGN_OR_RETURN(sets[0], reference::EvaluateGraph(graph, inputs));
  if (RoundsInMathMode()) return sets;
  Graph unrounded = graph;
  GraphEditor edit(unrounded);
  for (const NodeId id : graph.nodes()) edit.EraseAttribute(id, "math_mode");
  if (edit.edits() == 0) return sets;
  HALFTONE_ASSIGN_OR_RETURN(std::vector<Tensor> more, reference::EvaluateGraph(unrounded, inputs));
  sets.push_back(std::move(more));
  return sets;
}

std::string CompareAny(const std::vector<Tensor>& actual, const OutputSets& sets, Tolerance tolerance) {
  for (const std::vector<Tensor>& expected : sets) {
    if (CompareAll(actual, expected, tolerance).empty()) return "";
  }
  return CompareAll(actual, sets[0], tolerance);
}

}  // namespace halftone::testing

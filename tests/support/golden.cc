// SPDX-License-Identifier: Apache-2.0
#include "tests/support/golden.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/files.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/dialects.h"
#include "ir/text.h"
#include "passes/core/equivalence.h"
#include "passes/core/permissive_target.h"
#include "passes/core/plan_text.h"
#include "passes/pipelines.h"
#include "passes/precision/lists_planner.h"
#include "passes/precision/placement_planner.h"
#include "tests/support/same_graph.h"

namespace halftone {
namespace {

constexpr uint64_t kSeed = 7;
constexpr float kFloatTolerance = 1e-5f;

constexpr absl::string_view kFields[] = {"in:", "out:", "target:", "plan:", "why:", "unrun:", "with:"};

std::string* FieldOf(GoldenCase& golden, absl::string_view word) {
  if (word == "in:") return &golden.in;
  if (word == "out:") return &golden.out;
  if (word == "target:") return &golden.target;
  if (word == "plan:") return &golden.plan;
  if (word == "why:") return &golden.why;
  if (word == "with:") return &golden.with;
  return &golden.unrun;
}

absl::StatusOr<PrecisionPlan> PlanOf(const std::string& text, const Graph& graph, const Target& target) {
  if (text == "placement") {
    HALFTONE_ASSIGN_OR_RETURN(PlannedPrecision placement, PlanByPlacement(graph, target));
    return std::move(placement.plan);
  }
  if (text != "lists") return ParsePlan(text, graph);
  HALFTONE_ASSIGN_OR_RETURN(ListsPlan lists, PlanByLists(graph, {.imported_from = TensorFlowDialectOf(graph)}));
  return std::move(lists.plan);
}

std::string CompareNumbers(const Graph& before, const Graph& after) {
  const float tolerance = AllowedDifference(kFloatTolerance, before, after);
  const absl::StatusOr<std::string> difference = CompareOutputs(before, after, kSeed, tolerance);
  return difference.ok() ? *difference : Concat("cannot be executed: ", difference.status().message());
}

std::string RefusalsOf(const RewriteLog& log) {
  std::string reasons;
  for (const RewriteLogEntry& entry : log.entries()) {
    if (!entry.applied) reasons += Concat(reasons.empty() ? "" : "; ", entry.text);
  }
  return reasons;
}

// The log must contain the reason of `why`.
std::string CheckWhy(const GoldenCase& golden, const std::string& refusals) {
  if (absl::StrContains(refusals, golden.why)) return "";
  return Concat("the log says '", refusals, "' and not '", golden.why, "'");
}

absl::StatusOr<Graph> RunPipeline(const GoldenCase& golden, const Graph& in, std::string_view name, const Target* other,
                                  RewriteLog& log) {
  PermissiveTarget described;
  if (!golden.target.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(described, PermissiveTarget::Parse(golden.target));
  }
  const Target& target = other == nullptr ? described : *other;
  HALFTONE_ASSIGN_OR_RETURN(const PrecisionPlan plan, PlanOf(golden.plan, in, target));
  HALFTONE_ASSIGN_OR_RETURN(
      const Pipeline pipeline,
      MakePipelineByName(golden.with.empty() ? std::string(name) : Concat(name, "(", golden.with, ")"),
                         {.plan = &plan, .dialects = AllFileDialects()}));
  PassContext context{.target = target,
                      .plan = golden.plan.empty() ? nullptr : &plan,
                      .file = FormatOf(in).has_value() ? &FileDialectOf(in) : nullptr,
                      .log = &log,
                      .equivalence = {.enabled = golden.unrun.empty(), .seed = kSeed}};  // what each pass declares
  Graph graph = in;
  HALFTONE_RETURN_IF_ERROR(pipeline.Run(graph, context));
  return graph;
}

// Printing and parsing must give the same graph.
std::string CheckPrinting(const Graph& graph) {
  const std::string text = PrintGraph(graph, {.with_weights = true});
  const absl::StatusOr<Graph> again = ParseGraph(text);
  if (!again.ok()) return Concat("its text does not parse: ", again.status().message());
  const std::string difference = DifferenceOf(*again, graph);
  return difference.empty() ? "" : Concat("printing and parsing changes it: ", difference);
}

}  // namespace

absl::StatusOr<std::vector<GoldenCase>> ParseGoldenCases(std::string_view text) {
  std::vector<GoldenCase> cases;
  std::string* field = nullptr;
  bool in_out = false;
  int number = 0;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    absl::string_view line = AbslView(text.substr(begin, end - begin));
    ++number;
    const absl::string_view word = line.substr(0, std::min(line.find(' '), line.size()));
    if (word == "case") {
      line.remove_prefix(word.size());
      cases.push_back(
          {.name = std::string(absl::StripPrefix(absl::StripSuffix(absl::StripAsciiWhitespace(line), "\""), "\"")),
           .line = number});
      field = nullptr;
      in_out = false;
    } else if (!cases.empty() && std::find(std::begin(kFields), std::end(kFields), word) != std::end(kFields)) {
      field = FieldOf(cases.back(), word);
      in_out = word == "out:";
      line.remove_prefix(word.size());
      *field = std::string(line);
      if (in_out) cases.back().out_begin = begin + word.size();
    } else if (!absl::StripAsciiWhitespace(line).empty() && line[0] != '#') {
      if (field == nullptr) return absl::InvalidArgumentError(Concat("line ", number, ": expected 'case' or a field"));
      *field += Concat("\n", line);
    }
    if (in_out && !absl::StripAsciiWhitespace(line).empty() && line[0] != '#') cases.back().out_end = end;
    begin = end + 1;
  }
  for (GoldenCase& golden : cases) {
    for (const absl::string_view word : kFields) {
      std::string* text_of_field = FieldOf(golden, word);
      *text_of_field = std::string(absl::StripAsciiWhitespace(*text_of_field));
    }
    if (golden.in.empty() || golden.out.empty()) {
      return absl::InvalidArgumentError(Concat("line ", golden.line, ": the case has no 'in:' or no 'out:'"));
    }
  }
  return cases;
}

GoldenResult RunGoldenCase(const GoldenCase& golden, std::string_view pipeline, const Target* target) {
  const absl::StatusOr<Graph> in = ParseGraph(golden.in);
  if (!in.ok()) return {.problem = Concat("in: ", in.status().message())};
  RewriteLog log;
  const absl::StatusOr<Graph> actual = RunPipeline(golden, *in, pipeline, target, log);
  if (!actual.ok()) return {.problem = std::string(actual.status().message())};

  GoldenResult result;
  result.actual = PrintGraph(*actual);
  result.refusals = RefusalsOf(log);
  std::string numbers = golden.unrun.empty() ? CompareNumbers(*in, *actual) : "";
  result.numbers_agree = numbers.empty();
  if (!result.numbers_agree) {
    result.problem = Concat("outputs differ: ", numbers);
    return result;
  }
  const absl::StatusOr<Graph> expected = golden.kept() ? *in : ParseGraph(golden.out);
  if (!expected.ok()) {
    result.problem = Concat("out: ", expected.status().message());
    return result;
  }
  result.problem = DifferenceOf(*actual, *expected);
  if (result.problem.empty()) result.problem = CheckWhy(golden, result.refusals);
  if (result.problem.empty()) result.problem = CheckPrinting(*actual);
  return result;
}

std::vector<std::string> RunGoldenCases(const std::string& path, bool update) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return {std::string(text.status().message())};
  const absl::StatusOr<std::vector<GoldenCase>> cases = ParseGoldenCases(*text);
  if (!cases.ok()) return {Concat(path, ": ", cases.status().message())};
  const std::string pipeline = std::filesystem::path(path).stem().string();
  std::vector<std::string> problems;
  std::string rewritten = *text;
  for (auto golden = cases->rbegin(); golden != cases->rend();
       ++golden) {  // from the end, so that earlier positions stay valid
    const GoldenResult result = RunGoldenCase(*golden, pipeline);
    if (result.problem.empty()) continue;
    if (update && result.numbers_agree && !golden->kept() && !result.actual.empty()) {
      rewritten.replace(golden->out_begin, golden->out_end - golden->out_begin,
                        Concat("\n", absl::StripAsciiWhitespace(result.actual)));
      continue;
    }
    problems.insert(problems.begin(), Concat(path, ":", golden->line, " \"", golden->name, "\": ", result.problem,
                                             "\nactual graph:\n", result.actual));
  }
  if (update && rewritten != *text) {
    if (const absl::Status status = WriteFileAtomically(path, rewritten); !status.ok()) {
      problems.push_back(std::string(status.message()));
    }
  }
  return problems;
}

absl::StatusOr<std::vector<GoldenGraph>> AllGoldenGraphs(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".graph") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<GoldenGraph> graphs;
  for (const std::string& path : paths) {
    HALFTONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<GoldenCase> cases, ParseGoldenCases(text));
    for (const GoldenCase& golden : cases) {
      if (!golden.unrun.empty()) continue;
      const std::string name = Concat(std::filesystem::path(path).filename().string(), ":", golden.line);
      absl::StatusOr<Graph> graph = ParseGraph(golden.in);
      if (!graph.ok()) return Annotate(graph.status(), AbslView(name));
      graphs.push_back({name, *std::move(graph)});
    }
  }
  return graphs;
}

}  // namespace halftone

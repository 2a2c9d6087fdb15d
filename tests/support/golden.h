// Golden files: cases of one pass as text. A case that a newcomer can add without C++:
//
//   case "bias is folded into the matmul"
//   in:   graph (x: f32[2,3]) { w = const f32[3,5]   b = const f32[5]   return add(matmul(x, w), b) }
//   out:  graph (x: f32[2,3]) { w = const f32[3,5]   b = const f32[5]   return matmul(x, w, b) }
//
//   case "kept: target has no fused kernel"
//   target: without matmul+bias
//   in:   graph ...
//   out:  same
//
// More lines, each optional:
//   plan: m=bf16, add=f32      planned precision by node label; every other node is f32. "plan: lists": what
//   PlanByLists says why: another user          a part of the reason that the rule must give for keeping the graph
//   with: num_steps=4          arguments of a named pass (passes/transforms/named_passes.h)
//   unrun: has an opaque node  why the graphs cannot be executed; every other case is
//
// `out` is compared as same_graph.h says; names that it leaves out may be anything. Both graphs are then executed by
// ir/reference on seeded inputs, and their answers compared: a text is worth nothing until the numbers agree.
#ifndef HALFTONE_TESTS_SUPPORT_GOLDEN_H_
#define HALFTONE_TESTS_SUPPORT_GOLDEN_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/target.h"

namespace halftone {

struct GoldenCase {
  std::string name;
  int line = 0;
  std::string in, out, target, plan, why, unrun, with;
  // Where the text of `out` stands in the file.
  size_t out_begin = 0, out_end = 0;

  bool kept() const { return out == "same"; }
};

// Errors: INVALID_ARGUMENT with the line.
absl::StatusOr<std::vector<GoldenCase>> ParseGoldenCases(std::string_view text);

// Runs the pipeline of that name (MakePipelineByName) over the case.
struct GoldenResult {
  std::string problem;  // "" if all is well
  std::string actual;   // the graph that came out, as text
  bool numbers_agree = false;
  std::string refusals;  // the reasons in the log, "; " between two
};
// For `target`, if there is one, instead of the one that the case describes.
GoldenResult RunGoldenCase(const GoldenCase& golden, std::string_view pipeline, const Target* target = nullptr);

// All cases of the file; the pipeline's name is the file's without ".graph". One line a problem. With `update`, texts
// of `out` that are wrong are rewritten, but only where the numbers agree.
std::vector<std::string> RunGoldenCases(const std::string& path, bool update);

// The graphs of all golden files of a folder that can be executed (`in`, without plan and target), for tests that run
// something else over them.
struct GoldenGraph {
  std::string name;  // "fuse-gelu.graph:12"
  Graph graph;
};
absl::StatusOr<std::vector<GoldenGraph>> AllGoldenGraphs(const std::string& folder);

}  // namespace halftone

#endif  // HALFTONE_TESTS_SUPPORT_GOLDEN_H_

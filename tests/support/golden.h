// SPDX-License-Identifier: Apache-2.0
// Golden files: test cases of one pass or pipeline as text. A case needs no C++:
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
// Optional lines:
//
//   plan: m=bf16, add=f32      Planned precision by node label; all other nodes are f32. "plan: lists" and
//                              "plan: placement" call these planners.
//   why: another user          A part of the reason that the rule must log for keeping the graph.
//   with: num_steps=4          Arguments of a named pass (passes/transforms/named_passes.h).
//   unrun: has an opaque node  Why the graphs cannot be executed; all other cases are executed.
//
// `out` is compared as same_graph.h says; names that it leaves out may be anything. Both graphs are also executed by
// ir/reference on random inputs, and their outputs compared: expected text alone does not prove a pass correct.
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
  // The position of the text of `out` in the file.
  size_t out_begin = 0, out_end = 0;

  bool kept() const { return out == "same"; }
};

// Errors: INVALID_ARGUMENT with the line.
absl::StatusOr<std::vector<GoldenCase>> ParseGoldenCases(std::string_view text);

// Runs the pipeline of that name (MakePipelineByName) over the case.
struct GoldenResult {
  std::string problem;  // "" if the case passed
  std::string actual;   // the resulting graph as text
  bool numbers_agree = false;
  std::string refusals;  // the reasons in the log, separated by "; "
};
// `target` replaces the target that the case describes.
GoldenResult RunGoldenCase(const GoldenCase& golden, std::string_view pipeline, const Target* target = nullptr);

// Runs all cases of a file. The pipeline has the name of the file without ".graph". Returns one text per failed case.
// With `update`, rewrites wrong texts of `out`, but only if the outputs of the graphs agree.
std::vector<std::string> RunGoldenCases(const std::string& path, bool update);

// The graphs of all golden files of a folder that can be executed (`in`, without plan and target), for other tests.
struct GoldenGraph {
  std::string name;  // "fuse-gelu.graph:12"
  Graph graph;
};
absl::StatusOr<std::vector<GoldenGraph>> AllGoldenGraphs(const std::string& folder);

}  // namespace halftone

#endif  // HALFTONE_TESTS_SUPPORT_GOLDEN_H_

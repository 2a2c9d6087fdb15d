// SPDX-License-Identifier: Apache-2.0
// plan_dump [--lists NAME] [--infer-after] [--level LEVEL] < LIST: prints the plans of the planner "lists".
//
// Each line of LIST has the path of a GraphDef and the names of its outputs. For each GraphDef prints "model PATH",
// then "row NODE OP ATTRIBUTE INDEX LIST TYPE" for each float type attribute and "summary TEXT"; or "error TEXT".
// Fields are separated by tabs. The environment may edit the lists, as in TensorFlow.

#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "formats/dialects.h"
#include "formats/formats.h"
#include "ir/graph.h"
#include "passes/precision/lists_planner.h"

namespace halftone {
namespace {

void Dump(const std::string& line, PlannerOptions options) {
  std::vector<std::string> words = absl::StrSplit(line, '\t', absl::SkipEmpty());
  if (words.empty()) return;
  ImportOptions wanted;
  wanted.outputs.assign(words.begin() + 1, words.end());
  std::cout << "model\t" << words[0] << "\n";
  const absl::StatusOr<Graph> graph = ImportModel(words[0], wanted);
  if (!graph.ok()) {
    std::cout << "error\t" << graph.status().message() << "\n";
    return;
  }
  options.imported_from = TensorFlowDialectOf(*graph);
  options.fused_as = &FileDialectOf(ModelFormat::kGraphDef, Dialect::kItex);
  const absl::StatusOr<ListsPlan> plan = PlanByLists(*graph, options);
  if (!plan.ok()) {
    std::cout << "error\t" << plan.status().message() << "\n";
    return;
  }
  for (const GraphOutput& output : graph->outputs()) {
    std::cout << "output\t" << graph->Label(graph->producer(output.value)) << "\n";
  }
  for (const TypeAttributeDecision& row : plan->attributes) {
    std::cout << "row\t" << row.node << "\t" << row.op << "\t" << row.type_attr << "\t" << row.index << "\t" << row.list
              << "\t" << DataTypeName(row.type) << "\n";
  }
  std::cout << "summary\t" << plan->summary.ToString() << "\n";
}

int Main(int argc, char** argv) {
  PlannerOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--infer-after") {
      options.mark_infer_after_allow = true;
    } else if (flag == "--lists" && i + 1 < argc && ListsVersionFromName(argv[i + 1]).has_value()) {
      options.lists_version = *ListsVersionFromName(argv[++i]);
    } else if (flag == "--level" && i + 1 < argc) {
      options.level = argv[++i];
    } else {
      std::cerr << "plan_dump [--lists NAME] [--infer-after] [--level LEVEL] < LIST\n";
      return 2;
    }
  }
  options.edits.push_back(ListEditsFromEnvironment(options.lists_version));
  for (std::string line; std::getline(std::cin, line);) Dump(line, options);
  return 0;
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) { return halftone::Main(argc, argv); }

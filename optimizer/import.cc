// SPDX-License-Identifier: Apache-2.0
#include "optimizer/import.h"

#include <map>

#include "base/files.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/editor.h"
#include "ir/nested.h"
#include "optimizer/work_counts.h"

namespace halftone {

absl::StatusOr<Graph> LoadModel(const ModelSource& source) {
  ImportOptions options;
  options.format = source.format.has_value() ? source.format : ModelFormatOfPath(source.label());
  options.outputs = source.outputs;
  if (!options.format.has_value()) {
    return absl::InvalidArgumentError(
        Concat("'", source.label(), "': the extension says no format: .onnx, .pb or .pbtxt, or name the format"));
  }
  CountImport();
  HALFTONE_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(source.path));
  return ImportModelBytes(file.bytes(), source.label(), options);
}

absl::Status NameModel(absl::Status status, const ModelSource& source) {
  if (status.ok() || StdView(status.message()).find(source.label()) != std::string_view::npos) return status;
  return Annotate(std::move(status), Concat("'", source.label(), "'"));
}

bool CanRun(const Node& node) {
  const OpGroup group = Info(node.op).group;
  if (group == OpGroup::kOpaque) return node.spelling == "PlaceholderWithDefault";
  const bool is_built = node.op >= OpKind::kTensorArray && node.op <= OpKind::kLoopCond;  // by BuildLoops
  return is_built || group != OpGroup::kStructural || HasNestedGraphs(node.op) || node.op == OpKind::kNoOp;
}

std::vector<std::string> OpsThatCannotRun(const Graph& graph) {
  std::map<std::string, int> counts;
  Graph live = graph;  // what no output needs, need not run
  GraphEditor(live).RemoveDeadNodes();
  std::vector<const Graph*> work = {&live};  // nested ones too
  while (!work.empty()) {
    const Graph& g = *work.back();
    work.pop_back();
    for (const NodeId id : g.nodes()) {
      const Node& node = g.node(id);
      for (const std::string_view name : NestedGraphNames(node.op)) {
        if (const auto* nested = node.attributes.find(name); nested != nullptr)
          work.push_back(std::get<std::shared_ptr<const Graph>>(*nested).get());
      }
      if (CanRun(node)) continue;
      const bool opaque = node.op == OpKind::kOpaque;
      ++counts[opaque ? (node.domain.empty() ? node.spelling : Concat(node.domain, ".", node.spelling))
                      : std::string(OpName(node.op))];
    }
  }
  std::vector<std::string> result;
  for (const auto& [name, count] : counts) result.push_back(Concat(name, " (", count, ")"));
  return result;
}

}  // namespace halftone

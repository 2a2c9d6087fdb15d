#include "passes/core/nested_run.h"

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "ir/nested.h"

namespace halftone {
namespace {

bool SameShapes(const Graph& a, const Graph& b) {
  for (int v = 0; v < b.num_values(); ++v) {
    if (a.shape({v}) != b.shape({v})) return false;
  }
  return true;
}

absl::Status RunInside(const Pass& pass, GraphEditor& edit, NodeId id, std::string_view name, PassContext& context) {
  const std::shared_ptr<const Graph> before = NestedGraph(edit.graph().node(id), name);
  if (before == nullptr) return absl::OkStatus();
  const std::string where = Concat(edit.graph().Label(id), "/", name);
  RewriteLog log;
  PassContext inner{.target = context.target,
                    .log = context.log == nullptr ? nullptr : &log,
                    .debug = context.debug,
                    .interrupted = context.interrupted,
                    .matches = context.matches,
                    .fuel_used = std::move(context.fuel_used)};
  Graph nested = *before;
  GraphEditor nested_edit(nested);
  const absl::Status status = RunEverywhere(pass, nested_edit, inner);
  context.matches = inner.matches;
  context.fuel_used = std::move(inner.fuel_used);
  context.notes.insert(context.notes.end(), inner.notes.begin(), inner.notes.end());
  HALFTONE_RETURN_IF_ERROR(Annotate(status, AbslView(Concat("in '", where, "'"))));
  if (context.log != nullptr) context.log->TakeNested(log, where, edit.graph().node(id).origin);
  const int64_t edits = nested_edit.edits();
  if (edits > 0 || !SameShapes(nested, *before)) edit.SetNestedGraph(id, name, std::move(nested), edits);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunEverywhere(const Pass& pass, GraphEditor& edit, PassContext& context) {
  if (pass.enters_nested()) {
    for (const NodeId id : edit.graph().nodes()) {
      for (const std::string_view name : NestedGraphNames(edit.graph().op(id))) {
        HALFTONE_RETURN_IF_ERROR(RunInside(pass, edit, id, name, context));
      }
    }
  }
  return pass.Run(edit, context);
}

}  // namespace halftone

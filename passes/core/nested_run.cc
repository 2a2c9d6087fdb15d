// SPDX-License-Identifier: Apache-2.0
#include "passes/core/nested_run.h"

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "ir/nested.h"
#include "passes/core/rule_schedule.h"

namespace halftone {
namespace {

bool SameShapes(const Graph& a, const Graph& b) {
  for (int v = 0; v < a.num_values(); ++v) {
    if (a.shape({v}) != b.shape({v})) return false;
  }
  return true;
}

std::vector<NodeId> Holders(const Graph& graph, const RuleSchedule* schedule) {
  std::vector<NodeId> holders = schedule == nullptr ? graph.nodes() : schedule->holders();
  std::erase_if(holders, [&](NodeId id) { return !graph.alive(id) || !HasNestedGraphs(graph.op(id)); });
  return holders;
}

// Whether the running rule has nodes to visit in a graph or in those nested in it.
bool HasWork(const Graph& graph, RuleSchedule& schedule, int rule, const OpSet& roots) {
  if (schedule.HasWork(graph, rule, roots)) return true;
  for (const NodeId id : Holders(graph, &schedule)) {
    for (const std::string_view name : NestedGraphNames(graph.op(id))) {
      const std::shared_ptr<const Graph> nested = NestedGraph(graph.node(id), name);
      if (nested != nullptr && HasWork(*nested, schedule.Nested(id, name, nested), rule, roots)) return true;
    }
  }
  return false;
}

absl::Status RunInside(const Pass& pass, GraphEditor& edit, NodeId id, std::string_view name, PassContext& context) {
  const std::shared_ptr<const Graph> before = NestedGraph(edit.graph().node(id), name);
  if (before == nullptr) return absl::OkStatus();
  RuleSchedule* schedule = context.schedule == nullptr ? nullptr : &context.schedule->Nested(id, name, before);
  if (schedule != nullptr && !HasWork(*before, *schedule, context.rule, *context.roots)) return absl::OkStatus();

  const std::string where = Concat(edit.graph().Label(id), "/", name);
  RewriteLog log;
  std::vector<NodeId> touched;
  PassContext inner{.target = context.target,
                    .log = context.log == nullptr ? nullptr : &log,
                    .debug = context.debug,
                    .interrupted = context.interrupted,
                    .matches = context.matches,
                    .fuel_used = std::move(context.fuel_used),
                    .touched = &touched,
                    .memo = context.memo,
                    .schedule = schedule,
                    .rule = context.rule,
                    .roots = context.roots,
                    .explains = context.explains};
  Graph nested = *before;
  GraphEditor nested_edit(nested);
  nested_edit.LogTouched(&touched);
  const absl::Status status = RunEverywhere(pass, nested_edit, inner);
  context.matches = inner.matches;
  context.fuel_used = std::move(inner.fuel_used);
  context.notes.insert(context.notes.end(), inner.notes.begin(), inner.notes.end());
  HALFTONE_RETURN_IF_ERROR(Annotate(status, AbslView(Concat("in '", where, "'"))));
  if (context.log != nullptr) context.log->TakeNested(log, where, edit.graph().node(id).origin);
  const int64_t edits = nested_edit.edits();
  if (edits == 0 && SameShapes(nested, *before)) return absl::OkStatus();
  if (schedule != nullptr) schedule->Touch(nested, touched);
  edit.SetNestedGraph(id, name, std::move(nested), edits);
  if (schedule != nullptr) context.schedule->Keep(id, name, NestedGraph(edit.graph().node(id), name));
  return absl::OkStatus();
}

}  // namespace

absl::Status RunEverywhere(const Pass& pass, GraphEditor& edit, PassContext& context) {
  if (pass.enters_nested()) {
    for (const NodeId id : Holders(edit.graph(), context.schedule)) {
      for (const std::string_view name : NestedGraphNames(edit.graph().op(id))) {
        HALFTONE_RETURN_IF_ERROR(RunInside(pass, edit, id, name, context));
      }
    }
  }
  return pass.Run(edit, context);
}

}  // namespace halftone

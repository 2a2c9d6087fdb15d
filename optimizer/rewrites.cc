#include "optimizer/rewrites.h"

#include <algorithm>
#include <set>
#include <utility>

namespace halftone {
namespace {

void Count(const std::string& pass, int64_t count, const std::string& equation, RewriteSummary& summary) {
  auto& fusions = summary.fusions;
  auto found = std::find_if(fusions.begin(), fusions.end(), [&](const FusionCount& f) { return f.pass == pass; });
  if (found == fusions.end()) found = fusions.insert(found, {pass, 0, equation});
  found->count += count;
  if (found->equation != equation) found->equation.clear();
}

}  // namespace

bool Computes(OpKind op) {
  const OpGroup group = Info(op).group;
  return group != OpGroup::kSource && group != OpGroup::kOpaque && group != OpGroup::kStructural;
}

int64_t CountComputing(const Graph& graph) {
  int64_t count = 0;
  for (const NodeId id : graph.nodes()) count += Computes(graph.op(id)) ? 1 : 0;
  return count;
}

void AddRewrites(const PassContext& context, RewriteSummary& summary) {
  std::set<std::pair<std::string, std::string>> applied;  // pass and node
  for (const RewriteLogEntry& entry : context.log->entries()) {
    if (!entry.applied) continue;
    applied.emplace(entry.pass, entry.node);
    summary.applied.push_back({entry.pass, entry.node, entry.text});
    if (!entry.remark) Count(entry.pass, 1, entry.text, summary);
  }
  for (const RewriteLogEntry& entry : context.log->entries()) {
    if (entry.applied || applied.contains({entry.pass, entry.node})) continue;
    summary.refused.push_back({entry.pass, entry.node, entry.text});
  }
  std::stable_sort(summary.fusions.begin(), summary.fusions.end(),
                   [](const FusionCount& a, const FusionCount& b) { return a.count > b.count; });
  if (!context.equivalence.enabled) return;
  summary.passes_verified += std::count_if(context.runs.begin(), context.runs.end(),
                                           [](const PassRun& run) { return run.edits > 0; });
}

}  // namespace halftone

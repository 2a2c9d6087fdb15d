// SPDX-License-Identifier: Apache-2.0
#include "optimizer/rewrites.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
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
  std::vector<RewriteResult> refused = std::move(summary.refused);
  for (const RewriteLogEntry& entry : context.log->entries()) {
    if (!entry.applied) {
      refused.push_back({entry.pass, entry.node, entry.text});
      continue;
    }
    summary.applied.push_back({entry.pass, entry.node, entry.text});
    if (!entry.remark) Count(entry.pass, 1, entry.text, summary);
  }
  std::set<std::pair<std::string_view, std::string_view>> applied;  // pass and node
  for (const RewriteResult& rewrite : summary.applied) applied.emplace(rewrite.pass, rewrite.node);
  std::set<std::tuple<std::string, std::string, std::string>> known;
  summary.refused.clear();
  for (RewriteResult& one : refused) {
    if (applied.contains({one.pass, one.node}) || !known.emplace(one.pass, one.node, one.reason).second) continue;
    summary.refused.push_back(std::move(one));
  }
  if (!context.equivalence.enabled) return;
  summary.passes_verified +=
      std::count_if(context.runs.begin(), context.runs.end(), [](const PassRun& run) { return run.edits > 0; });
}

void SortFusions(RewriteSummary& summary) {
  std::stable_sort(summary.fusions.begin(), summary.fusions.end(),
                   [](const FusionCount& a, const FusionCount& b) { return a.count > b.count; });
}

}  // namespace halftone

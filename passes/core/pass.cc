#include "passes/core/pass.h"

#include <utility>

#include "base/strings.h"

namespace halftone {

void RewriteLog::Applied(std::string_view pass, const Graph& graph, NodeId node, std::string_view equation) {
  Applied(pass, graph.Label(node), graph.node(node).origin, equation);
}

void RewriteLog::Applied(std::string_view pass, std::string label, NodeId origin, std::string_view equation) {
  entries_.push_back({std::string(pass), std::move(label), origin, true, std::string(equation), false});
}

void RewriteLog::Remark(std::string_view pass, std::string label, NodeId origin, std::string_view sentence) {
  entries_.push_back({std::string(pass), std::move(label), origin, true, std::string(sentence), true});
}

void RewriteLog::Refused(std::string_view pass, const Graph& graph, NodeId node, std::string_view reason) {
  std::string label = graph.Label(node);
  if (!refused_.insert({std::string(pass), Concat(label, "\n", reason)}).second) return;
  entries_.push_back({std::string(pass), std::move(label), graph.node(node).origin, false, std::string(reason), false});
}

void RewriteLog::TakeNested(const RewriteLog& nested, std::string_view where, NodeId origin) {
  for (const RewriteLogEntry& entry : nested.entries()) {
    std::string label = Concat(where, "/", entry.node);
    if (!entry.applied && !refused_.insert({entry.pass, Concat(label, "\n", entry.text)}).second) continue;
    entries_.push_back({entry.pass, std::move(label), origin, entry.applied, entry.text, entry.remark});
  }
}

}  // namespace halftone

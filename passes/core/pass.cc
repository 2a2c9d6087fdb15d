// SPDX-License-Identifier: Apache-2.0
#include "passes/core/pass.h"

#include <utility>

#include "base/strings.h"

namespace halftone {

const std::string& RewriteLog::Shared(std::string_view text) {
  const auto found = texts_.find(text);
  return found != texts_.end() ? *found : *texts_.emplace(text).first;
}

void RewriteLog::Applied(std::string_view pass, const Graph& graph, NodeId node, std::string_view equation) {
  Applied(pass, graph.Label(node), graph.node(node).origin, equation);
}

void RewriteLog::Applied(std::string_view pass, std::string label, NodeId origin, std::string_view equation) {
  entries_.push_back({Shared(pass), std::move(label), origin, true, Shared(equation), false});
}

void RewriteLog::Remark(std::string_view pass, std::string label, NodeId origin, std::string_view sentence) {
  entries_.push_back({Shared(pass), std::move(label), origin, true, Shared(sentence), true});
}

void RewriteLog::Refuse(std::string_view pass, std::string label, NodeId origin, std::string_view reason) {
  const std::string& shared_pass = Shared(pass);
  const std::string& shared_reason = Shared(reason);
  if (!refused_.insert({&shared_pass, &shared_reason, std::hash<std::string>()(label)}).second) return;
  entries_.push_back({shared_pass, std::move(label), origin, false, shared_reason, false});
}

void RewriteLog::Refused(std::string_view pass, const Graph& graph, NodeId node, std::string_view reason) {
  Refuse(pass, graph.Label(node), graph.node(node).origin, reason);
}

void RewriteLog::TakeNested(const RewriteLog& nested, std::string_view where, NodeId origin) {
  for (const RewriteLogEntry& entry : nested.entries()) {
    std::string label = Concat(where, "/", entry.node);
    if (!entry.applied) {
      Refuse(entry.pass, std::move(label), origin, entry.text);
    } else {
      entries_.push_back({Shared(entry.pass), std::move(label), origin, true, Shared(entry.text), entry.remark});
    }
  }
}

}  // namespace halftone

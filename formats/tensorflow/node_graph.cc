// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/node_graph.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "absl/strings/numbers.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/op_map.h"

namespace halftone::graphdef {
namespace {

constexpr size_t kMaxNameBytes = 4096;
constexpr size_t kMaxCompared = 10000;  // names looked at for a near miss
constexpr size_t kMaxComparedBytes = 256;

template <typename... Args>
absl::Status Bad(const Args&... args) {
  return absl::InvalidArgumentError(Concat(args...));
}

// Levenshtein's distance, given up beyond `limit`.
size_t Distance(std::string_view a, std::string_view b, size_t limit) {
  if (a.size() > b.size() + limit || b.size() > a.size() + limit) return limit + 1;
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1] ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

// An edge that closes a loop in time.
bool IsBackEdge(const tf::NodeDef& from, const tf::NodeDef& to) {
  return from.op() == "NextIteration" && to.op() == "Merge";
}

}  // namespace

absl::StatusOr<TensorName> ParseTensorName(std::string_view text) {
  TensorName name{text};
  if (const size_t colon = text.rfind(':'); colon != std::string_view::npos) {
    const std::string_view port = text.substr(colon + 1);
    const bool digits =
        !port.empty() && std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!digits || !absl::SimpleAtoi(AbslView(port), &name.port) || name.port > kMaxPorts) {
      return Bad("'", text, "': the colon must be followed by the number of an output, at most ", kMaxPorts);
    }
    name.node = text.substr(0, colon);
    name.explicit_zero = name.port == 0;
  }
  if (name.node.empty()) return Bad("'", text, "' does not name a node");
  return name;
}

bool IsNodeName(std::string_view name) {
  if (name.empty() || name.size() > kMaxNameBytes || name[0] == '^') return false;
  return std::none_of(name.begin(), name.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= ' ' || byte == 0x7f || c == ':';
  });
}

std::string NearMisses(std::string_view name, const std::vector<std::string_view>& names) {
  if (name.size() > kMaxComparedBytes) return "";
  const size_t limit = std::max<size_t>(2, name.size() / 3);
  std::vector<std::pair<size_t, std::string_view>> close;
  for (size_t i = 0; i < std::min(names.size(), kMaxCompared); ++i) {
    size_t distance = Distance(name, names[i], limit);
    if (distance > limit && names[i].size() > 2 && (names[i].ends_with(name) || name.ends_with(names[i])))
      distance = limit;
    if (distance <= limit) close.emplace_back(distance, names[i]);
  }
  if (close.empty()) return "";
  std::sort(close.begin(), close.end());
  std::string text = ". Did you mean ";
  for (size_t i = 0; i < std::min<size_t>(close.size(), 3); ++i)
    text += Concat(i == 0 ? "'" : ", '", close[i].second, "'");
  return text + "?";
}

absl::StatusOr<NodeGraph> NodeGraph::Build(const tf::GraphDef& graph) {
  NodeGraph result(graph);
  HALFTONE_RETURN_IF_ERROR(result.IndexNames());
  HALFTONE_RETURN_IF_ERROR(result.ReadEdges());
  HALFTONE_RETURN_IF_ERROR(result.Sort());
  return result;
}

int NodeGraph::Find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? -1 : it->second;
}

std::vector<int> NodeGraph::CountReadOutputs() const {
  std::vector<int> counts(edges_.size(), 0);
  for (const NodeEdges& node : edges_) {
    for (const Edge& edge : node.data) counts[edge.node] = std::max(counts[edge.node], edge.port + 1);
  }
  return counts;
}

absl::Status NodeGraph::IndexNames() {
  const int count = graph_->node_size();
  if (count == 0) return Bad("the file holds no nodes: it is no GraphDef, or an empty one");
  if (count > kMaxNodes) return Bad(count, " nodes; at most ", kMaxNodes, " are possible");
  by_name_.reserve(count);
  for (int i = 0; i < count; ++i) {
    const tf::NodeDef& node = graph_->node(i);
    if (node.name().empty()) return Bad("node ", i, " (", node.op(), ") has no name");
    if (!IsNodeName(node.name())) {
      return Bad("node ", i, ": its name is too long, or has a space, a control character, ':' or '^'");
    }
    if (node.op().empty()) return Bad("node '", node.name(), "' has no op");
    if (!by_name_.emplace(node.name(), i).second) return Bad("two nodes have the name '", node.name(), "'");
  }
  return absl::OkStatus();
}

absl::Status NodeGraph::ReadEdges() {
  edges_.resize(graph_->node_size());
  for (int i = 0; i < graph_->node_size(); ++i) {
    const tf::NodeDef& node = graph_->node(i);
    for (const std::string& input : node.input()) {
      const bool is_control = input.starts_with("^");
      if (!is_control && !edges_[i].control.empty()) {
        return Bad("node '", node.name(), "': data input '", input, "' comes after a control input");
      }
      absl::StatusOr<TensorName> name =
          ParseTensorName(is_control ? std::string_view(input).substr(1) : std::string_view(input));
      if (!name.ok() || (is_control && (name->port > 0 || name->explicit_zero))) {
        return Bad("node '", node.name(), "': input '", input, "' is none of \"node\", \"node:1\", \"^node\"");
      }
      const int from = Find(name->node);
      if (from < 0) return Bad("node '", node.name(), "': its input '", input, "' does not exist");
      if (from == i) return Bad("node '", node.name(), "' has itself as an input");
      if (is_control) {
        edges_[i].control.push_back(from);
      } else {
        edges_[i].data.push_back({from, name->port, name->explicit_zero});
      }
    }
  }
  return absl::OkStatus();
}

absl::Status NodeGraph::Sort() {
  const int count = graph_->node_size();
  std::vector<std::vector<int>> followers(count);
  std::vector<int> waiting(count, 0);
  for (int i = 0; i < count; ++i) {
    for (const Edge& edge : edges_[i].data) {
      if (IsBackEdge(graph_->node(edge.node), graph_->node(i))) continue;
      followers[edge.node].push_back(i);
      ++waiting[i];
    }
    for (const int from : edges_[i].control) {
      followers[from].push_back(i);
      ++waiting[i];
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < count; ++i) {
    if (waiting[i] == 0) ready.push(i);
  }
  order_.reserve(count);
  while (!ready.empty()) {
    const int i = ready.top();
    ready.pop();
    order_.push_back(i);
    for (const int follower : followers[i]) {
      if (--waiting[follower] == 0) ready.push(follower);
    }
  }
  if (static_cast<int>(order_.size()) == count) return absl::OkStatus();
  // A node that waits for another that waits, followed back until one comes again, is on the cycle.
  int at =
      static_cast<int>(std::find_if(waiting.begin(), waiting.end(), [](int n) { return n > 0; }) - waiting.begin());
  std::vector<bool> seen(count, false);
  while (!seen[at]) {
    seen[at] = true;
    int next = -1;
    for (const Edge& edge : edges_[at].data) {
      if (waiting[edge.node] > 0 && !IsBackEdge(graph_->node(edge.node), graph_->node(at))) next = edge.node;
    }
    for (const int from : edges_[at].control) {
      if (waiting[from] > 0) next = from;
    }
    if (next < 0) break;
    at = next;
  }
  return Bad("node '", graph_->node(at).name(),
             "' is on a cycle; only loops through NextIteration -> Merge are possible");
}

}  // namespace halftone::graphdef

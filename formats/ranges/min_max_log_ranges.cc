// SPDX-License-Identifier: Apache-2.0
// RangesOfLog: which value of the model a node of the log speaks of.
#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>

#include "base/strings.h"
#include "formats/ranges/min_max_log.h"

namespace halftone {
namespace {

constexpr std::string_view kRequantized = "_eightbit_requant_range";
constexpr std::string_view kMinOf = "_eightbit_min_";
constexpr std::string_view kMaxOf = "_eightbit_max_";
constexpr std::string_view kPort = "__port__";

// What is fused after a convolution or matmul, in this order, each at most once.
bool IsStage(const Graph& graph, NodeId node, ValueId read, int stage) {
  const OpKind op = graph.op(node);
  const bool add = op == OpKind::kAdd || op == OpKind::kBiasAdd;
  const ValueId other = graph.input(node, 0) == read ? graph.input(node, 1) : graph.input(node, 0);
  switch (stage) {
    case 0:
      return add && graph.IsConstant(other);
    case 1:
      return op == OpKind::kAdd && !graph.IsConstant(other);
    default:
      return op == OpKind::kRelu || op == OpKind::kRelu6;
  }
}

class LogResolver {
 public:
  LogResolver(const Graph& model, const MinMaxLog& log) : model_(model) {
    for (const LoggedNode& node : log.nodes) logged_.insert(node.name);
    for (const NodeId node : model.nodes()) {
      if (!model.node(node).name.empty()) nodes_[model.node(node).name] = node;
    }
  }

  // The value that a node of the log speaks of; kNoValue: none.
  ValueId Find(std::string_view name) const {
    if (name.ends_with(kRequantized)) {
      const NodeId node = NodeNamed(name.substr(0, name.size() - kRequantized.size()));
      return node.valid() ? EndOfFusion(node) : kNoValue;
    }
    for (const std::string_view middle : {kMinOf, kMaxOf}) {
      const size_t at = name.rfind(middle);
      if (at != std::string_view::npos) return InputNamed(name.substr(at + middle.size()));
    }
    return kNoValue;
  }

 private:
  NodeId NodeNamed(std::string_view name) const {
    const auto it = nodes_.find(std::string(name));
    return it == nodes_.end() ? kNoNode : it->second;
  }

  ValueId InputNamed(std::string_view name) const {
    int port = 0;
    if (const size_t at = name.rfind(kPort); at != std::string_view::npos) {
      const std::string_view digits = name.substr(at + kPort.size());
      if (std::from_chars(digits.data(), digits.data() + digits.size(), port).ec != std::errc()) return kNoValue;
      name = name.substr(0, at);
    }
    const NodeId node = NodeNamed(name);
    return node.valid() && port >= 0 ? model_.output(node, port) : kNoValue;
  }

  ValueId EndOfFusion(NodeId node) const {
    const OpKind op = model_.op(node);
    ValueId value = model_.output(node);
    if (op != OpKind::kConv && op != OpKind::kMatMul && op != OpKind::kGemm) return value;
    for (int stage = 0; stage < 3 && model_.HasOneUser(value); ++stage) {
      const NodeId user = model_.uses(value)[0].node;
      if (!IsStage(model_, user, value, stage)) continue;
      if (logged_.contains(Concat(model_.node(user).name, kRequantized))) break;
      value = model_.output(user);
    }
    return value;
  }

  const Graph& model_;
  std::set<std::string> logged_;
  std::map<std::string, NodeId> nodes_;
};

}  // namespace

absl::StatusOr<ValueRanges> RangesOfLog(const MinMaxLog& log, const Graph& model, const LogTrimming& trimming,
                                        std::string_view label) {
  for (const float percentile : {trimming.min_percentile, trimming.max_percentile}) {
    if (!(percentile >= 0 && percentile <= 100))
      return absl::InvalidArgumentError(Concat("percentile is ", percentile, ", must be from 0 to 100"));
  }
  const LogResolver resolver(model, log);
  std::map<std::string, LoggedNode> by_value;  // Min and Max of one value are two nodes; so are those of two readers
  for (const LoggedNode& node : log.nodes) {
    const ValueId value = resolver.Find(node.name);
    if (!value.valid()) {
      return absl::InvalidArgumentError(Concat(
          label, ": node '", node.name, "' stands for no value of the model: it has no node of that name without ",
          kRequantized, ", ", kMinOf, "INPUT or ", kMaxOf, "INPUT"));
    }
    LoggedNode& all = by_value[RangeName(model, value)];
    if (all.name.empty()) all.name = node.name;
    all.mins.insert(all.mins.end(), node.mins.begin(), node.mins.end());
    all.maxs.insert(all.maxs.end(), node.maxs.begin(), node.maxs.end());
  }
  ValueRanges ranges;
  for (const auto& [name, node] : by_value) {
    if (node.mins.empty() || node.maxs.empty()) {
      return absl::InvalidArgumentError(Concat(label, ": of value '", name, "' there are ", node.mins.size(),
                                               " minima and ", node.maxs.size(), " maxima; both are needed (node '",
                                               node.name, "')"));
    }
    const TrimmedRange trimmed = Trim(node, trimming);
    ValueRange& range = ranges.values[name];
    range.calibrator = Calibrator::kLog;
    // Cut on both sides the ends may have changed places.
    range.min = std::min(trimmed.min, trimmed.max);
    range.max = std::max(trimmed.min, trimmed.max);
    range.observed_min = *std::ranges::min_element(node.mins);
    range.observed_max = *std::ranges::max_element(node.maxs);
    range.observed_max = std::max(range.observed_max, range.observed_min);
  }
  return ranges;
}

}  // namespace halftone

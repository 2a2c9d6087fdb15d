#include "formats/ranges/min_max_log.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/status.h"
#include "base/strings.h"

namespace halftone {
namespace {

constexpr std::string_view kPrint = "__print__";

// What a record says: "__min:" and so on, with as many numbers in brackets.
struct RecordKind {
  std::string_view word;
  bool min = false;
  bool max = false;
};
constexpr RecordKind kRecordKinds[] = {
    {"__requant_min_max:", true, true}, {"__min:", true, false}, {"__max:", false, true}};

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// "[1.5]" from the front of `text`, which loses it.
std::optional<float> TakeNumber(std::string_view& text) {
  const size_t end = text.find(']');
  if (!text.starts_with('[') || end == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(1, end - 1);
  float number = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || stop != digits.data() + digits.size()) return std::nullopt;
  text.remove_prefix(end + 1);
  return number;
}

// The numbers of a record, if that is what stands behind its word.
std::optional<std::vector<float>> NumbersOf(const RecordKind& kind, std::string_view rest) {
  std::vector<float> numbers;
  for (int i = 0; i < (kind.min ? 1 : 0) + (kind.max ? 1 : 0); ++i) {
    const std::optional<float> number = TakeNumber(rest);
    if (!number.has_value()) return std::nullopt;
    numbers.push_back(*number);
  }
  const bool ends = rest.find_first_not_of(" \r") == std::string_view::npos;
  return ends ? std::optional(numbers) : std::nullopt;
}

class LogReader {
 public:
  explicit LogReader(std::string_view label) : label_(label) {}

  absl::Status ReadLine(std::string_view line, int number) {
    const std::vector<std::string_view> parts = Split(line, ';');
    bool unread = false;
    for (size_t i = 1; i < parts.size(); ++i) {
      for (const RecordKind& kind : kRecordKinds) {
        if (!parts[i].starts_with(kind.word)) continue;
        const std::optional<std::vector<float>> numbers = NumbersOf(kind, parts[i].substr(kind.word.size()));
        std::string_view name = parts[i - 1];
        if (!numbers.has_value() || !name.ends_with(kPrint)) {
          unread = true;
          continue;
        }
        name.remove_suffix(kPrint.size());
        for (const float x : *numbers) {
          if (std::isfinite(x)) continue;
          return absl::InvalidArgumentError(
              Concat(label_, ":", number, ": node '", name, "' printed ", x, ", which is no end of a range"));
        }
        LoggedNode& node = NodeOf(name);
        if (kind.min) node.mins.push_back(numbers->front());
        if (kind.max) node.maxs.push_back(numbers->back());
      }
    }
    if (unread) log_.unread_lines.push_back(number);
    return absl::OkStatus();
  }

  MinMaxLog log() && { return std::move(log_); }

 private:
  LoggedNode& NodeOf(std::string_view name) {
    const auto [it, is_new] = index_.try_emplace(std::string(name), log_.nodes.size());
    if (is_new) log_.nodes.push_back({std::string(name), {}, {}});
    return log_.nodes[it->second];
  }

  const std::string_view label_;
  MinMaxLog log_;
  std::map<std::string, size_t> index_;
};

}  // namespace

absl::StatusOr<MinMaxLog> ParseMinMaxLog(std::string_view text, std::string_view label) {
  LogReader reader(label);
  int number = 0;
  for (const std::string_view line : Split(text, '\n')) {
    ++number;
    if (line.find(kPrint) != std::string_view::npos) HALFTONE_RETURN_IF_ERROR(reader.ReadLine(line, number));
  }
  MinMaxLog log = std::move(reader).log();
  if (log.nodes.empty()) {
    return absl::InvalidArgumentError(
        Concat(label, ": no line has a range such as ;NODE__print__;__requant_min_max:[0][1]"));
  }
  return log;
}

TrimmedRange Trim(const LoggedNode& node, const LogTrimming& trimming) {
  std::vector<float> mins = node.mins, maxs = node.maxs;
  std::ranges::sort(mins);
  std::ranges::sort(maxs);
  // In f32, as TensorFlow does it: with few records one more or less would change the range.
  const auto index = [](size_t count, float share) {
    const long at = std::lround(static_cast<float>(count) * share);
    return static_cast<size_t>(std::clamp<long>(at, 0, static_cast<long>(count) - 1));
  };
  return {mins[index(mins.size(), trimming.min_percentile / 100.0f)],
          maxs[index(maxs.size(), 1.0f - trimming.max_percentile / 100.0f)]};
}

namespace {

constexpr std::string_view kRequantized = "_eightbit_requant_range";
constexpr std::string_view kMinOf = "_eightbit_min_";
constexpr std::string_view kMaxOf = "_eightbit_max_";
constexpr std::string_view kPort = "__port__";

// What a fusion takes behind a convolution or product, in this order, each at most once.
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

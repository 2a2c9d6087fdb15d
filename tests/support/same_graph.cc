// SPDX-License-Identifier: Apache-2.0
#include "tests/support/same_graph.h"

#include <map>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "ir/reference/reference.h"

namespace halftone {
namespace {

constexpr float kLastBits = 1e-6f;

// Walks both graphs from their outputs and inputs, side by side.
class Matcher {
 public:
  Matcher(const Graph& actual, const Graph& expected) : actual_(actual), expected_(expected) {}

  std::string Run() {
    if (actual_.outputs().size() != expected_.outputs().size()) {
      return Concat("there are ", actual_.outputs().size(), " outputs instead of ", expected_.outputs().size());
    }
    if (actual_.inputs().size() != expected_.inputs().size()) {
      return Concat("there are ", actual_.inputs().size(), " inputs instead of ", expected_.inputs().size());
    }
    for (size_t i = 0; i < expected_.inputs().size(); ++i)
      work_.push_back({actual_.inputs()[i], expected_.inputs()[i]});
    for (size_t i = 0; i < expected_.outputs().size(); ++i) {
      const GraphOutput& a = actual_.outputs()[i];
      const GraphOutput& e = expected_.outputs()[i];
      if (a.name != e.name) return Concat("output ", i, " is called '", a.name, "' instead of '", e.name, "'");
      if (std::string difference = MatchValues(a.value, e.value); !difference.empty()) return difference;
    }
    while (!work_.empty()) {
      const auto [a, e] = work_.back();
      work_.pop_back();
      if (std::string difference = MatchNodes(a, e); !difference.empty()) return difference;
    }
    if (matched_.size() != static_cast<size_t>(actual_.num_nodes())) {
      return Concat("there are ", actual_.num_nodes(), " nodes, of which ", matched_.size(), " are expected");
    }
    return "";
  }

 private:
  std::string MatchValues(ValueId a, ValueId e) {
    if (a.valid() != e.valid()) return "an input or output is absent in one of the graphs";
    if (!a.valid()) return "";
    const Value& actual = actual_.value(a);
    const Value& expected = expected_.value(e);
    if (actual.port != expected.port)
      return Concat("a different output of '", actual_.Label(actual.producer), "' is read");
    if (actual.type != expected.type) {
      return Concat("'", expected_.Label(expected.producer), "' has type ", DataTypeName(actual.type), " instead of ",
                    DataTypeName(expected.type));
    }
    const Quantization *q = actual.quantization.get(), *wanted = expected.quantization.get();
    if (q == nullptr || wanted == nullptr ? q != wanted : *q != *wanted) {
      return Concat("'", expected_.Label(expected.producer), "' has the quantization ",
                    q == nullptr ? "none" : q->ToString(), " instead of ",
                    wanted == nullptr ? "none" : wanted->ToString());
    }
    if (!expected.name.empty() && !IsFreeName(expected.name) && actual.name != expected.name) {
      return Concat("value '", actual.name, "' should be called '", expected.name, "'");
    }
    if (actual.shape.fully_known() && expected.shape.fully_known() && actual.shape != expected.shape) {
      return Concat("'", expected_.Label(expected.producer), "' has shape ", actual.shape.ToString(), " instead of ",
                    expected.shape.ToString());
    }
    work_.push_back({actual.producer, expected.producer});
    return "";
  }

  std::string MatchNodes(NodeId a, NodeId e) {
    const auto [it, is_new] = matched_.emplace(e, a);
    if (!is_new) {
      return it->second == a ? "" : Concat("'", expected_.Label(e), "' occurs more than once");
    }
    const Node& actual = actual_.node(a);
    const Node& expected = expected_.node(e);
    const std::string label = Concat("node '", expected_.Label(e), "' ");
    if (actual.op != expected.op) return Concat(label, "is ", OpName(actual.op), " instead of ", OpName(expected.op));
    if (actual.spelling != expected.spelling) {
      return Concat(label, "is spelled '", actual.spelling, "' instead of '", expected.spelling, "'");
    }
    if (!expected.name.empty() && !IsFreeName(expected.name) && actual.name != expected.name) {
      return Concat(label, "is called '", actual.name, "'");
    }
    if (actual.device != expected.device) return Concat(label, "is on device '", actual.device, "'");
    if (actual.extra != expected.extra) return Concat(label, "has different extra attributes");
    if (actual.op == OpKind::kConstant) return MatchConstants(a, e, label);
    if (actual.attributes != expected.attributes) return Concat(label, "has different attributes");
    if (actual.inputs.size() != expected.inputs.size()) {
      return Concat(label, "has ", actual.inputs.size(), " inputs instead of ", expected.inputs.size());
    }
    if (actual.control_inputs.size() != expected.control_inputs.size())
      return Concat(label, "has different control inputs");
    for (size_t i = 0; i < expected.control_inputs.size(); ++i) {
      work_.push_back({actual.control_inputs[i], expected.control_inputs[i]});
    }
    for (size_t i = 0; i < expected.inputs.size(); ++i) {
      if (std::string difference = MatchValues(actual.inputs[i], expected.inputs[i]); !difference.empty()) {
        return Concat(label, "input ", i, ": ", difference);
      }
    }
    return "";
  }

  static bool IsFreeName(const std::string& name) { return name.starts_with("any") || name.starts_with("new"); }

  std::string MatchConstants(NodeId a, NodeId e, const std::string& label) {
    const Tensor& actual = *actual_.ConstantTensor(actual_.output(a));
    const Tensor& expected = *expected_.ConstantTensor(expected_.output(e));
    if (actual.type() != expected.type() || actual.dims() != expected.dims()) {
      return Concat(label, "is ", DataTypeName(actual.type()), actual.shape().ToString(), " instead of ",
                    DataTypeName(expected.type()), expected.shape().ToString());
    }
    if (expected_.value(expected_.output(e)).name.starts_with("any") || actual.SameBytes(expected)) return "";
    if (!IsFloatingPoint(actual.type())) return Concat(label, "has different elements");
    const std::string difference = reference::Compare(actual, expected, kLastBits, kLastBits);
    return difference.empty() ? "" : Concat(label, difference);
  }

  const Graph& actual_;
  const Graph& expected_;
  std::vector<std::pair<NodeId, NodeId>> work_;
  std::map<NodeId, NodeId> matched_;  // expected -> actual
};

}  // namespace

std::string DifferenceOf(const Graph& actual, const Graph& expected) { return Matcher(actual, expected).Run(); }

}  // namespace halftone

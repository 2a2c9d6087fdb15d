// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/derived_names.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/strings.h"

namespace halftone::onnx_format {
namespace {

bool Quantizes(OpKind op) {
  return op == OpKind::kQuantizeLinear || op == OpKind::kDequantizeLinear || op == OpKind::kDynamicQuantizeLinear;
}

// What names are derived from: a text or the name that a value gets, and of a node's input its name: "_w".
struct Base {
  std::string stem;
  ValueId of;
  std::string input;
};

class Deriver {
 public:
  explicit Deriver(const Graph& graph) : graph_(graph) {}

  std::vector<DerivedName> Run() {
    const std::vector<NodeId> nodes = graph_.nodes();
    if (std::none_of(nodes.begin(), nodes.end(), [this](NodeId id) { return Quantizes(graph_.op(id)); })) return {};
    for (const NodeId id : graph_.TopologicalOrder()) {
      if (Quantizes(graph_.op(id))) Derive(id);
    }
    return std::move(names_);
  }

 private:
  void Derive(NodeId id) {
    const OpKind op = graph_.op(id);
    const ValueId x = graph_.input(id, 0);
    if (op == OpKind::kDynamicQuantizeLinear) {
      const char* endings[] = {"_quantized", "_scale", "_zero_point"};
      for (int i = 0; i < 3; ++i) Name(graph_.output(id, i), {"", x, ""}, endings[i]);
      return;
    }
    Base base{"", x, ""};
    if (op == OpKind::kDequantizeLinear && graph_.IsConstant(x)) {
      base = ReaderOf(id);
      if (base.stem.empty() && !base.of.valid()) return;
      Name(x, base, "_quantized");
    } else if (op == OpKind::kDequantizeLinear && graph_.op(graph_.producer(x)) == OpKind::kQuantizeLinear) {
      base.of = graph_.input(graph_.producer(x), 0);  // x => x_QuantizeLinear => x_DequantizeLinear
    }
    Name(graph_.input(id, 1), base, "_scale");
    Name(graph_.input(id, 2), base, "_zero_point");
    Name(graph_.output(id), base, op == OpKind::kQuantizeLinear ? "_QuantizeLinear" : "_DequantizeLinear");
  }

  // The first node that reads the weights, and by which input: "conv_w".
  Base ReaderOf(NodeId dequantize) const {
    const std::vector<Use>& uses = graph_.uses(graph_.output(dequantize));
    if (uses.empty()) return {};
    const NodeId reader = uses.front().node;
    const int inputs = static_cast<int>(graph_.node(reader).inputs.size());
    const Port* port = InputPort(graph_.op(reader), uses.front().index, inputs);
    const std::string input = port == nullptr ? "" : Concat("_", port->name);
    const std::string& name = graph_.node(reader).name;
    return {name, name.empty() ? graph_.output(reader) : kNoValue, input};
  }

  void Name(ValueId value, const Base& base, const std::string& ending) {
    if (!value.valid() || !graph_.value(value).name.empty() || !done_.insert(value).second) return;
    names_.push_back({value, base.stem, base.of, base.input + ending});
  }

  const Graph& graph_;
  std::vector<DerivedName> names_;
  std::set<ValueId> done_;
};

}  // namespace

std::vector<DerivedName> DerivedNames(const Graph& graph) { return Deriver(graph).Run(); }

bool HasDerivedName(const Graph& graph, NodeId id) {
  const ValueId result = graph.output(id);
  return Quantizes(graph.op(id)) && result.valid() && graph.value(result).name.empty();
}

}  // namespace halftone::onnx_format

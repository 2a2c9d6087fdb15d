// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/functions.h"

#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/subgraphs.h"
#include "formats/onnx/validator.h"

namespace halftone::onnx_format {
namespace {

using Names = std::map<std::string, std::string>;

constexpr int64_t kMaxBytes = int64_t{1} << 30;  // a small file can call a function with a large constant often

std::string Domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

std::string LabelOf(const onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  return node.output_size() > 0 && !node.output(0).empty() ? node.output(0) : node.op_type();
}

const onnx::AttributeProto* FindAttribute(const google::protobuf::RepeatedPtrField<onnx::AttributeProto>& attributes,
                                          const std::string& name) {
  for (const onnx::AttributeProto& attribute : attributes) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

// The value's name outside. A value that no node makes gets a name that no node outside makes.
std::string Outside(const Names& names, const std::string& name, const std::string& prefix) {
  if (name.empty()) return "";
  const auto it = names.find(name);
  return it == names.end() ? Concat(prefix, name, " (made by no node of the function)") : it->second;
}

}  // namespace

struct Functions::Call {
  const onnx::NodeProto& node;
  const onnx::FunctionProto& function;
  std::string prefix;  // "call/": how the names of its values and nodes begin
};

Functions::Functions(const onnx::ModelProto& model, int model_opset) {
  for (const onnx::FunctionProto& function : model.functions()) {
    int64_t opset = model_opset;
    for (const onnx::OperatorSetIdProto& import : function.opset_import()) {
      if (Domain(import.domain()).empty()) opset = import.version();
    }
    const bool supported = opset >= kMinOpset && opset <= kMaxOpset;
    functions_.emplace(
        Key(Domain(function.domain()), function.name(), function.overload()),
        Function{&function, supported ? static_cast<int>(opset) : 0, static_cast<int64_t>(function.ByteSizeLong())});
  }
  if (!functions_.empty()) AddAllNames(model.graph(), taken_);
}

const Functions::Function* Functions::Find(const onnx::NodeProto& node) const {
  const auto it = functions_.find(Key(Domain(node.domain()), node.op_type(), node.overload()));
  return it == functions_.end() ? nullptr : &it->second;
}

std::string Functions::Fresh(const std::string& base) {
  std::string name = base;
  for (int i = 1; !taken_.insert(name).second; ++i) name = Concat(base, "_", i);
  return name;
}

absl::Status Functions::Inline(onnx::GraphProto& graph, int opset, std::vector<int>& opsets) {
  opsets.assign(graph.node_size(), opset);
  bool any = false;
  for (const onnx::NodeProto& node : graph.node()) any = any || Find(node) != nullptr;
  if (!any) return absl::OkStatus();
  std::vector<Node> work;  // the next node is the last
  for (int i = graph.node_size(); i-- > 0;) {
    work.push_back({std::move(*graph.mutable_node(i)), opset});
  }
  graph.clear_node();
  opsets.clear();
  while (!work.empty()) {
    Node next = std::move(work.back());
    work.pop_back();
    const Function* function = Find(next.proto);
    if (function == nullptr || function->opset == 0) {
      opsets.push_back(next.opset);
      graph.add_node()->Swap(&next.proto);
      continue;
    }
    std::vector<Node> body;
    HALFTONE_RETURN_IF_ERROR(Annotate(WriteOut(next.proto, *function, body),
                                      Concat("node '", LabelOf(next.proto), "' (", next.proto.op_type(), ")")));
    for (size_t i = body.size(); i-- > 0;) work.push_back(std::move(body[i]));
  }
  return absl::OkStatus();
}

// Appends the nodes of the function that is called. The function's inputs and outputs become those of the call; an
// output that is an input, or another output, is made by an Identity.
absl::Status Functions::WriteOut(const onnx::NodeProto& call_node, const Function& function, std::vector<Node>& nodes) {
  const onnx::FunctionProto& proto = *function.proto;
  nodes_ += proto.node_size();
  bytes_ += function.bytes;
  if (bytes_ > kMaxBytes) {
    return absl::ResourceExhaustedError(
        Concat("the model's functions take more than ", kMaxBytes, " bytes, counted each time they are called"));
  }
  if (nodes_ > kMaxNodes) {
    return absl::ResourceExhaustedError(
        Concat("the model's functions have more than ", kMaxNodes, " nodes, counted each time they are called"));
  }
  if (call_node.input_size() > proto.input_size() || call_node.output_size() > proto.output_size()) {
    return absl::InvalidArgumentError(Concat("it has ", call_node.input_size(), " inputs and ", call_node.output_size(),
                                             " outputs, the function has ", proto.input_size(), " and ",
                                             proto.output_size()));
  }
  const Call call{call_node, proto, Concat(LabelOf(call_node), "/")};
  Names names;
  for (int i = 0; i < proto.input_size(); ++i)
    names[proto.input(i)] = i < call_node.input_size() ? call_node.input(i) : "";
  std::vector<onnx::NodeProto> copies;
  for (int i = 0; i < call_node.output_size(); ++i) {
    if (call_node.output(i).empty()) continue;
    const auto [it, added] = names.emplace(proto.output(i), call_node.output(i));
    if (added) continue;
    if (it->second.empty()) return absl::InvalidArgumentError(Concat("output ", i, " is an input that is absent"));
    onnx::NodeProto& copy = copies.emplace_back();
    copy.set_op_type("Identity");
    copy.add_input(it->second);
    copy.add_output(call_node.output(i));
  }
  for (const onnx::NodeProto& node : proto.node()) {
    for (const std::string& output : node.output()) {
      if (!output.empty() && !names.contains(output)) names[output] = Fresh(call.prefix + output);
    }
  }
  for (const onnx::NodeProto& node : proto.node()) {
    nodes.push_back({node, function.opset});
    RenameNode(call, names, nodes.back().proto);
  }
  for (onnx::NodeProto& copy : copies) nodes.push_back({std::move(copy), function.opset});
  for (const onnx::OperatorSetIdProto& import : proto.opset_import()) {
    if (!Domain(import.domain()).empty()) domains_.emplace(import.domain(), import.version());
  }
  return absl::OkStatus();
}

void Functions::RenameNode(const Call& call, const Names& names, onnx::NodeProto& node) {
  if (!node.name().empty()) node.set_name(call.prefix + node.name());
  for (std::string& input : *node.mutable_input()) input = Outside(names, input, call.prefix);
  for (std::string& output : *node.mutable_output()) output = Outside(names, output, call.prefix);
  google::protobuf::RepeatedPtrField<onnx::AttributeProto> attributes;
  for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
    if (!attribute.ref_attr_name().empty()) {
      const onnx::AttributeProto* given = FindAttribute(call.node.attribute(), attribute.ref_attr_name());
      if (given == nullptr) given = FindAttribute(call.function.attribute_proto(), attribute.ref_attr_name());
      if (given == nullptr) continue;  // neither the call nor the function says it: the operator's own default
      onnx::AttributeProto& copy = *attributes.Add();
      copy = *given;
      copy.set_name(attribute.name());
      continue;
    }
    if (attribute.has_g()) RenameGraph(call, names, *attribute.mutable_g());
    for (onnx::GraphProto& graph : *attribute.mutable_graphs()) RenameGraph(call, names, graph);
    attributes.Add()->Swap(&attribute);
  }
  node.mutable_attribute()->Swap(&attributes);
}

// A subgraph in a function's body. Recurses over subgraphs, of which the validator allows 24 levels.
void Functions::RenameGraph(const Call& call, Names names, onnx::GraphProto& graph) {
  for (const std::string& name : NamesMadeIn(graph)) {
    if (!name.empty()) names[name] = Fresh(call.prefix + name);
  }
  for (auto* infos : {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()}) {
    for (onnx::ValueInfoProto& info : *infos) info.set_name(Outside(names, info.name(), call.prefix));
  }
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) tensor.set_name(names.at(tensor.name()));
  for (onnx::SparseTensorProto& tensor : *graph.mutable_sparse_initializer()) {
    tensor.mutable_values()->set_name(names.at(tensor.values().name()));
  }
  for (onnx::TensorAnnotation& annotation : *graph.mutable_quantization_annotation()) {
    annotation.set_tensor_name(Outside(names, annotation.tensor_name(), call.prefix));
  }
  for (onnx::NodeProto& node : *graph.mutable_node()) RenameNode(call, names, node);
}

}  // namespace halftone::onnx_format

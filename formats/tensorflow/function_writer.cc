// SPDX-License-Identifier: Apache-2.0
// Nested graphs as functions of the library.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/element_types.h"
#include "formats/tensorflow/function_library.h"
#include "formats/tensorflow/graph_writer.h"
#include "formats/tensorflow/node_graph.h"
#include "formats/tensorflow/write_node.h"

namespace halftone::graphdef {
namespace {

// Arguments and results are called in small letters, digits and "_".
std::string ArgumentName(std::string_view prefix, size_t i) { return Concat(prefix, "_", i); }

std::string Plain(std::string_view wish) {
  std::string name;
  for (const char c : wish) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    name += fits ? c : '_';
  }
  return name;
}

// "node:1" -> "node:name:index"; arguments by their name.
class References {
 public:
  References(const tf::GraphDef& def, const std::map<std::string, std::string>& arguments) : arguments_(arguments) {
    for (const tf::NodeDef& node : def.node()) ops_.emplace(node.name(), node.op());
  }

  std::string Of(const std::string& text) const {
    if (text.starts_with('^')) return text;
    const size_t colon = text.find(':');
    const std::string node = text.substr(0, colon);
    const int port = colon == std::string::npos ? 0 : std::stoi(text.substr(colon + 1));
    if (const auto it = arguments_.find(node); it != arguments_.end()) return it->second;
    const auto op = ops_.find(node);
    std::string_view names = OutputNames(op == ops_.end() ? "" : op->second);
    if (names.find(',') == std::string_view::npos) return Concat(node, ":", names, ":", port);
    for (int i = 0; i < port && names.find(',') != std::string_view::npos; ++i) {
      names.remove_prefix(names.find(',') + 1);
    }
    return Concat(node, ":", names.substr(0, names.find(',')), ":0");
  }

 private:
  const std::map<std::string, std::string>& arguments_;
  std::map<std::string, std::string> ops_;
};

}  // namespace

absl::StatusOr<std::string> GraphWriter::AddFunction(const Graph& graph, std::string_view wish) {
  HALFTONE_ASSIGN_OR_RETURN(NameTable names, NameTable::Assign(graph, /*quantized_ops=*/false));
  GraphWriter writer(graph, std::move(names));
  *writer.result_.mutable_library() = result_.library();
  HALFTONE_RETURN_IF_ERROR(WriteNodes(writer));
  *result_.mutable_library() = writer.result_.library();  // with the functions that this one needs

  tf::FunctionDef function;
  std::map<std::string, std::string> arguments;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const NodeId id = graph.inputs()[i];
    tf::OpDef::ArgDef& arg = *function.mutable_signature()->add_input_arg();
    arg.set_name(ArgumentName("arg", i));
    arg.set_type(ToTfType(graph.type(graph.output(id))));
    arguments[writer.NameOf(id)] = arg.name();
  }
  const References references(writer.result_, arguments);
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const ValueId value = graph.outputs()[i].value;
    tf::OpDef::ArgDef& result = *function.mutable_signature()->add_output_arg();
    result.set_name(ArgumentName("result", i));
    result.set_type(ToTfType(graph.type(value)));
    tf::FunctionDef::StringEntry& ret = *function.add_ret();
    ret.set_key(result.name());
    ret.set_value(references.Of(writer.Value(value, "result").name));
  }
  for (tf::NodeDef& node : *writer.result_.mutable_node()) {
    if (arguments.contains(node.name())) continue;
    for (std::string& input : *node.mutable_input()) input = references.Of(input);
    *function.add_node_def() = std::move(node);
  }
  std::string name = Plain(wish);
  const auto is_taken = [&](const std::string& text) {
    const auto& all = result_.library().function();
    return std::any_of(all.begin(), all.end(), [&](const auto& f) { return f.signature().name() == text; });
  };
  for (int i = 1; is_taken(name); ++i) name = Concat(Plain(wish), "_", i);
  function.mutable_signature()->set_name(name);
  *result_.mutable_library()->add_function() = std::move(function);
  return name;
}

absl::Status GraphWriter::AddCall(NodeId id, const OpRow& row, const std::vector<Source>& inputs,
                                  AttrValues functions) {
  const Node& node = graph_.node(id);
  HALFTONE_ASSIGN_OR_RETURN(tf::NodeDef def, Begin(id, row.tf_op));
  HALFTONE_ASSIGN_OR_RETURN(AttrValues attrs, Extra(id, row.tf_op));
  for (auto& [name, value] : functions) attrs[name] = std::move(value);
  size_t first = 0;
  if (row.inputs.starts_with("Tcond")) {
    attrs["Tcond"] = TypeAttr(inputs[0].type);
    first = 1;
  }
  tf::AttrValue in, out;
  in.mutable_list();
  out.mutable_list();
  for (size_t i = first; i < inputs.size(); ++i) in.mutable_list()->add_type(ToTfType(inputs[i].type));
  for (const ValueId output : node.outputs) out.mutable_list()->add_type(ToTfType(graph_.type(output)));
  const bool one_list = row.outputs == "T[]";
  attrs[one_list ? "T" : "Tin"] = std::move(in);
  if (!one_list) attrs["Tout"] = std::move(out);
  Finish(id, std::move(def), inputs, std::move(attrs));
  return absl::OkStatus();
}

}  // namespace halftone::graphdef

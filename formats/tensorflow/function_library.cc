// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/function_library.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/element_types.h"
#include "formats/tensorflow/node_graph.h"
#include "formats/tensorflow/op_map.h"
#include "ir/tensor.h"
#include "ir/text.h"

namespace halftone::graphdef {
namespace {

bool HasPlaceholder(const tf::NodeDef& node) {
  return std::any_of(node.attr().begin(), node.attr().end(),
                     [](const tf::AttrEntry& attr) { return attr.value().has_placeholder(); });
}

// Made for one type each: no attributes of its own, no lists.
bool IsPlain(const tf::FunctionDef& function) {
  const auto is_plain = [](const tf::OpDef::ArgDef& arg) {
    return arg.type_attr().empty() && arg.number_attr().empty() && arg.type_list_attr().empty() && !arg.is_ref() &&
           FromTfType(arg.type()) != DataType::kUnknown;
  };
  const tf::OpDef& signature = function.signature();
  return signature.attr_size() == 0 &&
         std::all_of(signature.input_arg().begin(), signature.input_arg().end(), is_plain) &&
         std::all_of(signature.output_arg().begin(), signature.output_arg().end(), is_plain) &&
         std::none_of(function.node_def().begin(), function.node_def().end(), HasPlaceholder);
}

// "node:name:index" -> "node:port". Arguments and control inputs are what they are.
absl::StatusOr<std::string> GraphName(const std::string& text,
                                      const std::map<std::string, std::string_view, std::less<>>& ops) {
  const size_t first = text.find(':');
  const size_t last = text.rfind(':');
  if (text.starts_with('^') || first == std::string::npos) return text;
  const std::string node = text.substr(0, first);
  int64_t index = 0;
  if (first == last || !absl::SimpleAtoi(text.substr(last + 1), &index) || index < 0 || index > kMaxPorts) {
    if (first == last && absl::SimpleAtoi(text.substr(first + 1), &index)) return text;  // an argument's ":0"
    return absl::InvalidArgumentError(Concat("'", text, "' is none of \"argument\", \"node:output:0\", \"^node\""));
  }
  const std::string name = text.substr(first + 1, last - first - 1);
  const auto op = ops.find(node);
  const std::string names(op == ops.end() ? "output" : OutputNames(op->second));
  int64_t port = index;
  size_t begin = 0;
  for (int64_t k = 0; names.find(',') != std::string::npos && begin <= names.size(); ++k) {
    const size_t end = std::min(names.find(',', begin), names.size());
    if (names.substr(begin, end - begin) == name) port = k + index;
    begin = end + 1;
  }
  return port == 0 ? node : Concat(node, ":", port);
}

}  // namespace

absl::StatusOr<tf::GraphDef> FunctionAsGraph(const tf::FunctionDef& function, std::vector<std::string>& results) {
  tf::GraphDef def;
  for (const tf::OpDef::ArgDef& arg : function.signature().input_arg()) {
    tf::NodeDef& node = *def.add_node();
    node.set_name(arg.name());
    node.set_op("Placeholder");
    tf::AttrEntry& attr = *node.add_attr();
    attr.set_key("dtype");
    attr.mutable_value()->set_type(arg.type());
  }
  std::map<std::string, std::string_view, std::less<>> ops;
  for (const tf::NodeDef& node : function.node_def()) ops.emplace(node.name(), node.op());
  for (const tf::NodeDef& node : function.node_def()) {
    tf::NodeDef& copy = *def.add_node();
    copy = node;
    for (std::string& input : *copy.mutable_input()) {
      absl::StatusOr<std::string> name = GraphName(input, ops);
      if (!name.ok()) return Annotate(name.status(), Concat("node '", node.name(), "'"));
      input = *std::move(name);
    }
  }
  for (const tf::OpDef::ArgDef& result : function.signature().output_arg()) {
    const auto ret = std::find_if(function.ret().begin(), function.ret().end(),
                                  [&](const auto& entry) { return entry.key() == result.name(); });
    if (ret == function.ret().end())
      return absl::InvalidArgumentError(Concat("nothing returns result '", result.name(), "'"));
    HALFTONE_ASSIGN_OR_RETURN(std::string name, GraphName(ret->value(), ops));
    results.push_back(std::move(name));
  }
  return def;
}

FunctionLibrary::FunctionLibrary(const tf::FunctionDefLibrary& library, const tf::VersionDef& versions,
                                 int64_t& repeat_budget)
    : versions_(versions), repeat_budget_(repeat_budget) {
  for (const tf::FunctionDef& function : library.function()) {
    functions_.emplace(function.signature().name(), &function);
  }
}

// Functions nest at most kMaxFunctionDepth deep, and none calls itself: CheckFunctions has seen to that.
absl::StatusOr<std::shared_ptr<const Graph>> FunctionLibrary::Get(const std::string& name) {
  if (const auto done = graphs_.find(name); done != graphs_.end()) return done->second;
  const auto it = functions_.find(name);
  if (it == functions_.end() || !IsPlain(*it->second) || it->second->signature().output_arg_size() == 0)
    return std::shared_ptr<const Graph>();
  absl::StatusOr<std::shared_ptr<const Graph>> graph = Import(*it->second);
  if (!graph.ok()) return Annotate(graph.status(), Concat("function '", name, "'"));
  graphs_[name] = *graph;
  return graph;
}

std::vector<std::string> FunctionLibrary::names() const {
  std::vector<std::string> names;
  for (const auto& [name, graph] : graphs_) names.push_back(name);
  return names;
}

absl::StatusOr<std::shared_ptr<const Graph>> FunctionLibrary::Import(const tf::FunctionDef& function) {
  GraphDefOptions options;
  HALFTONE_ASSIGN_OR_RETURN(tf::GraphDef def, FunctionAsGraph(function, options.outputs));
  *def.mutable_versions() = versions_;
  HALFTONE_ASSIGN_OR_RETURN(Graph graph, ImportNodes(def, *this, options, /*is_function=*/true));
  return std::make_shared<const Graph>(std::move(graph));
}

std::string NestedGraphHash(const Graph& graph) {
  const std::string text = PrintGraph(graph);
  Tensor bytes(DataType::kUInt8, {static_cast<int64_t>(text.size())});
  std::copy(text.begin(), text.end(), reinterpret_cast<char*>(bytes.mutable_raw()));
  return bytes.Hash();
}

}  // namespace halftone::graphdef

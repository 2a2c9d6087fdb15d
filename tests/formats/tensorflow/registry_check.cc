// SPDX-License-Identifier: Apache-2.0
#include "tests/formats/tensorflow/registry_check.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/files.h"
#include "base/status.h"
#include "base/strings.h"
#include "google/protobuf/text_format.h"

namespace halftone::testing {
namespace {

namespace tf = ::halftone::tensorflow;

using Attrs = std::map<std::string, const tf::AttrValue*>;

// The kind of a value in the registry's words; "list(?)" for an empty list, which fits any.
std::string KindOf(const tf::AttrValue& value) {
  switch (value.value_case()) {
    case tf::AttrValue::kS:
      return "string";
    case tf::AttrValue::kI:
      return "int";
    case tf::AttrValue::kF:
      return "float";
    case tf::AttrValue::kB:
      return "bool";
    case tf::AttrValue::kType:
      return "type";
    case tf::AttrValue::kShape:
      return "shape";
    case tf::AttrValue::kTensor:
      return "tensor";
    case tf::AttrValue::kFunc:
      return "func";
    case tf::AttrValue::kPlaceholder:
      return "placeholder";
    case tf::AttrValue::VALUE_NOT_SET:
      return "nothing";
    case tf::AttrValue::kList:
      break;
  }
  const tf::AttrValue::ListValue& list = value.list();
  if (list.s_size() > 0) return "list(string)";
  if (list.i_size() > 0) return "list(int)";
  if (list.f_size() > 0) return "list(float)";
  if (list.b_size() > 0) return "list(bool)";
  if (list.type_size() > 0) return "list(type)";
  if (list.shape_size() > 0) return "list(shape)";
  if (list.tensor_size() > 0) return "list(tensor)";
  if (list.func_size() > 0) return "list(func)";
  return "list(?)";
}

int ListSize(const tf::AttrValue::ListValue& list) {
  return list.s_size() + list.i_size() + list.f_size() + list.b_size() + list.type_size() + list.shape_size() +
         list.tensor_size() + list.func_size();
}

class Checker {
 public:
  Checker(const tf::GraphDef& graph, const tf::OpList& registry) : graph_(graph) {
    for (const tf::OpDef& op : registry.op()) ops_[op.name()] = &op;
    for (const tf::FunctionDef& function : graph.library().function()) {
      ops_[function.signature().name()] = &function.signature();
    }
  }

  std::vector<std::string> Check() {
    for (const tf::NodeDef& node : graph_.node()) {
      if (!nodes_.emplace(node.name(), &node).second) Report(node, "the name is taken twice");
      CheckNode(node);
    }
    for (const tf::NodeDef& node : graph_.node()) CheckEdges(node);
    return std::move(violations_);
  }

 private:
  template <typename... Args>
  void Report(const tf::NodeDef& node, const Args&... args) {
    violations_.push_back(Concat("'", node.name(), "' (", node.op(), "): ", args...));
  }

  void CheckNode(const tf::NodeDef& node) {
    const auto found = ops_.find(node.op());
    if (found == ops_.end()) return Report(node, "the op is not registered");
    const tf::OpDef& op = *found->second;
    Attrs attrs;
    for (const tf::AttrEntry& entry : node.attr()) {
      if (!attrs.emplace(entry.key(), &entry.value()).second)
        Report(node, "attribute '", entry.key(), "' is given twice");
      const auto def =
          std::find_if(op.attr().begin(), op.attr().end(), [&](const auto& a) { return a.name() == entry.key(); });
      if (def != op.attr().end()) {
        CheckAttr(node, *def, entry.value());
      } else if (!entry.key().starts_with("_")) {
        Report(node, "attribute '", entry.key(), "' is unknown");
      }
    }
    for (const tf::OpDef::AttrDef& def : op.attr()) {
      if (attrs.contains(def.name())) continue;
      if (def.has_default_value()) {
        attrs[def.name()] = &def.default_value();
      } else {
        Report(node, "attribute '", def.name(), "' is missing");
      }
    }
    inputs_[node.name()] = Ports(node, op.input_arg(), attrs);
    outputs_[node.name()] = Ports(node, op.output_arg(), attrs);
    if (node.op() == "Const" && attrs.contains("dtype") && attrs.contains("value") &&
        attrs["dtype"]->type() != attrs["value"]->tensor().dtype()) {
      Report(node, "dtype is not the type of the tensor");
    }
  }

  void CheckAttr(const tf::NodeDef& node, const tf::OpDef::AttrDef& def, const tf::AttrValue& value) {
    const std::string kind = KindOf(value);
    if (kind != def.type() && !(kind == "list(?)" && def.type().starts_with("list("))) {
      return Report(node, "attribute '", def.name(), "' is ", kind, ", not ", def.type());
    }
    if (def.has_minimum()) {
      const int64_t size = def.type() == "int" ? value.i() : ListSize(value.list());
      if (size < def.minimum()) Report(node, "attribute '", def.name(), "' is below ", def.minimum());
    }
    if (!def.has_allowed_values()) return;
    const auto& allowed = def.allowed_values().list();
    const auto check_type = [&](int type) {
      if (std::find(allowed.type().begin(), allowed.type().end(), type) == allowed.type().end()) {
        Report(node, "attribute '", def.name(), "' must not be ", tf::DataType_Name(static_cast<tf::DataType>(type)));
      }
    };
    const auto check_string = [&](const std::string& text) {
      if (std::find(allowed.s().begin(), allowed.s().end(), text) == allowed.s().end()) {
        Report(node, "attribute '", def.name(), "' must not be '", text, "'");
      }
    };
    if (def.type() == "type") check_type(value.type());
    if (def.type() == "string") check_string(value.s());
    for (const int type : value.list().type()) check_type(type);
    for (const std::string& text : value.list().s()) check_string(text);
  }

  // The types of all ports; DT_INVALID where an attribute is missing.
  template <typename Args>
  std::vector<int> Ports(const tf::NodeDef& node, const Args& args, const Attrs& attrs) {
    std::vector<int> types;
    const auto find = [&](const std::string& name) -> const tf::AttrValue& {
      static const tf::AttrValue& none = *new tf::AttrValue;
      const auto it = attrs.find(name);
      return it == attrs.end() ? none : *it->second;
    };
    for (const tf::OpDef::ArgDef& arg : args) {
      if (!arg.type_list_attr().empty()) {
        const auto& list = find(arg.type_list_attr()).list().type();
        types.insert(types.end(), list.begin(), list.end());
        continue;
      }
      const int64_t count = arg.number_attr().empty() ? 1 : find(arg.number_attr()).i();
      if (count < 0 || count > 100000) {
        Report(node, "attribute '", arg.number_attr(), "' is absurd");
        continue;
      }
      types.insert(types.end(), count, arg.type_attr().empty() ? arg.type() : find(arg.type_attr()).type());
    }
    return types;
  }

  void CheckEdges(const tf::NodeDef& node) {
    std::vector<int> actual;
    for (const std::string& input : node.input()) {
      const bool is_control = input.starts_with("^");
      const size_t colon = input.rfind(':');
      const std::string name =
          input.substr(is_control ? 1 : 0, colon == std::string::npos || is_control ? std::string::npos : colon);
      if (!nodes_.contains(name)) {
        Report(node, "input '", input, "' does not exist");
        continue;
      }
      if (is_control) continue;
      const size_t port = colon == std::string::npos ? 0 : std::stoul(input.substr(colon + 1));
      if (!outputs_.contains(name)) {
        actual.push_back(tf::DT_INVALID);
      } else if (port >= outputs_[name].size()) {
        Report(node, "input '", input, "': there are ", outputs_[name].size(), " outputs");
      } else {
        actual.push_back(outputs_[name][port]);
      }
    }
    if (!inputs_.contains(node.name())) return;
    const std::vector<int>& wanted = inputs_[node.name()];
    if (actual.size() != wanted.size()) return Report(node, actual.size(), " data inputs; need ", wanted.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      const int have = actual[i] > 100 ? actual[i] - 100 : actual[i];
      if (have != wanted[i] && have != tf::DT_INVALID && wanted[i] != tf::DT_INVALID) {
        Report(node, "input ", i, " is ", tf::DataType_Name(static_cast<tf::DataType>(have)), ", need ",
               tf::DataType_Name(static_cast<tf::DataType>(wanted[i])));
      }
    }
    for (const tf::AttrEntry& entry : node.attr()) {
      if (entry.key() != "_class") continue;
      for (const std::string& name : entry.value().list().s()) {
        if (name.starts_with("loc:@") && !nodes_.contains(name.substr(5)))
          Report(node, "colocated with '", name, "', which is not there");
      }
    }
  }

  const tf::GraphDef& graph_;
  std::map<std::string, const tf::OpDef*> ops_;
  std::map<std::string, const tf::NodeDef*> nodes_;
  std::map<std::string, std::vector<int>> inputs_, outputs_;
  std::vector<std::string> violations_;
};

}  // namespace

absl::StatusOr<tf::OpList> ReadRegistry(const std::string& path) {
  HALFTONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  tf::OpList registry;
  if (!google::protobuf::TextFormat::ParseFromString(text, &registry)) {
    return absl::InvalidArgumentError(Concat(path, ": not a registry of ops in text form"));
  }
  return registry;
}

std::vector<std::string> RegistryViolations(const tf::GraphDef& graph, const tf::OpList& registry) {
  return Checker(graph, registry).Check();
}

}  // namespace halftone::testing

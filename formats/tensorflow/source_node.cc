// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/source_node.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "formats/tensorflow/element_types.h"

namespace halftone::graphdef {
namespace {

SourceType TypeOf(int type) {
  const int plain = PlainTfType(type);
  return {FromTfType(plain), plain != type};
}

// "s32", "q32" for DT_QINT32, "?" for what we do not know.
std::string TypeWord(int type) {
  const auto [plain, quantized] = TypeOf(type);
  const std::string name(DataTypeName(plain));
  if (!quantized) return name;
  return name[0] == 'u' ? Concat("q", name) : Concat("q", name.substr(1));
}

template <typename Args>
std::string Ports(const Args& args) {
  std::string text;
  for (const tf::OpDef::ArgDef& arg : args) {
    if (!text.empty()) text += ",";
    if (!arg.type_list_attr().empty()) {
      text += Concat(arg.type_list_attr(), "[]");
      continue;
    }
    if (!arg.number_attr().empty()) text += Concat(arg.number_attr(), "*");
    text += arg.type_attr().empty() ? TypeWord(arg.type()) : arg.type_attr();
  }
  return text;
}

bool Allows(const tf::OpDef::AttrDef& attr, tf::DataType type) {
  const auto& allowed = attr.allowed_values().list().type();
  return allowed.empty() || std::find(allowed.begin(), allowed.end(), type) != allowed.end();
}

SourceFunction ReadSourceFunction(const tf::OpDef& signature) {
  SourceFunction function{Ports(signature.input_arg()), Ports(signature.output_arg()), ""};
  for (const tf::OpDef::AttrDef& attr : signature.attr()) {
    if (attr.type() != "type" && attr.type() != "list(type)") continue;
    if (!function.types.empty()) function.types += " ";
    function.types += Concat(attr.name(), attr.type() == "type" ? "" : "[]");
    if (attr.type() == "type" && attr.has_default_value())
      function.types += Concat("=", TypeWord(attr.default_value().type()));
    function.types += Concat(":", Allows(attr, tf::DT_BFLOAT16) ? "b" : "", Allows(attr, tf::DT_HALF) ? "h" : "");
  }
  return function;
}

}  // namespace

std::shared_ptr<SourceGraph> BeginSource(const tf::GraphDef& def) {
  auto source = std::make_shared<SourceGraph>();
  source->nodes.resize(def.node_size());
  for (const tf::FunctionDef& function : def.library().function()) {
    source->functions.emplace(function.signature().name(), ReadSourceFunction(function.signature()));
  }
  return source;
}

SourceNode ReadSourceNode(const tf::NodeDef& def, const NodeEdges& edges) {
  SourceNode node;
  node.name = def.name();
  node.op = def.op();
  node.device = def.device();
  for (const Edge& edge : edges.data) node.inputs.push_back({edge.node, edge.port});
  for (const tf::AttrEntry& entry : def.attr()) {
    const tf::AttrValue& value = entry.value();
    if (value.value_case() == tf::AttrValue::kI) node.counts.emplace_back(entry.key(), value.i());
    if (value.value_case() == tf::AttrValue::kType) {
      node.types.push_back({entry.key(), false, {TypeOf(value.type())}});
    }
    if (value.value_case() != tf::AttrValue::kList || value.list().type_size() == 0) continue;
    SourceTypes types{entry.key(), true, {}};
    for (const int type : value.list().type()) types.types.push_back(TypeOf(type));
    node.types.push_back(std::move(types));
  }
  return node;
}

}  // namespace halftone::graphdef

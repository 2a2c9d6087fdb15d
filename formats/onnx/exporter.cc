#include "formats/onnx/exporter.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/element_types.h"
#include "formats/onnx/node_writer.h"
#include "formats/onnx/op_map.h"
#include "formats/onnx/opset_changes.h"
#include "formats/onnx/serialize.h"
#include "formats/onnx/subgraphs.h"
#include "formats/onnx/tensors.h"
#include "formats/onnx/validator.h"
#include "onnx/onnx_pb.h"

namespace halftone {
namespace onnx_format {
namespace {

constexpr int kDefaultOpset = 17;  // of a graph that came from no file

template <typename T>
T HeaderList(const Graph& graph, std::string_view name) {
  const AttributeValue* value = graph.header().find(name);
  const T* list = value == nullptr ? nullptr : std::get_if<T>(value);
  return list == nullptr ? T() : *list;
}

const std::string* HeaderBytes(const Graph& graph, std::string_view name) {
  const AttributeValue* value = graph.header().find(name);
  const RawBytes* bytes = value == nullptr ? nullptr : std::get_if<RawBytes>(value);
  return bytes == nullptr ? nullptr : &bytes->bytes;
}

using Strings = std::vector<std::string>;
using Ints = std::vector<int64_t>;

int OwnOpset(const Graph& graph) {
  const Ints versions = HeaderList<Ints>(graph, "opset");
  const Strings domains = HeaderList<Strings>(graph, "opset_domains");
  for (size_t i = 0; i < versions.size(); ++i) {
    if (i >= domains.size() || domains[i].empty()) return static_cast<int>(versions[i]);
  }
  return kDefaultOpset;
}

// IR version that the ONNX release of this opset had.
int64_t IrVersionOf(int opset) {
  constexpr std::pair<int, int64_t> kReleases[] = {{21, 10}, {19, 9}, {15, 8}, {12, 7}, {11, 6}, {10, 5}, {9, 4}};
  for (const auto& [since, version] : kReleases) {
    if (opset >= since) return version;
  }
  return kMinIrVersion;
}

// The opaque node with its attributes, subgraphs included; nothing else.
absl::StatusOr<onnx::NodeProto> AttributesOf(const Node& node) {
  onnx::NodeProto proto;
  proto.set_op_type(node.spelling);
  proto.set_domain(node.domain);
  for (size_t i = node.captures.size(); i < node.inputs.size(); ++i) proto.add_input("x");
  for (size_t i = 0; i < node.outputs.size(); ++i) proto.add_output("y");
  for (const auto& [name, value] : node.extra) {
    if (name.starts_with("_")) continue;
    HALFTONE_ASSIGN_OR_RETURN(*proto.add_attribute(), ToProto(name, value));
  }
  return proto;
}

absl::Status CheckVerbatimNodes(const Graph& graph, int from, int to) {
  for (const NodeId id : graph.nodes()) {
    if (graph.op(id) != OpKind::kOpaque) continue;
    HALFTONE_ASSIGN_OR_RETURN(const onnx::NodeProto proto, AttributesOf(graph.node(id)));
    absl::Status status;
    VisitNodes(proto, [&](const onnx::NodeProto& node) {
      const int change = FirstChange(node, from, to);
      if (change == 0 || !status.ok()) return;
      status = absl::UnimplementedError(Concat("the graph needs opset ", to, " instead of ", from, ", but node '",
                                               graph.Label(id), "' is kept as it is and ", node.op_type(),
                                               " changed in opset ", change));
    });
    HALFTONE_RETURN_IF_ERROR(status);
  }
  if (const std::string* rest = HeaderBytes(graph, "rest"); rest != nullptr) {
    return absl::UnimplementedError(
        Concat("the graph needs opset ", to, " instead of ", from, ", but its functions are kept as they are"));
  }
  return absl::OkStatus();
}

class Exporter {
 public:
  Exporter(const Graph& graph, int opset)
      : graph_(graph), opset_(opset), model_(std::make_unique<onnx::ModelProto>()) {}

  absl::StatusOr<std::string> Run() {
    HALFTONE_RETURN_IF_ERROR(Header());
    HALFTONE_ASSIGN_OR_RETURN(ValueNames names, Names());
    names_ = names;
    NodeWriter writer(graph_, opset_, std::move(names));
    for (const NodeId id : graph_.TopologicalOrder()) HALFTONE_RETURN_IF_ERROR(writer.Write(id));
    // ONNX Runtime's fusions for newer opsets derive names from those of nodes, and refuse the model if two are the
    // same.
    const std::vector<NodeWriter::Initializer> initializers = writer.Finish(
        proto(), HeaderList<Strings>(graph_, "initializer_inputs"), /*name_nodes=*/opset_ > OwnOpset(graph_));
    HALFTONE_RETURN_IF_ERROR(Values(initializers));
    return Serialize(*model_, initializers);
  }

 private:
  onnx::GraphProto& proto() { return *model_->mutable_graph(); }
  absl::Status Header();
  absl::StatusOr<ValueNames> Names() const;
  absl::Status Values(const std::vector<NodeWriter::Initializer>& initializers);
  absl::Status AddInfo(const std::string& name, ValueId value, onnx::ValueInfoProto& info) const;

  const Graph& graph_;
  const int opset_;
  std::unique_ptr<onnx::ModelProto> model_;
  ValueNames names_;
};

absl::Status Exporter::Header() {
  const Attributes& header = graph_.header();
  if (const std::string* rest = HeaderBytes(graph_, "rest"); rest != nullptr && !ParseMessage(*rest, *model_)) {
    return absl::InvalidArgumentError("header 'rest' is no ModelProto");
  }
  if (const std::string* rest = HeaderBytes(graph_, "graph_rest"); rest != nullptr && !ParseMessage(*rest, proto())) {
    return absl::InvalidArgumentError("header 'graph_rest' is no GraphProto");
  }
  const int64_t own_version = header.Int("ir_version", IrVersionOf(opset_));
  model_->set_ir_version(opset_ > OwnOpset(graph_) ? std::max(own_version, IrVersionOf(opset_)) : own_version);
  const Ints versions = HeaderList<Ints>(graph_, "opset");
  const Strings domains = HeaderList<Strings>(graph_, "opset_domains");
  bool has_onnx = false;
  for (size_t i = 0; i < versions.size(); ++i) {
    onnx::OperatorSetIdProto& opset = *model_->add_opset_import();
    opset.set_domain(i < domains.size() ? domains[i] : "");
    opset.set_version(opset.domain().empty() ? opset_ : versions[i]);
    has_onnx |= opset.domain().empty();
  }
  if (!has_onnx) {
    onnx::OperatorSetIdProto& opset = *model_->add_opset_import();
    opset.set_domain("");
    opset.set_version(opset_);
  }
  const auto text = [&header](std::string_view name) { return header.String(name, ""); };
  if (header.has("producer_name")) model_->set_producer_name(text("producer_name"));
  if (header.has("producer_version")) model_->set_producer_version(text("producer_version"));
  if (header.has("domain")) model_->set_domain(text("domain"));
  if (header.has("doc_string")) model_->set_doc_string(text("doc_string"));
  if (header.has("model_version")) model_->set_model_version(header.Int("model_version", 0));
  const Strings keys = HeaderList<Strings>(graph_, "metadata_keys");
  const Strings values = HeaderList<Strings>(graph_, "metadata_values");
  for (size_t i = 0; i < std::min(keys.size(), values.size()); ++i) {
    onnx::StringStringEntryProto& entry = *model_->add_metadata_props();
    entry.set_key(keys[i]);
    entry.set_value(values[i]);
  }
  if (header.has("graph_doc_string")) proto().set_doc_string(text("graph_doc_string"));
  proto().set_name(graph_.name().empty() ? "graph" : graph_.name());
  return absl::OkStatus();
}

absl::StatusOr<ValueNames> Exporter::Names() const {
  std::set<std::string> inside;
  for (const NodeId id : graph_.nodes()) {
    if (graph_.op(id) != OpKind::kOpaque) continue;
    HALFTONE_ASSIGN_OR_RETURN(const onnx::NodeProto proto, AttributesOf(graph_.node(id)));
    AddNamesInside(proto, inside);
  }
  return ValueNames::Assign(graph_, std::move(inside));
}

// Inputs, outputs and what opaque nodes make (nothing could infer that again).
absl::Status Exporter::Values(const std::vector<NodeWriter::Initializer>& initializers) {
  for (const NodeId id : graph_.inputs()) {
    HALFTONE_RETURN_IF_ERROR(AddInfo(names_.of(graph_.output(id)), graph_.output(id), *proto().add_input()));
  }
  // Before IR version 4 each initializer is an input too, and constant; since then those that are inputs are only
  // defaults.
  const bool all = model_->ir_version() < 4;
  const bool none = !all && graph_.header().Int("ir_version", 4) < 4;  // they were constant
  const Strings listed = HeaderList<Strings>(graph_, "initializer_inputs");
  const std::set<std::string> wanted(listed.begin(), listed.end());
  for (const NodeWriter::Initializer& initializer : initializers) {
    if (none || (!all && !wanted.contains(initializer.name))) continue;
    SetValueInfo(initializer.name, initializer.value.type(), initializer.value.shape(), *proto().add_input());
  }
  for (const GraphOutput& output : graph_.outputs()) {
    HALFTONE_RETURN_IF_ERROR(AddInfo(output.name, output.value, *proto().add_output()));
  }
  for (const NodeId id : graph_.nodes()) {
    if (graph_.op(id) != OpKind::kOpaque) continue;
    for (const ValueId value : graph_.node(id).outputs) {
      if (!value.valid() || graph_.type(value) == DataType::kUnknown || graph_.IsOutput(value)) continue;
      HALFTONE_RETURN_IF_ERROR(AddInfo(names_.of(value), value, *proto().add_value_info()));
    }
  }
  return absl::OkStatus();
}

absl::Status Exporter::AddInfo(const std::string& name, ValueId value, onnx::ValueInfoProto& info) const {
  const DataType type = graph_.type(value);
  if (type != DataType::kUnknown && ToOnnxType(type) == onnx::TensorProto::UNDEFINED) {
    return absl::UnimplementedError(Concat("value '", name, "': ONNX has no type ", DataTypeName(type)));
  }
  SetValueInfo(name, type, graph_.shape(value), info);
  const std::string* kept = HeaderBytes(graph_, Concat("type:", name));
  if (type == DataType::kUnknown && kept != nullptr && !ParseMessage(*kept, *info.mutable_type())) {
    return absl::InvalidArgumentError(Concat("header 'type:", name, "' is no TypeProto"));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace onnx_format

absl::StatusOr<int> OnnxOpset(const Graph& graph, const OnnxExportOptions& options) {
  const int own = onnx_format::OwnOpset(graph);
  int opset = std::max(own, options.min_opset);
  for (const NodeId id : graph.nodes()) {
    const onnx_format::OpRow* row = onnx_format::FindRow(graph.op(id), graph.node(id).spelling, graph.node(id).domain);
    if (row != nullptr) opset = std::max(opset, onnx_format::MinOpset(graph, id, *row));
  }
  if (opset > onnx_format::kMaxOpset || opset < onnx_format::kMinOpset) {
    return absl::InvalidArgumentError(
        Concat("opset ", opset, " is not supported, ", onnx_format::kMinOpset, " to ", onnx_format::kMaxOpset, " are"));
  }
  if (opset > own) HALFTONE_RETURN_IF_ERROR(onnx_format::CheckVerbatimNodes(graph, own, opset));
  return opset;
}

absl::StatusOr<std::string> ExportOnnx(const Graph& graph, const OnnxExportOptions& options) {
  if (graph.format() == GraphFormat::kGraphDef) {
    return absl::InvalidArgumentError("a graph that came from a GraphDef cannot be written as ONNX");
  }
  HALFTONE_ASSIGN_OR_RETURN(const int opset, OnnxOpset(graph, options));
  return onnx_format::Exporter(graph, opset).Run();
}

}  // namespace halftone

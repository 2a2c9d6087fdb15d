// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/exporter.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "base/version.h"
#include "formats/onnx/dialects.h"
#include "formats/onnx/element_types.h"
#include "formats/onnx/integer_groups.h"
#include "formats/onnx/node_writer.h"
#include "formats/onnx/op_map.h"
#include "formats/onnx/opsets.h"
#include "formats/onnx/serialize.h"
#include "formats/onnx/tensors.h"
#include "formats/onnx/validator.h"
#include "formats/onnx/value_infos.h"
#include "formats/onnx/verbatim.h"
#include "ir/nested.h"
#include "onnx/onnx_pb.h"

namespace halftone {
namespace onnx_format {
namespace {

constexpr char kProducer[] = "halftone";
constexpr char kSourceProducerKey[] = "source_producer";  // without "halftone.": a later run keeps it (ir/provenance.h)

using Strings = std::vector<std::string>;
using Ints = std::vector<int64_t>;

// IR version that the ONNX release of this opset had.
int64_t IrVersionOf(int opset) {
  constexpr std::pair<int, int64_t> kReleases[] = {{21, 10}, {19, 9}, {15, 8}, {12, 7}, {11, 6}, {10, 5}, {9, 4}};
  for (const auto& [since, version] : kReleases) {
    if (opset >= since) return version;
  }
  return kMinIrVersion;
}

// Domains of the operators as which canonical ops are written; the imported file may lack them.
std::set<std::string> DialectDomains(const Graph& graph) {
  std::set<std::string> domains;
  for (const Graph* part : WithNested(graph)) {
    for (const NodeId id : part->nodes()) {
      const Node& node = part->node(id);
      const OpRow* row = node.op == OpKind::kOpaque ? nullptr : FindRow(node.op, node.spelling, node.domain);
      if (row != nullptr && !row->domain.empty()) domains.emplace(row->domain);
    }
  }
  return domains;
}

class Exporter {
 public:
  Exporter(const Graph& graph, int opset, IntegerGroups groups)
      : graph_(graph), opset_(opset), groups_(std::move(groups)), model_(std::make_unique<onnx::ModelProto>()) {}

  absl::StatusOr<std::string> Run() {
    HALFTONE_RETURN_IF_ERROR(Header());
    HALFTONE_ASSIGN_OR_RETURN(ValueNames names, Names());
    names_ = names;
    // ONNX Runtime's fusions for newer opsets derive names from those of nodes, and refuse the model if two are the
    // same.
    NodeWriter writer(graph_, opset_, std::move(names), /*name_nodes=*/opset_ > OwnOpset(graph_));
    writer.SetGroups(&groups_);
    for (const NodeId id : graph_.TopologicalOrder()) HALFTONE_RETURN_IF_ERROR(writer.Write(id));
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<NodeWriter::Initializer> initializers,
                              writer.Finish(proto(), HeaderList<Strings>(graph_, "initializer_inputs")));
    HALFTONE_RETURN_IF_ERROR(Values(initializers));
    return Serialize(*model_, initializers);
  }

 private:
  onnx::GraphProto& proto() { return *model_->mutable_graph(); }
  absl::Status Header();
  void Opsets();
  void Description();
  absl::StatusOr<ValueNames> Names() const;
  absl::Status Values(const std::vector<NodeWriter::Initializer>& initializers);

  const Graph& graph_;
  const int opset_;
  const IntegerGroups groups_;
  std::unique_ptr<onnx::ModelProto> model_;
  ValueNames names_;
};

absl::Status Exporter::Header() {
  if (const std::string* rest = HeaderBytes(graph_, "rest"); rest != nullptr && !ParseMessage(*rest, *model_)) {
    return absl::InvalidArgumentError("header 'rest' is no ModelProto");
  }
  const int64_t own_version = graph_.header().Int("ir_version", IrVersionOf(opset_));
  model_->set_ir_version(opset_ > OwnOpset(graph_) ? std::max(own_version, IrVersionOf(opset_)) : own_version);
  Opsets();
  Description();
  return SetGraphHeader(graph_, proto());
}

void Exporter::Opsets() {
  const auto add = [this](const std::string& domain, int64_t version) {
    onnx::OperatorSetIdProto& opset = *model_->add_opset_import();
    opset.set_domain(domain);
    opset.set_version(version);
  };
  const Ints versions = HeaderList<Ints>(graph_, "opset");
  const Strings domains = HeaderList<Strings>(graph_, "opset_domains");
  bool has_onnx = false;
  for (size_t i = 0; i < versions.size(); ++i) {
    const std::string domain = i < domains.size() ? domains[i] : "";
    add(domain, domain.empty() ? opset_ : versions[i]);
    has_onnx |= domain.empty();
  }
  if (!has_onnx) add("", opset_);
  std::set<std::string> needed = DialectDomains(graph_);
  for (const std::string_view domain : groups_.Domains()) needed.emplace(domain);
  for (const std::string& domain : needed) {
    if (std::find(domains.begin(), domains.end(), domain) == domains.end()) add(domain, 1);
  }
}

// Who made the file, and what the imported one said of itself.
void Exporter::Description() {
  const Attributes& header = graph_.header();
  const auto text = [&header](std::string_view name) { return header.String(name, ""); };
  model_->set_producer_name(kProducer);
  model_->set_producer_version(kVersion);
  if (header.has("domain")) model_->set_domain(text("domain"));
  if (header.has("doc_string")) model_->set_doc_string(text("doc_string"));
  if (header.has("model_version")) model_->set_model_version(header.Int("model_version", 0));
  const auto add = [this](const std::string& key, const std::string& value) {
    onnx::StringStringEntryProto& entry = *model_->add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  };
  const Strings keys = HeaderList<Strings>(graph_, "metadata_keys");
  const Strings values = HeaderList<Strings>(graph_, "metadata_values");
  for (size_t i = 0; i < std::min(keys.size(), values.size()); ++i) add(keys[i], values[i]);
  const std::string source = text("producer_name"), version = text("producer_version");
  const bool known = std::find(keys.begin(), keys.end(), kSourceProducerKey) != keys.end();
  if (source.empty() || source == kProducer || known) return;  // the first of several runs has written it
  add(kSourceProducerKey, Concat(source, version.empty() ? "" : " ", version));
}

absl::StatusOr<ValueNames> Exporter::Names() const {
  NameScope scope;
  HALFTONE_RETURN_IF_ERROR(AddNamesInside(graph_, scope.reserved));
  return ValueNames::Assign(graph_, std::move(scope));
}

// Inputs, outputs and the values that opaque nodes make.
absl::Status Exporter::Values(const std::vector<NodeWriter::Initializer>& initializers) {
  for (const NodeId id : graph_.inputs()) {
    const std::string& name = names_.of(graph_.output(id));
    HALFTONE_RETURN_IF_ERROR(SetInfo(graph_, graph_.output(id), name, name, *proto().add_input()));
  }
  // Before IR version 4 each initializer is an input too, and constant; since then an
  // initializer that is an input is a default value.
  const bool all = model_->ir_version() < 4;
  const bool none = !all && graph_.header().Int("ir_version", 4) < 4;  // they were constant
  const Strings listed = HeaderList<Strings>(graph_, "initializer_inputs");
  const std::set<std::string> wanted(listed.begin(), listed.end());
  for (const NodeWriter::Initializer& initializer : initializers) {
    if (none || (!all && !wanted.contains(initializer.name))) continue;
    SetValueInfo(initializer.name, initializer.value.type(), initializer.value.shape(), *proto().add_input());
  }
  for (const GraphOutput& output : graph_.outputs()) {
    HALFTONE_RETURN_IF_ERROR(SetInfo(graph_, output.value, output.name, output.name, *proto().add_output()));
  }
  return AddOpaqueInfos(graph_, names_, proto());
}

}  // namespace
}  // namespace onnx_format

absl::StatusOr<int> OnnxOpset(const Graph& graph, const ExportOptions& options) {
  const int own = onnx_format::OwnOpset(graph);
  int opset = std::max(own, options.min_opset);
  if (options.integer_operators) opset = std::max(opset, onnx_format::IntegerGroups(graph).MinOpset());
  std::string reason = "the graph";  // what asks for the opset
  const std::vector<const Graph*> graphs = WithNested(graph);
  for (const Graph* part : graphs) {
    for (const NodeId id : part->nodes()) {
      const onnx_format::OpRow* row =
          onnx_format::FindRow(part->op(id), part->node(id).spelling, part->node(id).domain);
      const int needed = row == nullptr ? opset : onnx_format::MinOpset(*part, id, *row);
      if (needed > onnx_format::kMaxOpset) {
        return absl::UnimplementedError(Concat("node '", part->Label(id), "' (", OpName(part->op(id)),
                                               "): up to opset ", onnx_format::kMaxOpset,
                                               " ONNX has no operator for it with these types"));
      }
      if (needed <= opset) continue;
      opset = needed;
      reason = Concat("node '", part->Label(id), "' (", onnx_format::OperatorName(*part, id), ")");
    }
  }
  if (opset > onnx_format::kMaxOpset || opset < onnx_format::kMinOpset) {
    return absl::InvalidArgumentError(
        Concat("opset ", opset, " is not supported, ", onnx_format::kMinOpset, " to ", onnx_format::kMaxOpset, " are"));
  }
  if (opset == own) return opset;
  reason = Concat(reason, " needs opset ", opset, ", the model has ", own);
  for (const Graph* part : graphs) {
    HALFTONE_RETURN_IF_ERROR(Annotate(onnx_format::CheckVerbatimNodes(*part, own, opset), reason));
  }
  if (onnx_format::HeaderBytes(graph, "rest") != nullptr) {
    return absl::UnimplementedError(Concat(reason, ": its functions are passed through unchanged"));
  }
  return opset;
}

absl::StatusOr<std::string> ExportOnnx(const Graph& graph, const ExportOptions& options) {
  const std::string format = graph.header().String(kHeaderFormat, "");
  if (!format.empty() && format != OnnxDialect().name) {
    return absl::InvalidArgumentError("a graph that came from another format cannot be written as ONNX");
  }
  HALFTONE_ASSIGN_OR_RETURN(const int opset, OnnxOpset(graph, options));
  onnx_format::IntegerGroups groups;
  if (options.integer_operators) groups = onnx_format::IntegerGroups(graph);
  return onnx_format::Exporter(graph, opset, std::move(groups)).Run();
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
#include "server/worker/inspect_text.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "base/strings.h"
#include "report/json.h"
#include "server/worker/inspection.pb.h"

namespace halftone::worker {
namespace {

std::string Pad(std::string_view text, size_t width) {
  return Concat(text, std::string(text.size() < width ? width - text.size() : 0, ' '));
}

void AddPorts(const std::vector<PortSummary>& ports, std::string_view title, std::string& out) {
  for (const PortSummary& port : ports) out += Concat(Pad(title, 12), port.name, ": ", port.type, port.shape, "\n");
}

void ToProto(const std::vector<PortSummary>& ports, google::protobuf::RepeatedPtrField<InspectedPort>* proto) {
  for (const PortSummary& port : ports) {
    InspectedPort* row = proto->Add();
    row->set_name(port.name);
    row->set_type(port.type);
    row->set_shape(port.shape);
  }
}

// "T", or "T[1]" in a list.
std::string TypeName(const PlanRow& row) {
  return row.index < 0 ? row.type_attr : Concat(row.type_attr, "[", row.index, "]");
}

}  // namespace

std::string SummaryText(const ModelSummary& summary, const std::string& model) {
  std::string out = Concat(Pad("model", 12), model, "\n", Pad("format", 12), summary.format);
  for (size_t i = 0; i < summary.opset.size(); ++i) {
    const std::string domain = i < summary.opset_domains.size() ? summary.opset_domains[i] : "";
    out += Concat(i == 0 ? ", opset " : ", ", domain, domain.empty() ? "" : " ", summary.opset[i]);
  }
  out += "\n";
  AddPorts(summary.inputs, "input", out);
  AddPorts(summary.outputs, "output", out);
  out += Concat(Pad("nodes", 12), summary.nodes, "\n");
  out += absl::StrFormat("%s%d in %.2f MB\n", Pad("parameters", 12), summary.parameters,
                         static_cast<double>(summary.parameter_bytes) / 1e6);
  for (const auto& [key, value] : summary.provenance) {
    out += Concat(Pad(key, 24), value, "\n");
  }
  out += "ops\n";
  for (const OpSummary& op : summary.ops) {
    out += absl::StrFormat("%8d  %s%s\n", op.count, op.op, op.runs ? "" : "   (opaque: kept as it is, cannot run)");
  }
  return out;
}

std::string SummaryJson(const ModelSummary& summary, const std::string& model) {
  Inspection proto;
  proto.set_model(model);
  proto.set_format(summary.format);
  for (const int64_t opset : summary.opset) proto.add_opset(opset);
  for (const std::string& domain : summary.opset_domains) proto.add_opset_domains(domain);
  ToProto(summary.inputs, proto.mutable_inputs());
  ToProto(summary.outputs, proto.mutable_outputs());
  proto.set_nodes(summary.nodes);
  proto.set_parameters(summary.parameters);
  proto.set_parameter_bytes(summary.parameter_bytes);
  for (const auto& [key, value] : summary.provenance) (*proto.mutable_provenance())[key] = value;
  for (const OpSummary& op : summary.ops) {
    InspectedOp* row = proto.add_ops();
    row->set_op(op.op);
    row->set_count(op.count);
    row->set_runs(op.runs);
  }
  return report::MessageToJson(proto);
}

std::string PlanText(const std::vector<PlanRow>& rows, const std::string& summary) {
  size_t name = 4;
  size_t op = 2;
  size_t type = 2;
  size_t list = 5;
  for (const PlanRow& row : rows) {
    name = std::max(name, row.node.size());
    op = std::max(op, row.op.size());
    type = std::max(type, TypeName(row).size());
    list = std::max(list, row.list.size());
  }
  std::string out;
  for (const PlanRow& row : rows) {
    out += Concat(Pad(row.planned_type, 6), Pad(row.node, name + 2), Pad(row.op, op + 2), Pad(TypeName(row), type + 2),
                  Pad(row.list, list + 2), row.reason, "\n");
  }
  return Concat(out, summary, "\n");
}

std::string PlanJson(const std::vector<PlanRow>& rows, const std::string& summary) {
  InspectedPlan proto;
  proto.set_summary(summary);
  for (const PlanRow& row : rows) {
    InspectedPlanRow* out = proto.add_rows();
    out->set_node(row.node);
    out->set_op(row.op);
    out->set_type_attr(row.type_attr);
    out->set_index(row.index);
    out->set_list(row.list);
    out->set_planned_type(row.planned_type);
    out->set_step(row.step);
    out->set_reason(row.reason);
    out->set_applied(row.applied);
    out->set_rule(row.rule);
  }
  return report::MessageToJson(proto);
}

}  // namespace halftone::worker

// SPDX-License-Identifier: Apache-2.0
#include "optimizer/inspect.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/strings.h"
#include "formats/dialects.h"
#include "ir/editor.h"
#include "ir/provenance.h"
#include "ir/reference/reference.h"
#include "ir/shape_inference.h"
#include "passes/precision/op_lists.h"
#include "passes/precision/type_variables.h"

namespace halftone {
namespace {

PortSummary PortOf(const std::string& name, const Graph& graph, ValueId value) {
  return {name, std::string(DataTypeName(graph.type(value))), graph.shape(value).ToString()};
}

}  // namespace

ModelSummary Summarize(const Graph& imported) {
  Graph graph = imported;
  GraphEditor edit(graph);
  InferShapes(edit)
      .IgnoreError();  // only for the shapes of outputs; a model that contradicts itself is told about when it is run
  ModelSummary summary;
  summary.format = ModelFormatName(WrittenFormat(graph));
  summary.provenance = ProvenanceRows(graph);
  summary.opset = graph.header().Ints("opset");
  if (const AttributeValue* domains = graph.header().find("opset_domains")) {
    if (const auto* names = std::get_if<std::vector<std::string>>(domains)) summary.opset_domains = *names;
  }
  for (const NodeId id : graph.inputs()) summary.inputs.push_back(PortOf(graph.Label(id), graph, graph.output(id)));
  for (const GraphOutput& output : graph.outputs()) summary.outputs.push_back(PortOf(output.name, graph, output.value));
  std::map<std::string, OpSummary> ops;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.op == OpKind::kInput) continue;
    if (node.op == OpKind::kConstant) {
      const Tensor* tensor = graph.ConstantTensor(graph.output(id));
      if (tensor == nullptr) continue;
      summary.parameters += tensor->num_elements();
      summary.parameter_bytes += static_cast<int64_t>(tensor->byte_size());
      continue;
    }
    const bool opaque = node.op == OpKind::kOpaque;
    const std::string name =
        opaque ? Concat(node.domain, node.domain.empty() ? "" : ".", node.spelling) : std::string(OpName(node.op));
    OpSummary& row = ops[name];
    row.op = name;
    row.runs = CanRun(node);
    ++row.count;
    ++summary.nodes;
  }
  for (auto& [name, row] : ops) summary.ops.push_back(row);
  std::stable_sort(summary.ops.begin(), summary.ops.end(),
                   [](const OpSummary& a, const OpSummary& b) { return a.count > b.count; });
  return summary;
}

std::vector<std::string> RunnableOps() {
  std::vector<std::string> names;
  for (int i = 0; i < kNumOps; ++i) {
    const OpKind op = static_cast<OpKind>(i);
    if (reference::HasReference(op)) names.emplace_back(OpName(op));
  }
  return names;
}

namespace {

void Apply(const Decision& decision, PlanRow& row) {
  row.applied = DataTypeName(decision.type);
  row.rule = decision.rule;
}

// A rule of the policy is over the planner.
void Override(const Decision& decision, PlanRow& row) {
  if (!decision.rule.starts_with("policy.")) return;
  row.planned_type = DataTypeName(decision.type);
  row.step = decision.step;
  row.reason = decision.reason;
}

std::vector<PlanRow> AttributeRows(const Graph& graph, const PlannedPrecision& planned) {
  std::vector<PlanRow> rows;
  for (const TypeAttributeDecision& from : planned.attributes) {
    PlanRow row;
    row.node = from.node;
    row.op = from.op;
    row.type_attr = from.type_attr;
    row.index = from.index;
    row.list = from.list;
    row.planned_type = DataTypeName(from.type);
    row.step = from.step;
    row.reason = from.reason;
    if (from.id.valid()) {
      const auto it = planned.plan.decisions.find({from.id, PlannedVariable(graph.op(from.id))});
      if (it != planned.plan.decisions.end()) {
        Apply(it->second, row);
        Override(it->second, row);
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::vector<PlanRow> PlanRows(const Graph& graph, const PlannedPrecision& planned) {
  if (!planned.attributes.empty()) return AttributeRows(graph, planned);
  std::vector<PlanRow> rows;
  const auto& decisions = planned.plan.decisions;
  for (const NodeId id : graph.nodes()) {
    for (auto it = decisions.lower_bound({id, '\0'}); it != decisions.end() && it->first.first == id; ++it) {
      const Decision& decision = it->second;
      PlanRow row;
      row.node = graph.Label(id);
      row.op = TensorFlowOp(graph, id, TensorFlowDialectOf(graph));
      row.type_attr = decision.type_attribute;
      row.list = decision.list;
      row.planned_type = DataTypeName(decision.type);
      row.step = decision.step;
      row.reason = decision.reason;
      Apply(decision, row);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace halftone

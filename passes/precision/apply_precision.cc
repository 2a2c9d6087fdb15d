#include "passes/precision/apply_precision.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "passes/fusion/contraction.h"
#include "passes/precision/type_variables.h"

namespace halftone {
namespace {

// Converts one graph. Types of values before any edit are remembered: they are what unpainted readers want.
class Converter {
 public:
  Converter(GraphEditor& edit, const PrecisionPlan& plan)
      : edit_(edit), g_(edit.graph()), plan_(plan), nodes_(g_.nodes()) {
    for (int i = 0; i < g_.num_values(); ++i) before_.push_back(g_.type(ValueId{i}));
  }

  absl::Status Run() {
    for (const NodeId id : nodes_) PaintOutputs(id);
    for (const NodeId id : nodes_) {
      for (size_t i = 0; i < g_.node(id).inputs.size(); ++i) {
        HALFTONE_RETURN_IF_ERROR(FixInput(id, static_cast<int>(i)));
      }
    }
    return FixOutputs();
  }

 private:
  // The type that is planned for one type variable of a node; kFloat32 where it keeps its own.
  DataType Planned(NodeId id, char variable) const {
    const OpKind op = g_.op(id);
    if (op == OpKind::kOpaque || op == OpKind::kInput || op == OpKind::kConstant || variable == kFree) {
      return DataType::kFloat32;
    }
    return plan_.TypeOf(g_, id, variable);
  }

  // Whether the plan leaves the result of this contraction f32, whatever it reads.
  bool HasF32Output(NodeId id) const {
    const OpKind op = g_.op(id);
    const Decision* decision = plan_.Find(g_, id, kData);
    return (op == OpKind::kConv || op == OpKind::kMatMul) && decision != nullptr && decision->f32_output;
  }

  void PaintOutputs(NodeId id) {
    const std::vector<ValueId> outputs = g_.node(id).outputs;
    bool painted = false;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].valid() || g_.type(outputs[i]) != DataType::kFloat32) continue;
      const DataType type = Planned(id, OutputVariable(g_, id, static_cast<int>(i)));
      if (type == DataType::kFloat32) continue;
      painted = true;
      if (!HasF32Output(id)) edit_.SetType(outputs[i], type);
    }
    if (painted && g_.node(id).spelling == "FusedBatchNorm") edit_.SetSpelling(id, "FusedBatchNormV2");
  }

  // The type in which node `id` reads its input `i`, whose value was of type `before`.
  DataType WantedType(NodeId id, int i, DataType before) const {
    if (before != DataType::kFloat32) return before;
    const DataType planned = Planned(id, InputVariable(g_, id, i));
    return planned == DataType::kFloat32 ? before : planned;
  }

  absl::Status FixInput(NodeId id, int i) {
    const ValueId value = g_.input(id, i);
    if (!value.valid() || static_cast<size_t>(value.index) >= before_.size()) return absl::OkStatus();
    const OpKind op = g_.op(id);
    if (op == OpKind::kCast || op == OpKind::kShape) return absl::OkStatus();  // these read any type
    const DataType wanted = WantedType(id, i, before_[value.index]);
    if (g_.type(value) == wanted) return absl::OkStatus();
    HALFTONE_ASSIGN_OR_RETURN(const ValueId converted, Convert(value, wanted));
    // A subgraph reads by name: the name goes where the type is the old one.
    const Node& node = g_.node(id);
    const int capture = i - static_cast<int>(node.inputs.size() - node.captures.size());
    const bool captured = capture >= 0 && !node.captures[capture].empty();
    edit_.SetInput(id, i, converted);
    if (captured && renamed_.insert(value).second) MoveNames(value, converted);
    return absl::OkStatus();
  }

  // An output whose value was lowered reads a cast, which takes over the name.
  absl::Status FixOutputs() {
    std::vector<GraphOutput> outputs = g_.outputs();
    for (GraphOutput& output : outputs) {
      const ValueId value = output.value;
      if (static_cast<size_t>(value.index) >= before_.size() || g_.type(value) == before_[value.index]) continue;
      HALFTONE_ASSIGN_OR_RETURN(output.value, Convert(value, before_[value.index]));
      if (renamed_.insert(value).second) MoveNames(value, output.value);
    }
    bool changed = false;
    for (size_t i = 0; i < outputs.size(); ++i) changed = changed || outputs[i].value != g_.outputs()[i].value;
    if (changed) edit_.SetGraphOutputs(std::move(outputs));
    return absl::OkStatus();
  }

  // The cast `to` takes over the names by which callers know the output `from`; in a GraphDef these are names of nodes.
  void MoveNames(ValueId from, ValueId to) {
    const NodeId producer = g_.producer(from);
    const std::string node_name = g_.node(producer).name;
    if (!node_name.empty() && g_.node(producer).outputs.size() == 1) {
      edit_.SetName(producer, FreshName(g_, Concat(node_name, "/", DataTypeName(g_.type(from)))));
      edit_.SetName(g_.producer(to), node_name);
    }
    const std::string value_name = g_.value(from).name;
    if (value_name.empty()) return;
    edit_.SetValueName(from, "");
    edit_.SetValueName(to, value_name);
  }

  absl::StatusOr<ValueId> Convert(ValueId value, DataType type) {
    const auto key = std::pair(value, type);
    if (const auto it = converted_.find(key); it != converted_.end()) return it->second;
    ValueId result;
    if (g_.IsConstant(value)) {
      HALFTONE_ASSIGN_OR_RETURN(result, ConvertConstant(value, type));
    } else {
      const NodeId from = g_.producer(value);
      Node cast;
      cast.op = OpKind::kCast;
      cast.name = FreshName(
          g_, Concat(g_.value(value).name.empty() ? g_.Label(from) : g_.value(value).name, "/", DataTypeName(type)));
      cast.inputs = {value};
      cast.device = g_.node(from).device;
      result = g_.output(edit_.AddNode(std::move(cast), {{type, g_.shape(value), ""}}));
    }
    converted_.emplace(key, result);
    return result;
  }

  // A copy of the constant's node (in a loop it has control inputs), so that both forms can be read; the old one dies
  // of disuse.
  absl::StatusOr<ValueId> ConvertConstant(ValueId value, DataType type) {
    absl::StatusOr<Tensor> tensor = g_.ConstantTensor(value)->ConvertTo(type);
    if (!tensor.ok())
      return Annotate(tensor.status(), AbslView(Concat("constant '", g_.Label(g_.producer(value)), "'")));
    const NodeId old = g_.producer(value);
    const std::string name = g_.node(old).name;
    const NodeId copy = edit_.Clone(old);
    const std::string fresh = name.empty() ? "" : FreshName(g_, Concat(name, "/", DataTypeName(type)));
    edit_.SetName(copy, fresh);
    edit_.SetAttribute(copy, "value", *std::move(tensor));
    edit_.SetType(g_.output(copy), type);
    if (!g_.value(value).name.empty())
      edit_.SetValueName(g_.output(copy), fresh.empty() ? FreshName(g_, g_.value(value).name) : fresh);
    return g_.output(copy);
  }

  GraphEditor& edit_;
  const Graph& g_;
  const PrecisionPlan& plan_;
  const std::vector<NodeId> nodes_;
  std::vector<DataType> before_;  // by ValueId::index
  std::map<std::pair<ValueId, DataType>, ValueId> converted_;
  std::set<ValueId> renamed_;  // outputs and captured values whose cast has their name
};

}  // namespace

absl::Status ApplyPrecision::Run(GraphEditor& edit, PassContext& context) const {
  const int64_t before = edit.edits();
  HALFTONE_RETURN_IF_ERROR(Converter(edit, plan_).Run());
  if (context.log == nullptr || edit.edits() == before) return absl::OkStatus();
  const Graph& g = edit.graph();
  for (const NodeId id : g.nodes()) {
    const Decision* decision = plan_.Find(g, id, PaintedVariable(g.op(id)));
    if (decision != nullptr && decision->IsLowered()) context.log->Applied(name(), g, id, decision->reason);
  }
  return absl::OkStatus();
}

}  // namespace halftone

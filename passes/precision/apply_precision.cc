// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/apply_precision.h"

#include <optional>
#include <vector>

#include "base/status.h"
#include "passes/precision/type_changes.h"
#include "passes/precision/type_variables.h"

namespace halftone {
namespace {

class Converter final : public TypeChanges {
 public:
  Converter(GraphEditor& edit, const PrecisionPlan& plan) : TypeChanges(edit), plan_(plan) {}

  absl::Status Run() {
    for (const NodeId id : nodes_) SetOutputTypes(id);
    return FixReaders();
  }

 private:
  // The planned type of one type variable of a node; kFloat32 if it stays unchanged.
  DataType Planned(NodeId id, char variable) const {
    const OpKind op = g_.op(id);
    if (op == OpKind::kOpaque || op == OpKind::kInput || op == OpKind::kConstant || variable == kFree) {
      return DataType::kFloat32;
    }
    return plan_.TypeOf(g_, id, variable);
  }

  // Whether the plan keeps the result of this contraction f32 although it reads a reduced type.
  bool HasF32Output(NodeId id) const {
    const OpKind op = g_.op(id);
    const Decision* decision = plan_.Find(g_, id, kData);
    return (op == OpKind::kConv || op == OpKind::kMatMul) && decision != nullptr && decision->f32_output;
  }

  void SetOutputTypes(NodeId id) {
    const std::vector<ValueId> outputs = g_.node(id).outputs;
    bool changed = false;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].valid() || g_.type(outputs[i]) != DataType::kFloat32) continue;
      const DataType type = Planned(id, OutputVariable(g_, id, static_cast<int>(i)));
      if (type == DataType::kFloat32) continue;
      changed = true;
      if (!HasF32Output(id)) edit_.SetType(outputs[i], type);
    }
    if (changed && g_.node(id).spelling == "FusedBatchNorm") edit_.SetSpelling(id, "FusedBatchNormV2");
  }

  std::optional<DataType> Wanted(NodeId id, int i, DataType before) const override {
    const OpKind op = g_.op(id);
    if (op == OpKind::kCast || op == OpKind::kShape) return std::nullopt;  // these read any type
    if (before != DataType::kFloat32) return before;
    return Planned(id, InputVariable(g_, id, i));
  }

  absl::StatusOr<ValueId> MakeConverted(ValueId value, DataType type) override {
    if (g_.IsConstant(value)) return CopyConstant(value, type);
    return g_.output(AddCast(value, type));
  }

  const PrecisionPlan& plan_;
};

}  // namespace

absl::Status ApplyPrecision::Run(GraphEditor& edit, PassContext& context) const {
  const int64_t before = edit.edits();
  HALFTONE_RETURN_IF_ERROR(Converter(edit, plan_).Run());
  if (context.log == nullptr || edit.edits() == before) return absl::OkStatus();
  const Graph& g = edit.graph();
  for (const NodeId id : g.nodes()) {
    const Decision* decision = plan_.Find(g, id, PlannedVariable(g.op(id)));
    if (decision != nullptr && decision->IsReduced()) context.log->Applied(name(), g, id, decision->reason);
  }
  return absl::OkStatus();
}

}  // namespace halftone

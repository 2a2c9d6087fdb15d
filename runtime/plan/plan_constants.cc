// SPDX-License-Identifier: Apache-2.0
// What of a graph is needed, what of it is known before it runs, and whether the rest can run.
#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/reference/reference.h"
#include "runtime/plan/control.h"
#include "runtime/plan/plan_builder_internal.h"
#include "runtime/plan/quantized_node.h"
#include "runtime/plan/runnable.h"

namespace halftone {

bool PlanBuilder::IsRead(ValueId value) const {
  return value.valid() && (!graph_.uses(value).empty() || graph_.IsOutput(value));
}

bool PlanBuilder::IsFolded(NodeId node) const {
  bool any = false;
  for (const ValueId output : graph_.node(node).outputs) {
    if (!IsRead(output)) continue;
    if (!At(output).constant.has_value()) return false;
    any = true;
  }
  return any;
}

namespace {

bool IsEmpty(const std::vector<int64_t>& dims) { return std::find(dims.begin(), dims.end(), 0) != dims.end(); }

}  // namespace

// Constant lists of no elements (axes, a resize's roi) are not meant, but where they are data.
bool PlanBuilder::HasEmptyInput(NodeId node) const {
  const bool lists_are_data = graph_.op(node) == OpKind::kConcat;
  const std::vector<ValueId>& inputs = graph_.node(node).inputs;
  return std::any_of(inputs.begin(), inputs.end(), [&](ValueId input) {
    if (!input.valid() || !IsEmpty(At(input).dims)) return false;
    return lists_are_data || !At(input).constant.has_value() || At(input).dims.size() != 1;
  });
}

bool PlanBuilder::OutputsAreEmpty(NodeId node) const {
  const std::vector<ValueId>& outputs = graph_.node(node).outputs;
  return std::all_of(outputs.begin(), outputs.end(),
                     [&](ValueId output) { return !IsRead(output) || IsEmpty(At(output).dims); });
}

// Every size in bytes that is computed from here on fits into 64 bits, also where a layout pads.
absl::Status PlanBuilder::CheckSizes() const {
  for (const NodeId node : needed_) {
    for (const ValueId output : graph_.node(node).outputs) {
      if (!output.valid()) continue;
      const Shape& shape = graph_.shape(output);
      if (!shape.has_rank() || !shape.fully_known()) continue;
      HALFTONE_RETURN_IF_ERROR(CheckSize(graph_, output, shape.values(), request_.most_value_bytes));
    }
  }
  return absl::OkStatus();
}

// Fills in dimensions, and the tensors of whatever depends on constants and known shapes only.
absl::Status PlanBuilder::FindConstants() {
  for (const NodeId id : needed_) {
    const Node& node = graph_.node(id);
    for (const ValueId output : node.outputs) {
      if (!output.valid()) continue;
      const Shape& shape = graph_.shape(output);
      if (shape.has_rank() && shape.fully_known()) At(output).dims = shape.values();
    }
    if (node.op == OpKind::kConstant) {
      At(node.outputs[0]).constant = *graph_.ConstantTensor(node.outputs[0]);
    } else if (node.op != OpKind::kInput && reference::HasReference(node.op) && !IsControlFlow(node.op)) {
      HALFTONE_RETURN_IF_ERROR(FoldNode(id));
    }
    for (const ValueId output : node.outputs) {
      if (output.valid() && At(output).constant.has_value()) At(output).dims = At(output).constant->dims();
    }
  }
  return absl::OkStatus();
}

absl::Status PlanBuilder::FoldNode(NodeId id) {
  const Node& node = graph_.node(id);
  std::vector<Tensor> inputs;
  // What is large is left to a kernel, in each run: nothing reads to hold it.
  constexpr int64_t kMostFoldedElements = int64_t{1} << 26;
  bool constant = !node.inputs.empty();
  for (const ValueId output : node.outputs) {
    if (output.valid() && CheckedProduct(At(output).dims).value_or(0) > kMostFoldedElements) constant = false;
  }
  for (const ValueId input : node.inputs) {
    if (input.valid() && !At(input).constant.has_value()) constant = false;
    if (!constant) break;
    inputs.push_back(input.valid() ? *At(input).constant : Tensor());
  }
  if (constant) {
    HALFTONE_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, reference::EvaluateNode(graph_, id, inputs));
    for (size_t i = 0; i < outputs.size() && i < node.outputs.size(); ++i) {
      if (node.outputs[i].valid() && outputs[i].type() != DataType::kUnknown)
        At(node.outputs[i]).constant = std::move(outputs[i]);
    }
  } else if (node.outputs.size() == 1 && node.outputs[0].valid() && IsInteger(graph_.type(node.outputs[0])) &&
             !IsQuantized(graph_, id)) {
    At(node.outputs[0]).constant = known_.Known(node.outputs[0]);
  }
  if (IsFolded(id)) plan_.steps.push_back(PlannedStep{.info = Describe(id, {StepKind::kConstant, "constant"})});
  return absl::OkStatus();
}

absl::Status PlanBuilder::CheckRunnable() const {
  std::vector<std::string> refusals;
  for (const NodeId id : needed_) {
    if (IsFolded(id)) continue;
    const std::string why = WhyNodeCannotRun(graph_, id, backend_);
    if (!why.empty()) {
      refusals.push_back(why);
      continue;
    }
    for (const ValueId output : graph_.node(id).outputs) {
      if (!IsRead(output)) continue;
      const Shape& shape = graph_.shape(output);
      if (!shape.has_rank() || !shape.fully_known()) {
        refusals.push_back(
            Concat("'", graph_.Label(id), "' (the shape of its output is not known: ", shape.ToString(), ")"));
        break;
      }
    }
  }
  return CannotRun(refusals);
}

void PlanBuilder::CountUses() {
  for (const NodeId node : needed_) {
    for (const ValueId input : graph_.node(node).inputs) {
      if (input.valid()) ++At(input).uses_left;
    }
  }
  for (const GraphOutput& output : graph_.outputs()) ++At(output.value).uses_left;
}

}  // namespace halftone

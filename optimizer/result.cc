// SPDX-License-Identifier: Apache-2.0
#include "optimizer/result.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "ir/ops.h"

namespace halftone {
namespace {

// Which steps run by reference functions, and how much of the time they take.
void AddReferenceShare(VariantResult& variant) {
  double total = 0, by_reference = 0;
  std::vector<const StepReport*> slow;
  for (const NodeResult& node : variant.nodes) {
    total += node.step.median_us;
    if (!node.step.kernel.slow) continue;
    by_reference += node.step.median_us;
    slow.push_back(&node.step);
  }
  std::stable_sort(slow.begin(), slow.end(),
                   [](const StepReport* a, const StepReport* b) { return a->median_us > b->median_us; });
  variant.reference_share = total > 0 ? by_reference / total : 0;
  for (const StepReport* step : slow) variant.reference_nodes.push_back(Concat(step->name, " (", step->op, ")"));
}

bool Runs(const StepReport& step, OpKind op) { return step.op == OpName(op); }

bool Casts(const StepReport& step) { return step.kind == StepKind::kConversion || Runs(step, OpKind::kCast); }

// Whether a step reads integers only to make numbers of them, or the other way round.
bool Converts(const StepReport& step) {
  return Casts(step) || Runs(step, OpKind::kQuantizeLinear) || Runs(step, OpKind::kDequantizeLinear);
}

// Steps of a run that convert between floating types and nothing else: casts of the file and conversions that the plan
// put in.
int64_t CountConversionSteps(const std::vector<NodeResult>& nodes) {
  const auto is_float = [](const std::string& type) { return type == "f32" || type == "bf16" || type == "f16"; };
  return std::count_if(nodes.begin(), nodes.end(), [&](const NodeResult& node) {
    const StepReport& step = node.step;
    return Casts(step) && DoesWork(step.kind) && step.src_type != step.dst_type && is_float(step.src_type) &&
           is_float(step.dst_type);
  });
}

}  // namespace

void AddNodes(std::vector<StepReport> steps, VariantResult& variant) {
  const bool original = variant.kind == VariantKind::kOriginal;
  const std::map<std::string, Reason> reasons = ByName(variant.decisions);
  for (StepReport& step : steps) {
    NodeResult node;
    node.reason = original ? Reason{"baseline.original", "as the file has it"} : ReasonOf(step.name, reasons);
    const auto reads = [&step](std::string_view type) { return step.src_type == type || step.weights_type == type; };
    if (reads("bf16")) node.precision = VariantKind::kBf16;
    if (reads("f16")) node.precision = VariantKind::kFp16;
    if (!original && !Converts(step) && (reads("u8") || reads("s8"))) node.precision = VariantKind::kInt8;
    node.step = std::move(step);
    variant.nodes.push_back(std::move(node));
  }
  variant.casts.run = CountConversionSteps(variant.nodes);
  AddReferenceShare(variant);
}

}  // namespace halftone

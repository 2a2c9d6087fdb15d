// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/kernel.h"

#include "base/strings.h"

namespace halftone {

absl::Status CheckFloatInputs(const Graph& graph, std::span<const ValueId> inputs) {
  constexpr TypeSet kTypes = {DataType::kUnknown, DataType::kFloat32, DataType::kBFloat16, DataType::kFloat16};
  for (const ValueId input : inputs) {
    if (input.valid() && !kTypes.Has(graph.type(input)))
      return absl::UnimplementedError(Concat("no kernel for inputs of ", DataTypeName(graph.type(input))));
  }
  return absl::OkStatus();
}

bool NodeContext::OutputUsed(int i) const {
  const ValueId value = graph().output(id(), i);
  return value.valid() && (!graph().uses(value).empty() || graph().IsOutput(value));
}

std::optional<std::vector<int64_t>> NodeContext::ConstantInts(int i) const {
  const Tensor* tensor = HasInput(i) ? Constant(i) : nullptr;
  if (tensor == nullptr || !IsInteger(tensor->type())) return std::nullopt;
  return tensor->ToInts();
}

std::optional<double> NodeContext::ConstantScalar(int i) const {
  const Tensor* tensor = HasInput(i) ? Constant(i) : nullptr;
  if (tensor == nullptr || tensor->num_elements() != 1 || ElementSize(tensor->type()) == 0) return std::nullopt;
  return tensor->ToDoubles()[0];
}

}  // namespace halftone

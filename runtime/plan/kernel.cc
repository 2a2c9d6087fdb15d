#include "runtime/plan/kernel.h"

namespace halftone {

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

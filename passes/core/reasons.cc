// SPDX-License-Identifier: Apache-2.0
#include "passes/core/reasons.h"

#include "absl/strings/str_join.h"
#include "base/strings.h"

namespace halftone {
namespace {

constexpr int64_t kFew = 4;

}  // namespace

std::string Describe(const Graph& graph, ValueId value) {
  if (!value.valid()) return "nothing";
  const std::string& name = graph.value(value).name;
  std::string text = Concat("'", name.empty() ? graph.Label(graph.producer(value)) : name, "' ",
                            DataTypeName(graph.type(value)), graph.shape(value).ToString());
  const Tensor* tensor = graph.ConstantTensor(value);
  const bool numbers = tensor != nullptr && (IsFloatingPoint(tensor->type()) || IsInteger(tensor->type()));
  if (numbers && tensor->num_elements() <= kFew) text += Concat(" {", absl::StrJoin(tensor->ToDoubles(), ", "), "}");
  return text;
}

std::string Describe(const Graph& graph, NodeId node, const absl::Status& refused) {
  return Concat("'", graph.Label(node), "' (", OpName(graph.op(node)), "): ", refused.message());
}

std::string DescribeBoth(std::string_view what, const Graph& graph, ValueId a, ValueId b) {
  return Concat(what, ": ", Describe(graph, a), " and ", Describe(graph, b));
}

}  // namespace halftone

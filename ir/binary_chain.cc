// SPDX-License-Identifier: Apache-2.0
#include "ir/binary_chain.h"

#include <optional>
#include <string>

#include "base/strings.h"

namespace halftone {
namespace {

struct Row {
  std::string_view name;
  ChainStep step;
};

constexpr Row kSteps[] = {
    {"add", {OpKind::kAdd, false}},     {"sub", {OpKind::kSub, false}},     {"rsub", {OpKind::kSub, true}},
    {"mul", {OpKind::kMul, false}},     {"div", {OpKind::kDiv, false}},     {"rdiv", {OpKind::kDiv, true}},
    {"max", {OpKind::kMaximum, false}}, {"min", {OpKind::kMinimum, false}},
};

std::optional<ChainStep> StepFromName(std::string_view name) {
  for (const Row& row : kSteps) {
    if (row.name == name) return row.step;
  }
  return std::nullopt;
}

}  // namespace

std::string_view ChainStepName(const ChainStep& step) {
  for (const Row& row : kSteps) {
    if (row.step == step) return row.name;
  }
  return "";
}

absl::StatusOr<std::vector<ChainStep>> StepsOfChain(const Node& node) {
  const AttributeValue* value = node.attributes.find("ops");
  const auto* words = value == nullptr ? nullptr : std::get_if<std::vector<std::string>>(value);
  if (words == nullptr || words->empty()) {
    return absl::InvalidArgumentError("attribute 'ops' is missing: need a word for each input but the first");
  }
  if (words->size() + 1 != node.inputs.size()) {
    return absl::InvalidArgumentError(Concat("attribute 'ops' has ", words->size(), " words for ", node.inputs.size(),
                                             " inputs, need one for each but the first"));
  }
  std::vector<ChainStep> steps;
  for (const std::string& word : *words) {
    const std::optional<ChainStep> step = StepFromName(word);
    if (!step.has_value()) {
      return absl::InvalidArgumentError(
          Concat("attribute 'ops' has '", word, "', need add, sub, rsub, mul, div, rdiv, max or min"));
    }
    steps.push_back(*step);
  }
  return steps;
}

}  // namespace halftone

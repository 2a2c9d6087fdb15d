// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/meaning.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace halftone::graphdef {

void SayWhatIsMeant(const NodeContext& context, ConvertedNode& result) {
  Node& node = result.node;
  const auto ints = [&]() -> std::optional<std::vector<int64_t>> {
    const int input = result.inputs.size() > 1 ? result.inputs[1] : kAbsentInput;
    return input < 0 ? std::nullopt : context.constant_ints(input);
  };
  const std::span<const std::string_view> names = Info(node.op).attributes;
  if (std::ranges::find(names, "noop_with_empty_axes") != names.end()) {
    const auto axes = ints();
    if (!axes.has_value() || axes->empty()) node.attributes.Set("noop_with_empty_axes", true);
  } else if (node.op == OpKind::kReshape) {
    const auto dims = ints();
    const bool has_zero = !dims.has_value() || std::find(dims->begin(), dims->end(), 0) != dims->end();
    if (has_zero) node.attributes.Set("allowzero", true);
  } else if (node.op == OpKind::kBatchNorm && node.attributes.Bool("is_training", false)) {
    node.attributes.Set("statistics", "batch");
  }
}

}  // namespace halftone::graphdef

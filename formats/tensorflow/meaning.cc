#include "formats/tensorflow/meaning.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace halftone::graphdef {

void SayWhatIsMeant(const NodeContext& context, ConvertedNode& result) {
  Node& node = result.node;
  const auto ints = [&]() -> std::optional<std::vector<int64_t>> {
    const int input = result.inputs.size() > 1 ? result.inputs[1] : kAbsentInput;
    return input < 0 ? std::nullopt : context.constant_ints(input);
  };
  if (Info(node.op).group == OpGroup::kReduce) {
    const auto axes = ints();
    const bool names_some = axes.has_value() && !axes->empty();
    if (!names_some && RowsOf(node.op).front()->order.empty()) node.attributes.Set("noop_with_empty_axes", true);
  } else if (node.op == OpKind::kReshape) {
    const auto dims = ints();
    const bool has_zero = !dims.has_value() || std::find(dims->begin(), dims->end(), 0) != dims->end();
    if (has_zero) node.attributes.Set("allowzero", true);
  } else if (node.op == OpKind::kBatchNorm && node.attributes.Bool("is_training", false)) {
    node.attributes.Set("statistics", "batch");
  }
}

}  // namespace halftone::graphdef

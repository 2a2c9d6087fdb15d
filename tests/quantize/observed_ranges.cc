// SPDX-License-Identifier: Apache-2.0
#include "tests/quantize/observed_ranges.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ir/editor.h"
#include "ir/reference/reference.h"
#include "passes/core/bind_inputs.h"

namespace halftone {

ValueRanges ObservedRanges(const Graph& graph, uint64_t seed) {
  ValueRanges ranges;
  if (HasFreeInputs(graph)) return ranges;
  Graph observed = graph;
  GraphEditor edit(observed);
  const size_t own_outputs = graph.outputs().size();
  for (const NodeId id : graph.nodes()) {
    for (const ValueId value : graph.node(id).outputs) {
      if (value.valid() && graph.type(value) == DataType::kFloat32) edit.AddGraphOutput(RangeName(graph, value), value);
    }
  }
  const absl::StatusOr<std::vector<Tensor>> outputs =
      reference::EvaluateGraph(observed, reference::RandomInputs(graph, seed));
  for (size_t i = own_outputs; outputs.ok() && i < outputs->size(); ++i) {
    ValueRange range;
    bool finite = true;
    for (const float number : (*outputs)[i].ToFloats()) {
      finite = finite && std::isfinite(number);
      range.min = std::min(range.min, number);
      range.max = std::max(range.max, number);
    }
    if (finite) ranges.values[observed.outputs()[i].name] = range;
  }
  return ranges;
}

}  // namespace halftone

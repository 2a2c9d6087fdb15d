// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/bound_shapes.h"

#include <algorithm>

#include "ir/editor.h"
#include "ir/shape_inference.h"
#include "runtime/plan/runnable.h"

namespace halftone {
namespace {

// Which declared shapes of computed values are forgotten before they are inferred.
enum class Forget { kUncertain, kAll };

void Apply(const KnownDims& known, Forget forget, Graph& graph) {
  GraphEditor edit(graph);
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.op == OpKind::kConstant) continue;
    for (const ValueId output : node.outputs) {
      if (!output.valid()) continue;
      if (const auto it = known.find(output); it != known.end()) {
        edit.SetShape(output, Shape::Of(it->second));
      } else if (node.op != OpKind::kInput && node.op != OpKind::kOpaque &&
                 (forget == Forget::kAll || !graph.shape(output).fully_known())) {
        edit.SetShape(output, Shape());
      }
    }
  }
}

}  // namespace

absl::Status InferFrom(const KnownDims& known, Graph& graph) {
  Apply(known, Forget::kUncertain, graph);
  {
    GraphEditor edit(graph);
    if (const absl::Status status = InferShapes(edit); status.ok()) return status;
  }
  Apply(known, Forget::kAll, graph);  // files say what was true for other inputs
  GraphEditor edit(graph);
  return InferShapes(edit);
}

bool AllShapesKnown(const Graph& graph) {
  const std::vector<NodeId> needed = NeededNodes(graph);  // inputs that nothing reads are given all the same
  return std::all_of(needed.begin(), needed.end(), [&](NodeId id) {
    const std::vector<ValueId>& outputs = graph.node(id).outputs;
    return std::all_of(outputs.begin(), outputs.end(), [&](ValueId output) {
      const bool is_read = output.valid() && (!graph.uses(output).empty() || graph.IsOutput(output));
      return (!is_read && graph.op(id) != OpKind::kInput) || graph.shape(output).fully_known();
    });
  });
}

}  // namespace halftone

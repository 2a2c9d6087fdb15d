// SPDX-License-Identifier: Apache-2.0
#include "passes/export/split_binary_chain.h"

#include "base/status.h"
#include "base/strings.h"
#include "ir/binary_chain.h"
#include "passes/export/parts.h"

namespace halftone {

absl::Status SplitBinaryChain::Run(GraphEditor& edit, PassContext&) const {
  const Graph& g = edit.graph();
  for (const NodeId id : g.nodes()) {
    if (g.op(id) != OpKind::kBinaryChain || file_.Writes(g, id)) continue;
    const Node node = g.node(id);
    const ValueId y = g.output(id);
    const ValueSpec result{g.type(y), g.shape(y), ""};  // of every part: later inputs broadcast to the first two
    absl::StatusOr<std::vector<ChainStep>> steps = StepsOfChain(node);
    if (!steps.ok()) return Annotate(steps.status(), Concat("node '", g.Label(id), "'"));
    Parts parts(edit, id);
    ValueId acc = node.inputs[0];
    for (size_t i = 0; i < steps->size(); ++i) {
      const auto [op, reversed] = (*steps)[i];
      const ValueId x = node.inputs[i + 1];
      acc = parts.Apply(op, reversed ? std::vector{x, acc} : std::vector{acc, x}, result);
    }
    parts.Finish(parts.Activate(acc));
  }
  return absl::OkStatus();
}

}  // namespace halftone

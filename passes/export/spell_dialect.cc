// SPDX-License-Identifier: Apache-2.0
#include "passes/export/spell_dialect.h"

#include <string>

namespace halftone {

absl::Status SpellDialect::Run(GraphEditor& edit, PassContext&) const {
  const Graph& g = edit.graph();
  for (const NodeId id : g.nodes()) {
    if (g.op(id) == OpKind::kOpaque) continue;
    const std::string_view op = file_.FusedOp(g, id);
    if (!op.empty()) {
      edit.SetSpelling(id, std::string(op));
      edit.SetDomain(id, std::string(file_.domain));
    } else if (file_.is_fused_op != nullptr && file_.is_fused_op(g.node(id).spelling)) {
      edit.SetSpelling(id, "");
      edit.SetDomain(id, "");
    } else if (g.node(id).spelling.empty()) {
      edit.SetDomain(id, "");  // a pass has made another op of it
    }
  }
  return absl::OkStatus();
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// Changes the op of nodes; they keep their inputs and attributes.
//
// Between ops of the op table (Relu => Relu6), between spellings of one op (Add => AddV2), and between ops outside the
// table (a custom op's new name). An op of the table cannot become one outside it, or the other way round, because the
// names of the attributes there are unknown. INVALID_ARGUMENT if the new op does not support the inputs or attributes
// of the node. Outputs are those of the new op, as requested.

#include <limits>
#include <optional>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "ir/verifier.h"
#include "passes/transforms/op_names.h"
#include "passes/transforms/passes.h"

namespace halftone {
namespace {

class RenameOp final : public Pass {
 public:
  RenameOp(std::string old_op, std::string new_op) : old_(std::move(old_op)), new_(std::move(new_op)) {}
  std::string_view name() const override { return "rename_op"; }
  float tolerance() const override { return std::numeric_limits<float>::infinity(); }

  absl::Status Run(GraphEditor& edit, PassContext& context) const override {
    const Graph& g = edit.graph();
    const std::optional<OpKind> kind = OpOfAnyName(new_);
    const int64_t before = edit.edits();
    for (const NodeId id : g.nodes()) {
      if (!IsOpNamed(g, id, old_)) continue;
      if (kind.has_value() == (g.op(id) == OpKind::kOpaque)) {
        return absl::InvalidArgumentError(Concat("node '", g.Label(id), "': ", old_, " is ",
                                                 kind.has_value() ? "not in" : "in", " the table of ops and ", new_,
                                                 " is", kind.has_value() ? "" : " not"));
      }
      if (!kind.has_value()) {
        edit.SetSpelling(id, new_);
      } else {
        edit.SetOp(id, *kind, kind == g.op(id) || !g.node(id).spelling.empty() ? new_ : "");
      }
      if (context.log != nullptr) context.log->Applied(name(), g, id, Concat(old_, " => ", new_));
    }
    return edit.edits() == before ? absl::OkStatus() : VerifyGraph(g);
  }

 private:
  std::string old_, new_;
};

}  // namespace

std::unique_ptr<Pass> MakeRenameOp(std::string old_op, std::string new_op) {
  return std::make_unique<RenameOp>(std::move(old_op), std::move(new_op));
}

}  // namespace halftone

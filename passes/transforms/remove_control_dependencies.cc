// SPDX-License-Identifier: Apache-2.0
// Removes all control edges. Nodes that ran only for their side effects (assertions, prints) become dead; a later pass
// removes dead nodes.

#include "passes/transforms/passes.h"

namespace halftone {
namespace {

class RemoveControlDependencies final : public Pass {
 public:
  std::string_view name() const override { return "remove_control_dependencies"; }

  absl::Status Run(GraphEditor& edit, PassContext&) const override {
    for (const NodeId id : edit.graph().nodes()) edit.SetControlInputs(id, {});
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<Pass> MakeRemoveControlDependencies() { return std::make_unique<RemoveControlDependencies>(); }

}  // namespace halftone

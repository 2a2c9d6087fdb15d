// SPDX-License-Identifier: Apache-2.0
#include "passes/simplify/passes.h"

namespace halftone {

absl::Status RemoveDeadNodes::Run(GraphEditor& edit, PassContext&) const {
  edit.RemoveDeadNodes();
  return absl::OkStatus();
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
#include "ir/shape_inference.h"
#include "passes/simplify/passes.h"

namespace halftone {

absl::Status InferShapesPass::Run(GraphEditor& edit, PassContext&) const { return InferShapes(edit); }

}  // namespace halftone

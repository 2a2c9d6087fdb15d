// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/dialects.h"

#include <algorithm>

#include "formats/tensorflow/extra.h"

namespace halftone {

const FileDialect& GraphDefDialect() {
  static constexpr FileDialect kDialect = {
      .name = "graphdef",
      .features = kGraphDefFeatures,
      .is_fused_op = IsFusedTensorFlowOp,
      .left_out = graphdef::kExtraAbsent,
  };
  return kDialect;
}

bool IsFusedTensorFlowOp(std::string_view op) {
  for (const FileDialect* dialect : {&TensorFlowDialect(), &ItexDialect()}) {
    if (std::ranges::find(dialect->fused_ops, op) != dialect->fused_ops.end()) return true;
  }
  return false;
}

}  // namespace halftone

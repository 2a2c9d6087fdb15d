// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/node_count.h"

#include "base/status.h"
#include "formats/tensorflow/parse.h"

namespace halftone {

absl::StatusOr<int64_t> CountGraphDefNodes(std::string_view bytes, bool is_text) {
  tensorflow::GraphDef def;
  HALFTONE_RETURN_IF_ERROR(graphdef::ParseGraphDef(bytes, is_text, def));
  int64_t count = 0;
  for (const tensorflow::NodeDef& node : def.node()) {
    const bool computes = node.op() != "Const" && node.op() != "Placeholder" && node.op() != "NoOp";
    count += computes ? 1 : 0;
  }
  return count;
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// The attributes of a NodeDef from those of a canonical node, along a row of op_map.h.
#ifndef HALFTONE_FORMATS_TENSORFLOW_ROW_ATTRS_H_
#define HALFTONE_FORMATS_TENSORFLOW_ROW_ATTRS_H_

#include <vector>

#include "absl/status/status.h"
#include "formats/tensorflow/graph_writer.h"

namespace halftone::graphdef {

// Adds type attributes and the row's other attributes to `attrs`, which holds the extra ones already.
// `attributes`: canonical ones. INTERNAL, without the node's name, where the node breaks its op's rules.
absl::Status SetRowAttrs(const Graph& graph, NodeId id, const OpRow& row, const std::vector<Source>& inputs,
                         const Attributes& attributes, AttrValues& attrs);

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_ROW_ATTRS_H_

// SPDX-License-Identifier: Apache-2.0
// Parts of a GraphDef for which Graph and Node have no field. They are kept as header and extra attributes, so that the
// exporter writes them back.
#ifndef HALFTONE_FORMATS_TENSORFLOW_UNMAPPED_FIELDS_H_
#define HALFTONE_FORMATS_TENSORFLOW_UNMAPPED_FIELDS_H_

#include <vector>

#include "formats/tensorflow/node_graph.h"
#include "formats/tensorflow/proto/graph.pb.h"
#include "ir/editor.h"
#include "ir/graph.h"

namespace halftone::graphdef {

// Format, versions, function library and unknown fields of the file.
void KeepHeader(const tf::GraphDef& def, GraphEditor& edit);

// Debug info, unknown fields, inputs written "node:0", and colocations with nodes that are not in the file. `data`: the
// data inputs of `def`.
void KeepUnmappedFields(const tf::NodeDef& def, const std::vector<Edge>& data, const NodeGraph& nodes, Node& node);

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_UNMAPPED_FIELDS_H_

// SPDX-License-Identifier: Apache-2.0
// What a NodeDef says of ops, types and edges, kept for planners (ir/source_graph.h).
#ifndef HALFTONE_FORMATS_TENSORFLOW_SOURCE_NODE_H_
#define HALFTONE_FORMATS_TENSORFLOW_SOURCE_NODE_H_

#include <memory>

#include "formats/tensorflow/node_graph.h"
#include "formats/tensorflow/proto/graph.pb.h"
#include "ir/source_graph.h"

namespace halftone::graphdef {

namespace tf = ::halftone::tensorflow;

// The functions, and room for as many nodes as the file has.
std::shared_ptr<SourceGraph> BeginSource(const tf::GraphDef& def);

// All but what stands for it in the graph.
SourceNode ReadSourceNode(const tf::NodeDef& def, const NodeEdges& edges);

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_SOURCE_NODE_H_

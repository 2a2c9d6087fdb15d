// Which nodes mean the same in a newer opset as they stand. Needed for nodes that are kept verbatim (opaque ones and
// those in subgraphs) when another node of the graph needs a newer opset.
#ifndef HALFTONE_FORMATS_ONNX_OPSET_CHANGES_H_
#define HALFTONE_FORMATS_ONNX_OPSET_CHANGES_H_

#include "onnx/onnx_pb.h"

namespace halftone::onnx_format {

// The first opset in (from, to] in which a node of ONNX's own domain, written for opset `from`, would be invalid or
// mean something else; 0 if there is none. Nodes of other domains never change.
int FirstChange(const onnx::NodeProto& node, int from, int to);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_OPSET_CHANGES_H_

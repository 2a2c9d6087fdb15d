// SPDX-License-Identifier: Apache-2.0
// Which nodes can be written unchanged in a newer opset. Needed for nodes that are passed through unchanged (opaque
// ones and those in their subgraphs) when another node of the graph needs a newer opset.
#ifndef HALFTONE_FORMATS_ONNX_OPSET_CHANGES_H_
#define HALFTONE_FORMATS_ONNX_OPSET_CHANGES_H_

#include "onnx/onnx_pb.h"

namespace halftone::onnx_format {

// The first opset in (from, to] in which ONNX has another version of the node's operator than in opset `from`, or has
// it no more; 0 if there is none. An operator that ONNX does not have in opset `from` (ImageScaler, Crop, Affine:
// experimental ones that ONNX Runtime loads up to opset 9) exists in that opset alone. Nodes of other domains never
// change: the opset that counts for them is that of their own domain, which stays.
int FirstChange(const onnx::NodeProto& node, int from, int to);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_OPSET_CHANGES_H_

// SPDX-License-Identifier: Apache-2.0
// Export of opaque nodes: they are passed through unchanged, so that the file must stay in an opset in which their
// operators are the same.
#ifndef HALFTONE_FORMATS_ONNX_VERBATIM_H_
#define HALFTONE_FORMATS_ONNX_VERBATIM_H_

#include <set>
#include <string>

#include "absl/status/status.h"
#include "ir/graph.h"

namespace halftone::onnx_format {

// UNIMPLEMENTED, with the node's label, if the operator of an opaque node of the graph, or of a node in its subgraphs,
// is not the same in opset `to` as in `from` (opset_changes.h). Nested graphs are not looked at.
absl::Status CheckVerbatimNodes(const Graph& graph, int from, int to);

// Names that the subgraphs and nested graphs of the graph's nodes give to values.
absl::Status AddNamesInside(const Graph& graph, std::set<std::string>& names);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_VERBATIM_H_

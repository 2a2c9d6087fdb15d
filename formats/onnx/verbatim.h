// Opaque nodes on their way out: they leave as they came, so that the file must stay in an opset that means the same.
#ifndef HALFTONE_FORMATS_ONNX_VERBATIM_H_
#define HALFTONE_FORMATS_ONNX_VERBATIM_H_

#include <set>
#include <string>

#include "absl/status/status.h"
#include "ir/graph.h"

namespace halftone::onnx_format {

// UNIMPLEMENTED, with the node's label, if an opaque node of the graph (nested ones are not looked at) or one in its
// subgraphs means something else in opset `to` than in `from`.
absl::Status CheckVerbatimNodes(const Graph& graph, int from, int to);

// Names that the subgraphs and nested graphs of the graph's nodes give to values.
absl::Status AddNamesInside(const Graph& graph, std::set<std::string>& names);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_VERBATIM_H_

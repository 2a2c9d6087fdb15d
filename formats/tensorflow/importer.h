// SPDX-License-Identifier: Apache-2.0
// TensorFlow GraphDef -> Graph.
#ifndef HALFTONE_FORMATS_TENSORFLOW_IMPORTER_H_
#define HALFTONE_FORMATS_TENSORFLOW_IMPORTER_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"

namespace halftone {

struct GraphDefOptions {
  // Names of the tensors that the model computes: "node" or "node:1". Empty: output 0 (opaque nodes: every output) of
  // each node that no node reads and that is no constant, placeholder, NoOp or part of a loop, in the order of the
  // file.
  std::vector<std::string> outputs;
};

// Reads a .pb (is_text: a .pbtxt). Ops that ops.h knows become canonical, others opaque; names of nodes are kept, names
// of values are "node" and "node:1". What the file says beside that is kept in Node::extra and Graph::header()
// (extra.h), so that ExportGraphDef of an untouched graph gives the same NodeDefs.
//
// Errors: INVALID_ARGUMENT that names the node and the attribute or input (text: the line) and says what would be
// right.
absl::StatusOr<Graph> ImportGraphDef(std::string_view bytes, bool is_text, const GraphDefOptions& options = {});

}  // namespace halftone

#endif  // HALFTONE_FORMATS_TENSORFLOW_IMPORTER_H_

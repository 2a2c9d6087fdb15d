// SPDX-License-Identifier: Apache-2.0
// The order in which the nodes of a file can be imported.
#ifndef HALFTONE_FORMATS_ONNX_NODE_ORDER_H_
#define HALFTONE_FORMATS_ONNX_NODE_ORDER_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "onnx/onnx_pb.h"

namespace halftone::onnx_format {

// Indices of the graph's nodes so that each comes after those whose outputs it reads; the file's order where it is
// such. `captures`: what each node reads beyond its inputs. `known`: inputs and initializers. Errors: INVALID_ARGUMENT
// for a value that no node makes, and for a cycle; names the node.
absl::StatusOr<std::vector<int>> OrderNodes(const onnx::GraphProto& graph,
                                            const std::vector<std::vector<std::string>>& captures,
                                            const std::set<std::string>& known);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_NODE_ORDER_H_

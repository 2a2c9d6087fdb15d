// SPDX-License-Identifier: Apache-2.0
// A graph that is ready to be planned, in a file. The process that evaluates an exported file imports and optimizes it,
// as every process that runs a model does, and leaves the result here; the fresh processes that time the same file read
// it in place of importing and optimizing the same bytes again.
//
// The file holds the weights, then the text of the graph (ir/text.h), then where the text begins. It is read by the
// program that wrote it and by no other, and lies in the job's folder only while the job measures.
#ifndef HALFTONE_OPTIMIZER_PREPARED_GRAPH_H_
#define HALFTONE_OPTIMIZER_PREPARED_GRAPH_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/graph.h"

namespace halftone {

// `model_sha256`: the digest of the model file that the graph was made of.
absl::Status WritePreparedGraph(const Graph& graph, const std::string& model_sha256, const std::string& path);

// The weights are views of the mapped file, which must not change while the graph or a copy of it lives. Errors:
// FAILED_PRECONDITION where it was made of another model file; INVALID_ARGUMENT where it is no such file.
absl::StatusOr<Graph> ReadPreparedGraph(const std::string& path, const std::string& model_sha256);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_PREPARED_GRAPH_H_

// SPDX-License-Identifier: Apache-2.0
// First step of a job: the bytes of a model file become a graph, by the ordinary importer.
#ifndef HALFTONE_OPTIMIZER_IMPORT_H_
#define HALFTONE_OPTIMIZER_IMPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/formats.h"
#include "ir/graph.h"

namespace halftone {

struct ModelSource {
  std::string path;                   // local file
  std::string name;                   // as its owner calls it, for messages and for the extension; empty: path
  std::optional<ModelFormat> format;  // unset: by the extension
  std::vector<std::string> outputs;   // GraphDef: names of the wanted outputs; empty: every node without consumers

  const std::string& label() const { return name.empty() ? path : name; }
};

// Bytes -> Graph. Errors: INVALID_ARGUMENT (names file and node or field), NOT_FOUND, UNIMPLEMENTED.
absl::StatusOr<Graph> LoadModel(const ModelSource& source);

// The same error, naming the model's file if it does not yet.
absl::Status NameModel(absl::Status status, const ModelSource& source);

// Whether a node of this op can be run: it is neither opaque nor TensorFlow's control flow as written.
bool CanRun(const Node& node);

// "LSTM (3)" for each type of opaque or control-flow node that keeps the graph from running.
std::vector<std::string> OpsThatCannotRun(const Graph& graph);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_IMPORT_H_

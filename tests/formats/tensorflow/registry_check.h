// SPDX-License-Identifier: Apache-2.0
// Is a GraphDef one that TensorFlow's registry of ops accepts? A reading of the registry that shares nothing with the
// importer but the protos.
#ifndef HALFTONE_TESTS_FORMATS_TENSORFLOW_REGISTRY_CHECK_H_
#define HALFTONE_TESTS_FORMATS_TENSORFLOW_REGISTRY_CHECK_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/tensorflow/proto/graph.pb.h"

namespace halftone::testing {

// Reads an OpList in text form (TensorFlow's ops.pbtxt).
absl::StatusOr<tensorflow::OpList> ReadRegistry(const std::string& path);

// One line a violation, none if TensorFlow would take the graph: names taken twice, ops that are not registered
// (functions of the graph's library are), inputs that do not exist, attributes that are missing, unknown, of the wrong
// kind or of a value that is not allowed, a wrong number of inputs, edges between ports of different types, constants
// whose tensor has another type, colocation with nodes that are not there.
std::vector<std::string> RegistryViolations(const tensorflow::GraphDef& graph, const tensorflow::OpList& registry);

}  // namespace halftone::testing

#endif  // HALFTONE_TESTS_FORMATS_TENSORFLOW_REGISTRY_CHECK_H_

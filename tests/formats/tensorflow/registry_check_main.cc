// SPDX-License-Identifier: Apache-2.0
// registry_check [--dialect=tensorflow|itex] REGISTRY.pbtxt GRAPH.pb...
// Prints what TensorFlow's registry of ops, with the internal ops of the dialect, forbids in each graph; exit code 1 if
// there is anything, 2 if a file cannot be read.

#include <iostream>
#include <string>

#include "base/files.h"
#include "tests/formats/tensorflow/internal_ops.h"
#include "tests/formats/tensorflow/registry_check.h"

int main(int argc, char** argv) {
  using halftone::testing::InternalOpsOf;
  const std::string option = argc > 1 ? argv[1] : "";
  const bool tensorflow = option == "--dialect=tensorflow", itex = option == "--dialect=itex";
  const int first = tensorflow || itex ? 2 : 1;
  if (argc < first + 2) {
    std::cerr << "usage: registry_check [--dialect=tensorflow|itex] REGISTRY.pbtxt GRAPH.pb...\n";
    return 2;
  }
  auto registry = halftone::testing::ReadRegistry(argv[first]);
  if (!registry.ok()) {
    std::cerr << registry.status() << "\n";
    return 2;
  }
  if (tensorflow) registry->MergeFrom(halftone::testing::InternalOps(InternalOpsOf::kTensorFlow));
  if (itex) registry->MergeFrom(halftone::testing::InternalOps(InternalOpsOf::kItex));
  bool is_clean = true;
  for (int i = first + 1; i < argc; ++i) {
    const absl::StatusOr<std::string> bytes = halftone::ReadFile(argv[i]);
    halftone::tensorflow::GraphDef graph;
    if (!bytes.ok() || !graph.ParseFromString(*bytes)) {
      std::cerr << argv[i] << ": cannot be read as a GraphDef\n";
      return 2;
    }
    for (const std::string& violation : halftone::testing::RegistryViolations(graph, *registry)) {
      std::cout << argv[i] << ": " << violation << "\n";
      is_clean = false;
    }
  }
  return is_clean ? 0 : 1;
}

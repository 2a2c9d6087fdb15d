// registry_check REGISTRY.pbtxt GRAPH.pb...
// Prints what TensorFlow's registry of ops forbids in each graph; exit code 1 if there is anything, 2 if a file cannot
// be read.

#include <iostream>
#include <string>

#include "base/files.h"
#include "tests/formats/tensorflow/registry_check.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: registry_check REGISTRY.pbtxt GRAPH.pb...\n";
    return 2;
  }
  const auto registry = halftone::testing::ReadRegistry(argv[1]);
  if (!registry.ok()) {
    std::cerr << registry.status() << "\n";
    return 2;
  }
  bool is_clean = true;
  for (int i = 2; i < argc; ++i) {
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

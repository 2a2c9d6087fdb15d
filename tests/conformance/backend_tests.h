// ONNX's backend tests on disk: folders of a model, its inputs and the outputs that it must give.
#ifndef HALFTONE_TESTS_CONFORMANCE_BACKEND_TESTS_H_
#define HALFTONE_TESTS_CONFORMANCE_BACKEND_TESTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/tensor.h"

namespace halftone {

// One test: node/test_abs is a folder, light/light_resnet50 a model beside its output.
struct BackendTest {
  std::string name;  // "node/test_abs", "light/resnet50"
  std::string model;
  std::vector<std::string> sets;  // folders of input_0.pb, ..., output_0.pb, ...; none: a light net
  float relative = 1e-3f;
  float absolute = 1e-7f;

  bool light() const { return sets.empty(); }
};

// What goes in and what must come out, in the order of the model's inputs and outputs.
struct TestData {
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
};

// All tests below `root`, sorted by name. NOT_FOUND where there are none.
absl::StatusOr<std::vector<BackendTest>> FindTests(const std::string& root);

// "" or why the data is none for us: "input 'x' is a sequence". The types of the graph's operators, once each, in
// the order in which they first come ("com.microsoft.Gelu"); empty where the model cannot be parsed.
struct ModelFacts {
  std::string no_tensors;
  std::vector<std::string> ops;
  std::vector<std::vector<int64_t>> input_dims;  // of inputs that have no initializer; a free dimension is 1
};
ModelFacts FactsOf(const std::string& path);

// One set of a test.
absl::StatusOr<TestData> ReadSet(const std::string& folder);
// The light nets' rule: an input of n floats is 0/n, 1/n, 2/n, ...
absl::StatusOr<TestData> LightData(const BackendTest& test, const ModelFacts& facts);

}  // namespace halftone

#endif  // HALFTONE_TESTS_CONFORMANCE_BACKEND_TESTS_H_

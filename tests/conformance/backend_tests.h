// SPDX-License-Identifier: Apache-2.0
// ONNX's backend tests on disk: folders with a model, its inputs and its expected outputs.
#ifndef HALFTONE_TESTS_CONFORMANCE_BACKEND_TESTS_H_
#define HALFTONE_TESTS_CONFORMANCE_BACKEND_TESTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/tensor.h"

namespace halftone {

// One test. node/test_abs is a folder, light/light_resnet50.onnx a model with its output beside it.
struct BackendTest {
  std::string name;  // "node/test_abs", "light/resnet50"
  std::string model;
  std::vector<std::string> sets;  // folders with input_0.pb, ..., output_0.pb, ...; empty for a "light" model
  float relative = 1e-3f;
  float absolute = 1e-7f;

  bool light() const { return sets.empty(); }
};

// Inputs and expected outputs, in the order of the model's inputs and outputs.
struct TestData {
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
};

// All tests below `root`, sorted by name. NOT_FOUND where there are none.
absl::StatusOr<std::vector<BackendTest>> FindTests(const std::string& root);

// Empty if the model cannot be parsed.
struct ModelFacts {
  std::string unsupported;                       // why the test cannot run: "input 'x' is a sequence"; "" if it can
  std::vector<std::string> ops;                  // distinct operator types in graph order, such as "com.microsoft.Gelu"
  std::vector<std::vector<int64_t>> input_dims;  // of inputs without initializer; a dynamic dimension is 1
};
ModelFacts FactsOf(const std::string& path);

// Reads a test_data_set folder.
absl::StatusOr<TestData> ReadSet(const std::string& folder);
// The data of a light model: by ONNX's rule, an input of n floats is 0/n, 1/n, 2/n, ...
absl::StatusOr<TestData> LightData(const BackendTest& test, const ModelFacts& facts);

}  // namespace halftone

#endif  // HALFTONE_TESTS_CONFORMANCE_BACKEND_TESTS_H_

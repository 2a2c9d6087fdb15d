// SPDX-License-Identifier: Apache-2.0
// Predicted classes of a model file for all samples, in this process. precision_tables.py and int8_accuracy.py compute
// accuracy from them.
//
//   halftone_outputs MODEL SAMPLES.npz [--batch N] [--threads N]
//
// Prints JSON: the labels (empty where the samples have none) and, for each model output, the argmax per sample.
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/status.h"
#include "optimizer/loaded_variant.h"

namespace halftone {
namespace {

// The argmax of each of the first `rows` of `batch` equal parts of the tensor.
std::vector<int64_t> Argmax(const Tensor& tensor, int64_t batch, int64_t rows) {
  const std::vector<float> numbers = tensor.ToFloats();
  const int64_t each = static_cast<int64_t>(numbers.size()) / std::max<int64_t>(1, batch);
  std::vector<int64_t> indices;
  for (int64_t row = 0; row < rows && each > 0; ++row) {
    const auto first = numbers.begin() + row * each;
    indices.push_back(std::max_element(first, first + each) - first);
  }
  return indices;
}

absl::StatusOr<nlohmann::json> PredictedClasses(const RunSpec& spec) {
  HALFTONE_ASSIGN_OR_RETURN(LoadedVariant loaded, LoadVariant(spec));
  std::vector<int64_t> labels;
  std::vector<std::vector<int64_t>> classes(loaded.graph.outputs().size());
  for (int64_t i = 0; i < loaded.samples->num_batches(); ++i) {
    HALFTONE_ASSIGN_OR_RETURN(const Batch batch, loaded.samples->Read(i));
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, loaded.plan->Run(batch.inputs));
    labels.insert(labels.end(), batch.labels.begin(), batch.labels.end());
    for (size_t k = 0; k < outputs.size(); ++k) {
      const std::vector<int64_t> indices = Argmax(outputs[k], batch.capacity, batch.rows);
      classes[k].insert(classes[k].end(), indices.begin(), indices.end());
    }
  }
  nlohmann::json out;
  out["labels"] = labels;
  out["outputs"] = nlohmann::json::array();
  for (size_t k = 0; k < classes.size(); ++k) {
    out["outputs"].push_back({{"name", loaded.graph.outputs()[k].name}, {"classes", classes[k]}});
  }
  return out;
}

int Main(int argc, char** argv) {
  RunSpec spec;
  std::string samples;
  CLI::App app("predicted classes of a model file for samples");
  app.add_option("MODEL", spec.model.path)->required();
  app.add_option("SAMPLES", samples)->required();
  app.add_option("--batch", spec.sizes.batch);
  app.add_option("--threads", spec.threads);
  CLI11_PARSE(app, argc, argv);
  spec.samples = {{samples, samples}};
  const absl::StatusOr<nlohmann::json> classes = PredictedClasses(spec);
  if (!classes.ok()) {
    std::fprintf(stderr, "halftone_outputs: %s\n", std::string(classes.status().message()).c_str());
    return 1;
  }
  std::printf("%s\n", classes->dump().c_str());
  return 0;
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) { return halftone::Main(argc, argv); }

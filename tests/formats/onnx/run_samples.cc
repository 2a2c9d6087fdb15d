// SPDX-License-Identifier: Apache-2.0
// run_samples MODEL SAMPLES.npz OUT.npz: writes our engine's outputs for every batch, NAME.0, NAME.1, ... The file is read,
// fused and planned as in a job, without a server. For quantized_test.py.

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/npz/npz.h"
#include "optimizer/import.h"
#include "optimizer/prepare.h"
#include "optimizer/samples.h"
#include "runtime/engine.h"

namespace halftone {
namespace {

absl::Status RunSamples(const std::string& model, const std::string& npz, const std::string& out) {
  HALFTONE_ASSIGN_OR_RETURN(Graph graph, LoadModel({.path = model}));
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<SampleSource> samples, OpenSamples({SampleFile{npz, npz}}));
  HALFTONE_RETURN_IF_ERROR(PrepareToRun(graph, DimSizes(), samples->dims(), Preparation::kOptimize, *MakeCpuTarget()));
  HALFTONE_RETURN_IF_ERROR(samples->Bind(graph));
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Plan> plan, CompilePlan(graph, {.threads = 2}));
  std::vector<NamedArray> arrays;
  for (int64_t i = 0; i < samples->num_batches(); ++i) {
    HALFTONE_ASSIGN_OR_RETURN(const Batch batch, samples->Read(i));
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, plan->Run(batch.inputs));
    for (size_t k = 0; k < outputs.size(); ++k) {
      arrays.push_back({Concat(graph.outputs()[k].name, ".", i), outputs[k]});
    }
  }
  return WriteNpz(out, arrays);
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: run_samples MODEL SAMPLES.npz OUT.npz\n";
    return 2;
  }
  const absl::Status status = halftone::RunSamples(argv[1], argv[2], argv[3]);
  if (!status.ok()) std::cerr << argv[1] << ": " << status << "\n";
  return status.ok() ? 0 : 1;
}

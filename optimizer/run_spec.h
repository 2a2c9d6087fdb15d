// SPDX-License-Identifier: Apache-2.0
// Which file a process runs, and how: plain data that travels to it.
#ifndef HALFTONE_OPTIMIZER_RUN_SPEC_H_
#define HALFTONE_OPTIMIZER_RUN_SPEC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "optimizer/dim_sizes.h"
#include "optimizer/import.h"
#include "optimizer/samples.h"

namespace halftone {

struct RunSpec {
  ModelSource model;
  std::string model_sha256 = "";    // of its file; only for `prepared_graph`
  std::string prepared_graph = "";  // a file (prepared_graph.h) that stands for the model; empty: the model is imported
  bool fuse = true;                 // through the optimize pipeline; false: as the file is
  int threads = 1;
  DimSizes sizes;                   // of the inputs
  std::vector<SampleFile> samples;  // empty: seeded random inputs
  uint64_t seed = 1;
  std::vector<int> cores = {};   // to pin to, one per thread; empty: not pinned
  std::string wait_policy = "";  // OMP_WAIT_POLICY; empty: see RoundEnvironment
};

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_RUN_SPEC_H_

// SPDX-License-Identifier: Apache-2.0
// Models as jobs lower and write them, by every planner, in every type: for tests of the files.
#ifndef HALFTONE_TESTS_FORMATS_LOWERED_MODELS_H_
#define HALFTONE_TESTS_FORMATS_LOWERED_MODELS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/dialects.h"
#include "formats/formats.h"
#include "ir/graph.h"
#include "optimizer/options.h"

namespace halftone::testing {

struct Lowering {
  PlannerKind planner = PlannerKind::kLists;
  VariantKind kind = VariantKind::kBf16;
  TargetRuntime target_runtime = TargetRuntime::kAny;
  Dialect dialect = Dialect::kPortable;
};
std::string NameOf(const Lowering& lowering);  // "lists, bf16, any, portable"

// Both planners in bf16 and f16; for ONNX files also for ONNX Runtime, for GraphDefs also in TensorFlow's dialects.
std::vector<Lowering> AllLowerings(ModelFormat format);

// What the job would write, on a machine that can do everything.
absl::StatusOr<Graph> Lower(const Graph& imported, const Lowering& lowering);

// Written and read back by the ordinary importer. `outputs`: those of the model as it was imported, which a GraphDef
// does not say itself.
struct Written {
  std::string bytes;
  Graph again;
};
absl::StatusOr<Written> WriteAndRead(const Graph& graph, const std::vector<GraphOutput>& outputs);

// Paths of the ONNX files and GraphDefs under $HALFTONE_SHARED/data/models; none where there is no such folder.
std::vector<std::string> SharedModels();

}  // namespace halftone::testing

#endif  // HALFTONE_TESTS_FORMATS_LOWERED_MODELS_H_

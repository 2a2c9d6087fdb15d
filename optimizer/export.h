// SPDX-License-Identifier: Apache-2.0
// A step of a job: a variant's graph becomes a file. From here on only the file counts.
#ifndef HALFTONE_OPTIMIZER_EXPORT_H_
#define HALFTONE_OPTIMIZER_EXPORT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "formats/formats.h"
#include "ir/graph.h"
#include "ir/target.h"
#include "optimizer/converted_graph.h"
#include "optimizer/optimize.h"
#include "optimizer/options.h"

namespace halftone {

// Writes the graph in the format it came from (a GraphDef as text where the path ends in .pbtxt). The file appears
// complete or not at all.
absl::Status SaveModel(const Graph& graph, const std::string& path, ExportOptions options = {});

// Writes the variant. Where its format cannot express it (ONNX has some ops not in bf16), the fp32 baseline takes its
// place, also in `converted`, with a warning; where it cannot express that either, the model without fusions. Errors
// name the variant.
absl::Status WriteVariant(const OptimizedModel& model, const Target& target, const OptimizeOptions& options,
                          const std::string& path, ConvertedGraph& converted);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_EXPORT_H_

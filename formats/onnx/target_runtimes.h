// Runtimes that load ONNX files, and which types below f32 each is known to run.
#ifndef HALFTONE_FORMATS_ONNX_TARGET_RUNTIMES_H_
#define HALFTONE_FORMATS_ONNX_TARGET_RUNTIMES_H_

#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "formats/format.h"
#include "ir/file_types.h"
#include "ir/graph.h"

namespace halftone {

// "any", "onnxruntime": the words of the command line and of policies.
std::string_view TargetRuntimeName(TargetRuntime target_runtime);
std::optional<TargetRuntime> TargetRuntimeFromName(std::string_view name);

// OK if nothing is known that keeps the runtime from loading the graph as it would be written; UNIMPLEMENTED with a
// sentence that names the first nodes and what the runtime lacks.
absl::Status OnnxLoadsIn(const Graph& graph, TargetRuntime target_runtime);

// What an ONNX file may hold of types below f32, and of that what the target runtime runs.
FileTypes OnnxFileTypes(TargetRuntime target_runtime = TargetRuntime::kAny);

}  // namespace halftone

#endif  // HALFTONE_FORMATS_ONNX_TARGET_RUNTIMES_H_

// SPDX-License-Identifier: Apache-2.0
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

// "any", "onnxruntime": as on the command line and in policies.
std::string_view TargetRuntimeName(TargetRuntime target_runtime);
std::optional<TargetRuntime> TargetRuntimeFromName(std::string_view name);

// OK if the runtime is expected to load the graph as it would be written; UNIMPLEMENTED with a sentence that names the
// first nodes and what the runtime lacks.
absl::Status OnnxLoadsIn(const Graph& graph, TargetRuntime target_runtime);

// Which types below f32 an ONNX file may have and the target runtime runs.
FileTypes OnnxFileTypes(TargetRuntime target_runtime = TargetRuntime::kAny);

}  // namespace halftone

#endif  // HALFTONE_FORMATS_ONNX_TARGET_RUNTIMES_H_

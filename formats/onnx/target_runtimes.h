// Runtimes that load ONNX files, and which types below f32 each is known to run.
#ifndef HALFTONE_FORMATS_ONNX_TARGET_RUNTIMES_H_
#define HALFTONE_FORMATS_ONNX_TARGET_RUNTIMES_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "ir/file_types.h"
#include "ir/graph.h"

namespace halftone {

enum class TargetRuntime : uint8_t {
  kAny,          // whatever the format allows
  kOnnxRuntime,  // ONNX Runtime 1.21, CPU provider
};
inline constexpr int kNumTargetRuntimes = static_cast<int>(TargetRuntime::kOnnxRuntime) + 1;

// "any", "onnxruntime": the words of the command line and of policies.
std::string_view TargetRuntimeName(TargetRuntime target_runtime);
std::optional<TargetRuntime> TargetRuntimeFromName(std::string_view name);

// OK if nothing is known that keeps the runtime from loading the graph as it would be written; UNIMPLEMENTED with a
// sentence that names the first nodes and what the runtime lacks; INVALID_ARGUMENT for a graph that came from a
// GraphDef.
absl::Status OnnxLoadsIn(const Graph& graph, TargetRuntime target_runtime);

// What an ONNX file may hold of types below f32, and of that what the loader runs.
FileTypes OnnxFileTypes(TargetRuntime target_runtime = TargetRuntime::kAny);

}  // namespace halftone

#endif  // HALFTONE_FORMATS_ONNX_TARGET_RUNTIMES_H_

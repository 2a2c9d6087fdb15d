// SPDX-License-Identifier: Apache-2.0
// The dialects in which a file can be written, as users choose one.
//
// A file of the portable dialect holds standard ops of its format alone. The others also hold ops that one framework's
// optimizer makes for itself: what is fused stays one node there. Each is a FileDialect (ir/file_dialect.h) in the folder
// of its format.
#ifndef HALFTONE_FORMATS_DIALECTS_H_
#define HALFTONE_FORMATS_DIALECTS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "formats/formats.h"
#include "ir/file_dialect.h"

namespace halftone {

enum class Dialect : uint8_t {
  kPortable,     // standard ops of the format
  kTensorFlow,   // GraphDef: the ops of TensorFlow's remapper (_FusedConv2D, _MklSwish, ...)
  kItex,         // GraphDef: those of Intel's extension (_ITEXFusedConv2D, ITEXGelu, ...)
  kOnnxRuntime,  // ONNX: domain com.microsoft (FusedConv, Gelu, ...)
};
inline constexpr int kNumDialects = static_cast<int>(Dialect::kOnnxRuntime) + 1;

// "portable", "tensorflow", "itex", "onnxruntime".
std::string_view DialectName(Dialect dialect);
std::optional<Dialect> DialectFromName(std::string_view name);

// Whether a file of this format has this dialect. INVALID_ARGUMENT names both and the dialects that the format has.
absl::Status CheckDialect(Dialect dialect, ModelFormat format);

// REQUIRES: CheckDialect is OK.
const FileDialect& FileDialectOf(ModelFormat format, Dialect dialect = Dialect::kPortable);
// In which ExportModel writes the graph, for the export pipeline.
const FileDialect& FileDialectOf(const Graph& graph, Dialect dialect = Dialect::kPortable);

// Of all formats, each once: of what MakePipelineByName (passes/pipelines.h) makes pipelines.
std::span<const FileDialect* const> AllFileDialects();

// PlannerOptions (passes/precision/lists_options.h): the dialect of the TensorFlow file that the graph came from; nullptr:
// it came from elsewhere.
const FileDialect* TensorFlowDialectOf(const Graph& graph);

}  // namespace halftone

#endif  // HALFTONE_FORMATS_DIALECTS_H_

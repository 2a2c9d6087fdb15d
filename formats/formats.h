// SPDX-License-Identifier: Apache-2.0
// The formats of models, and the one way in and out.
#ifndef HALFTONE_FORMATS_FORMATS_H_
#define HALFTONE_FORMATS_FORMATS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/format.h"
#include "formats/onnx/target_runtimes.h"
#include "formats/tensorflow/saved_model.h"
#include "ir/file_types.h"
#include "ir/graph.h"

namespace halftone {

enum class ModelFormat : uint8_t {
#define HALFTONE_FORMAT(format, make) format,
#include "formats/formats.inc"
#undef HALFTONE_FORMAT
};

inline constexpr ModelFormat kModelFormats[] = {
#define HALFTONE_FORMAT(format, make) ModelFormat::format,
#include "formats/formats.inc"
#undef HALFTONE_FORMAT
};

const Format& FormatRow(ModelFormat format);

// "onnx", "graphdef", "graphdef-text".
std::string_view ModelFormatName(ModelFormat format);
std::optional<ModelFormat> ModelFormatFromName(std::string_view name);

// By extension: .onnx, .pb, .pbtxt. nullopt for others.
std::optional<ModelFormat> ModelFormatOfPath(std::string_view path);
// By the first bytes: an ONNX file begins with its IR version, a GraphDef with a node or its versions. nullopt for
// others; a text is never recognized.
std::optional<ModelFormat> ModelFormatOfBytes(std::string_view bytes);
// Of a file of this path that holds a model of `format`: its text form where the extension is that form's.
ModelFormat FormatOfFile(ModelFormat format, std::string_view path);
// Whether it is the text form of another format.
bool IsTextForm(ModelFormat format);
// ".onnx", ".pb" or ".pbtxt".
std::string_view ModelExtension(ModelFormat format);

// The format that the graph came from; nullopt: it was made from text. A text GraphDef's graph is a GraphDef's.
std::optional<ModelFormat> FormatOf(const Graph& graph);
// That in which ExportModel writes it: where it came from none, ONNX.
ModelFormat WrittenFormat(const Graph& graph);
// As if it came from this format.
void SetFormat(Graph& graph, ModelFormat format);

struct ImportOptions {
  std::optional<ModelFormat> format;  // unset: by extension, else by the first bytes
  std::vector<std::string> outputs;   // GraphDef only: what to compute, see GraphDefOptions
};

// Errors: NOT_FOUND for a missing file, INVALID_ARGUMENT for a file that is no valid model; names the file or `name`.
absl::StatusOr<Graph> ImportModel(const std::string& path, const ImportOptions& options = {});
absl::StatusOr<Graph> ImportModelBytes(std::string_view bytes, std::string_view name,
                                       const ImportOptions& options = {});

// In WrittenFormat.
absl::StatusOr<std::string> ExportModel(const Graph& graph, const ExportOptions& options = {});

// Operators of the main graph as the file has them, constants and inputs aside. INVALID_ARGUMENT: no model of this
// format.
absl::StatusOr<int64_t> CountNodesOfFile(std::string_view bytes, ModelFormat format);

// What a file of this format may hold of types below f32, for the export pipeline (passes/pipelines.h); with a target
// runtime, of that what it runs.
FileTypes FileTypesOf(ModelFormat format, TargetRuntime target_runtime = TargetRuntime::kAny);

// OK if nothing is known that keeps the runtime from loading the graph as it would be written. Else UNIMPLEMENTED with
// a sentence for the report, or INVALID_ARGUMENT where it loads no files of the graph's format.
absl::Status LoadsIn(const Graph& graph, TargetRuntime target_runtime);

}  // namespace halftone

#endif  // HALFTONE_FORMATS_FORMATS_H_

#include "formats/formats.h"

#include "base/files.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/importer.h"
#include "formats/tensorflow/exporter.h"
#include "formats/tensorflow/importer.h"
#include "formats/tensorflow/type_limits.h"

namespace halftone {
namespace {

struct FormatRow {
  ModelFormat format;
  std::string_view name;
  std::string_view extension;
};

// All formats. A new one is a row here and a case in the two functions at the end of this file.
constexpr FormatRow kFormats[] = {
    {ModelFormat::kOnnx, "onnx", ".onnx"},
    {ModelFormat::kGraphDef, "graphdef", ".pb"},
    {ModelFormat::kGraphDefText, "graphdef-text", ".pbtxt"},
};

const FormatRow& Row(ModelFormat format) { return kFormats[static_cast<int>(format)]; }

static_assert(
    [] {
      for (size_t i = 0; i < std::size(kFormats); ++i) {
        if (static_cast<size_t>(kFormats[i].format) != i) return false;
      }
      return true;
    }(),
    "kFormats is in the order of ModelFormat");

}  // namespace

std::string_view ModelFormatName(ModelFormat format) { return Row(format).name; }
std::string_view ModelExtension(ModelFormat format) { return Row(format).extension; }

std::optional<ModelFormat> ModelFormatFromName(std::string_view name) {
  for (const FormatRow& row : kFormats) {
    if (row.name == name) return row.format;
  }
  return std::nullopt;
}

std::optional<ModelFormat> ModelFormatOfPath(std::string_view path) {
  for (const FormatRow& row : kFormats) {
    if (path.ends_with(row.extension)) return row.format;
  }
  return std::nullopt;
}

std::optional<ModelFormat> ModelFormatOfBytes(std::string_view bytes) {
  constexpr char kIrVersionField = 0x08;  // ModelProto.ir_version: field 1, a number
  constexpr char kNodeField = 0x0a;       // GraphDef.node: field 1, a message
  constexpr char kVersionsField = 0x22;   // GraphDef.versions: field 4, a message
  if (bytes.size() < 2) return std::nullopt;
  if (bytes[0] == kIrVersionField) return ModelFormat::kOnnx;
  if (bytes[0] == kNodeField || bytes[0] == kVersionsField) return ModelFormat::kGraphDef;
  return std::nullopt;
}

absl::StatusOr<Graph> ImportModel(const std::string& path, const ImportOptions& options) {
  HALFTONE_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  return ImportModelBytes(file.bytes(), path, options);
}

absl::StatusOr<Graph> ImportModelBytes(std::string_view bytes, std::string_view name, const ImportOptions& options) {
  std::optional<ModelFormat> format = options.format;
  if (!format.has_value()) format = ModelFormatOfPath(name);
  if (!format.has_value()) format = ModelFormatOfBytes(bytes);
  if (!format.has_value()) {
    return absl::InvalidArgumentError(Concat("'", name, "' is neither an ONNX file nor a TensorFlow GraphDef"));
  }
  absl::StatusOr<Graph> graph = [&]() -> absl::StatusOr<Graph> {
    switch (*format) {
      case ModelFormat::kOnnx:
        if (!options.outputs.empty())
          return absl::InvalidArgumentError("outputs can be chosen for a GraphDef only; an ONNX file names its own");
        return ImportOnnx(bytes);
      case ModelFormat::kGraphDef:
        return ImportGraphDef(bytes, /*is_text=*/false, {options.outputs});
      case ModelFormat::kGraphDefText:
        return ImportGraphDef(bytes, /*is_text=*/true, {options.outputs});
    }
    return absl::InternalError("a format without an importer");
  }();
  if (!graph.ok()) return Annotate(graph.status(), Concat("'", name, "'"));
  return graph;
}

absl::StatusOr<std::string> ExportModel(const Graph& graph, const ExportOptions& options) {
  switch (graph.format()) {
    case GraphFormat::kNone:
    case GraphFormat::kOnnx:
      return ExportOnnx(graph, options.onnx);
    case GraphFormat::kGraphDef:
      return ExportGraphDef(graph, options.as_text, options.onnx.integer_operators);
  }
  return absl::InternalError("a format without an exporter");
}

FileTypes FileTypesOf(GraphFormat format, TargetRuntime target_runtime) {
  return format == GraphFormat::kGraphDef ? GraphDefFileTypes() : OnnxFileTypes(target_runtime);
}

absl::Status LoadsIn(const Graph& graph, TargetRuntime target_runtime) { return OnnxLoadsIn(graph, target_runtime); }

}  // namespace halftone

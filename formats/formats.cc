// SPDX-License-Identifier: Apache-2.0
#include "formats/formats.h"

#include "base/files.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/editor.h"

namespace halftone {

#define HALFTONE_FORMAT(format, make) const Format& make();
#include "formats/formats.inc"
#undef HALFTONE_FORMAT

namespace {

using MakeFormat = const Format& (*)();
constexpr MakeFormat kFormats[] = {
#define HALFTONE_FORMAT(format, make) make,
#include "formats/formats.inc"
#undef HALFTONE_FORMAT
};

// The first format for which `holds`.
template <typename Holds>
std::optional<ModelFormat> Find(Holds holds) {
  for (size_t i = 0; i < std::size(kFormats); ++i) {
    if (holds(kFormats[i]())) return static_cast<ModelFormat>(i);
  }
  return std::nullopt;
}

}  // namespace

const Format& FormatRow(ModelFormat format) { return kFormats[static_cast<size_t>(format)](); }

std::string_view ModelFormatName(ModelFormat format) { return FormatRow(format).name; }
std::string_view ModelExtension(ModelFormat format) { return FormatRow(format).extension; }

std::optional<ModelFormat> ModelFormatFromName(std::string_view name) {
  return Find([&](const Format& format) { return format.name == name; });
}

std::optional<ModelFormat> ModelFormatOfPath(std::string_view path) {
  return Find([&](const Format& format) { return path.ends_with(format.extension); });
}

std::optional<ModelFormat> ModelFormatOfBytes(std::string_view bytes) {
  return Find([&](const Format& format) { return format.recognizes != nullptr && format.recognizes(bytes); });
}

ModelFormat FormatOfFile(ModelFormat format, std::string_view path) {
  const std::optional<ModelFormat> by_path = ModelFormatOfPath(path);
  const bool is_text_form = by_path.has_value() && FormatRow(*by_path).text_of == ModelFormatName(format);
  return is_text_form ? *by_path : format;
}

bool IsTextForm(ModelFormat format) { return !FormatRow(format).text_of.empty(); }

std::optional<ModelFormat> FormatOf(const Graph& graph) {
  return ModelFormatFromName(graph.header().String(kHeaderFormat, ""));
}

ModelFormat WrittenFormat(const Graph& graph) { return FormatOf(graph).value_or(ModelFormat::kOnnx); }

void SetFormat(Graph& graph, ModelFormat format) {
  GraphEditor(graph).SetHeader(std::string(kHeaderFormat), std::string(ModelFormatName(format)));
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
  absl::StatusOr<Graph> graph = FormatRow(*format).import_bytes(bytes, options.outputs);
  if (!graph.ok()) return Annotate(graph.status(), Concat("'", name, "'"));
  return graph;
}

absl::StatusOr<std::string> ExportModel(const Graph& graph, const ExportOptions& options) {
  return FormatRow(WrittenFormat(graph)).export_graph(graph, options);
}

absl::StatusOr<int64_t> CountNodesOfFile(std::string_view bytes, ModelFormat format) {
  return FormatRow(format).count_nodes(bytes);
}

FileTypes FileTypesOf(ModelFormat format, TargetRuntime target_runtime) {
  return FormatRow(format).types(target_runtime);
}

absl::Status LoadsIn(const Graph& graph, TargetRuntime target_runtime) {
  return FormatRow(WrittenFormat(graph)).loads_in(graph, target_runtime);
}

}  // namespace halftone

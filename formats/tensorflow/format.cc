// SPDX-License-Identifier: Apache-2.0
// GraphDefs, binary and text, as two of the formats of models (formats/format.h).

#include "formats/format.h"

#include "formats/tensorflow/dialects.h"
#include "formats/tensorflow/exporter.h"
#include "formats/tensorflow/importer.h"
#include "formats/tensorflow/node_count.h"
#include "formats/tensorflow/type_limits.h"

namespace halftone {
namespace {

bool Recognizes(std::string_view bytes) {
  constexpr char kNodeField = 0x0a;      // GraphDef.node: field 1, a message
  constexpr char kVersionsField = 0x22;  // GraphDef.versions: field 4, a message
  return bytes.size() >= 2 && (bytes[0] == kNodeField || bytes[0] == kVersionsField);
}

template <bool is_text>
absl::StatusOr<Graph> Import(std::string_view bytes, const std::vector<std::string>& outputs) {
  return ImportGraphDef(bytes, is_text, {outputs});
}

absl::StatusOr<std::string> Export(const Graph& graph, const ExportOptions& options) {
  return ExportGraphDef(graph, options.as_text, options.integer_operators);
}

template <bool is_text>
absl::StatusOr<int64_t> CountNodes(std::string_view bytes) {
  return CountGraphDefNodes(bytes, is_text);
}

FileTypes Types(TargetRuntime) { return GraphDefFileTypes(); }

absl::Status LoadsIn(const Graph&, TargetRuntime target_runtime) {
  if (target_runtime == TargetRuntime::kAny) return absl::OkStatus();
  return absl::InvalidArgumentError("ONNX Runtime loads ONNX files, not a TensorFlow GraphDef");
}

Format MakeFormat() {
  static const FileDialect* const kDialects[] = {&GraphDefDialect(), &TensorFlowDialect(), &ItexDialect()};
  return {
      .name = "graphdef",
      .extension = ".pb",
      .title = "a TensorFlow GraphDef",
      .names_outputs = false,
      .int8 = {.recurrent = false,
               .per_channel_dynamic = false,
               .operators_fuse = true,
               .operators_have_zero_points = false,
               .operators_per_channel_matmul = false},
      .dialects = kDialects,
      .recognizes = Recognizes,
      .import_bytes = Import</*is_text=*/false>,
      .export_graph = Export,
      .count_nodes = CountNodes</*is_text=*/false>,
      .types = Types,
      .loads_in = LoadsIn,
  };
}

}  // namespace

const Format& GraphDefFormat() {
  static const Format kFormat = MakeFormat();
  return kFormat;
}

// Its graphs are a GraphDef's; never known by the first bytes.
const Format& GraphDefTextFormat() {
  static const Format kFormat = [] {
    Format format = MakeFormat();
    format.name = "graphdef-text";
    format.extension = ".pbtxt";
    format.text_of = "graphdef";
    format.recognizes = nullptr;
    format.import_bytes = Import</*is_text=*/true>;
    format.count_nodes = CountNodes</*is_text=*/true>;
    return format;
  }();
  return kFormat;
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// ONNX as one of the formats of models (formats/format.h).

#include "formats/format.h"

#include "formats/onnx/dialects.h"
#include "formats/onnx/exporter.h"
#include "formats/onnx/importer.h"
#include "formats/onnx/node_count.h"
#include "formats/onnx/target_runtimes.h"

namespace halftone {
namespace {

// ModelProto.ir_version: field 1, a number.
bool Recognizes(std::string_view bytes) { return bytes.size() >= 2 && bytes[0] == 0x08; }

absl::StatusOr<Graph> Import(std::string_view bytes, const std::vector<std::string>& outputs) {
  if (!outputs.empty())
    return absl::InvalidArgumentError("outputs can be chosen for a GraphDef only; an ONNX file names its own");
  return ImportOnnx(bytes);
}

}  // namespace

const Format& OnnxFormat() {
  static const FileDialect* const kDialects[] = {&OnnxDialect(), &OnnxRuntimeDialect()};
  static const Format kFormat = {
      .name = "onnx",
      .extension = ".onnx",
      .title = "ONNX",
      .runtime = TargetRuntime::kOnnxRuntime,
      .dialects = kDialects,
      .recognizes = Recognizes,
      .import_bytes = Import,
      .export_graph = ExportOnnx,
      .count_nodes = CountOnnxNodes,
      .types = OnnxFileTypes,
      .loads_in = OnnxLoadsIn,
  };
  return kFormat;
}

}  // namespace halftone

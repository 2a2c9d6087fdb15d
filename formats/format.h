// SPDX-License-Identifier: Apache-2.0
// What a format of models implements: one constant Format in its folder, which formats.inc lists.
#ifndef HALFTONE_FORMATS_FORMAT_H_
#define HALFTONE_FORMATS_FORMAT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/file_dialect.h"
#include "ir/file_types.h"
#include "ir/graph.h"

namespace halftone {

// What loads the file later, where that is known.
enum class TargetRuntime : uint8_t {
  kAny,          // whatever the format allows
  kOnnxRuntime,  // ONNX Runtime 1.21, CPU provider
};
inline constexpr int kNumTargetRuntimes = static_cast<int>(TargetRuntime::kOnnxRuntime) + 1;

struct ExportOptions {
  // ONNX only: at least this opset.
  int min_opset = 0;
  // Operators of integers (ONNX: QLinearConv and its like; GraphDef: ops on quantized tensors) in the place of pairs of
  // quantize_linear and dequantize_linear, wherever there is one.
  bool integer_operators = false;
  // GraphDef only: .pbtxt.
  bool as_text = false;
};

// What a format's files can say of quantized ops.
struct Int8Support {
  bool recurrent = true;            // LSTM, GRU and RNN with int8 weights and hidden state
  bool per_channel_dynamic = true;  // matmuls whose activations are quantized in each run, with a scale per channel
  // Of ops on integers (ExportOptions::integer_operators):
  bool operators_fuse = false;  // they add and activate; without it each result is quantized, and less is fused
  bool operators_have_zero_points = true;
  bool operators_per_channel_matmul = true;  // a matmul has a scale per channel of its weights
};

// All functions are thread-safe.
struct Format {
  std::string_view name;       // "onnx": of the command line, and kHeaderFormat of its graphs
  std::string_view extension;  // ".onnx"
  std::string_view title;      // "ONNX", in sentences: "the model is ONNX"
  std::string_view text_of;    // "graphdef": this is the text form of that format; else ""
  bool names_outputs = true;   // files say which values are outputs; else who runs a file must name them
  TargetRuntime runtime = TargetRuntime::kAny;  // loads the files of this format; kAny: none that is known
  Int8Support int8;
  // The portable one first (ir/file_dialect.h).
  std::span<const FileDialect* const> dialects;
  // Whether a file may be of this format, by its first bytes; nullptr: never known by them.
  bool (*recognizes)(std::string_view bytes);
  // `outputs`: what to compute, where a file does not say it; INVALID_ARGUMENT where it does. The graph's header has the
  // name of the format.
  absl::StatusOr<Graph> (*import_bytes)(std::string_view bytes, const std::vector<std::string>& outputs);
  absl::StatusOr<std::string> (*export_graph)(const Graph& graph, const ExportOptions& options);
  // Operators of the main graph as the file has them, constants and inputs aside.
  absl::StatusOr<int64_t> (*count_nodes)(std::string_view bytes);
  // What a file may hold of types below f32, and of that what the target runtime runs.
  FileTypes (*types)(TargetRuntime target_runtime);
  // Why the target runtime does not load the graph as it would be written, see LoadsIn of formats.h.
  absl::Status (*loads_in)(const Graph& graph, TargetRuntime target_runtime);
};

}  // namespace halftone

#endif  // HALFTONE_FORMATS_FORMAT_H_

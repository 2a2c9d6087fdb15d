// SPDX-License-Identifier: Apache-2.0
// Models for the tests of this folder, in ONNX's text syntax.
#ifndef HALFTONE_FORMATS_ONNX_TEST_MODELS_H_
#define HALFTONE_FORMATS_ONNX_TEST_MODELS_H_

#include <string>

#include "absl/status/statusor.h"
#include "formats/onnx/exporter.h"
#include "formats/onnx/importer.h"
#include "gtest/gtest.h"
#include "ir/graph.h"
#include "onnx/defs/parser.h"

namespace halftone::onnx_format {

// A whole model. The text after the header: `agraph (float[2,3] x) => (float[2,3] y) { y = Relu(x) }`.
inline onnx::ModelProto Model(int opset, const std::string& graph, int ir_version = 8) {
  onnx::ModelProto model;
  const std::string header =
      "<ir_version: " + std::to_string(ir_version) + ", opset_import: [\"\" : " + std::to_string(opset) + "]>\n";
  const onnx::Common::Status status = onnx::OnnxParser::Parse(model, (header + graph).c_str());
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  return model;
}

inline absl::StatusOr<Graph> Import(const onnx::ModelProto& model) { return ImportOnnx(model.SerializeAsString()); }

inline Graph Imported(const onnx::ModelProto& model) {
  absl::StatusOr<Graph> graph = Import(model);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph();
}

inline onnx::ModelProto Exported(const Graph& graph, int min_opset = 0) {
  const absl::StatusOr<std::string> bytes = ExportOnnx(graph, {.min_opset = min_opset});
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  onnx::ModelProto model;
  EXPECT_TRUE(bytes.ok() && model.ParseFromString(*bytes));
  return model;
}

// "Op(in1,in2)->out1 {name=value, ...}" of every node, a line each: what matters to a reader of the file.
inline std::string NodesOf(const onnx::ModelProto& model) {
  std::string text;
  for (const onnx::NodeProto& node : model.graph().node()) {
    text += node.op_type() + "(";
    for (int i = 0; i < node.input_size(); ++i) text += (i ? "," : "") + node.input(i);
    text += ")->";
    for (int i = 0; i < node.output_size(); ++i) text += (i ? "," : "") + node.output(i);
    for (const onnx::AttributeProto& a : node.attribute()) {
      text += " " + a.name() + "=";
      if (a.has_i()) text += std::to_string(a.i());
      if (a.has_f()) text += std::to_string(a.f());
      if (a.has_s()) text += a.s();
      for (const int64_t v : a.ints()) text += std::to_string(v) + ";";
      if (a.has_g()) text += "graph";
      if (a.has_t()) text += "tensor";
    }
    text += "\n";
  }
  return text;
}

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_TEST_MODELS_H_

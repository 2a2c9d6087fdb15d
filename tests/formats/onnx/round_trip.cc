// SPDX-License-Identifier: Apache-2.0
// round_trip IN.onnx OUT.onnx [MIN_OPSET | bf16]: import -> text -> parse -> export. For round_trip_test.py.
// bf16: with every f32 value turned into bf16 where ONNX allows it, to see whether the types fit the opset that is
// chosen.

#include <cstdlib>
#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "base/files.h"
#include "base/status.h"
#include "formats/onnx/exporter.h"
#include "formats/onnx/importer.h"
#include "ir/editor.h"
#include "ir/nested.h"
#include "ir/text.h"
#include "ir/verifier.h"

namespace halftone {
namespace {

// Operands that stay f32 whatever the data is.
bool StaysF32(const Graph& graph, ValueId value) {
  for (const Use& use : graph.uses(value)) {
    const OpKind op = graph.op(use.node);
    const bool operand =
        op == OpKind::kResize || op == OpKind::kBatchNorm || op == OpKind::kDropout || op == OpKind::kPow;
    if (operand && use.index > 0) return true;
  }
  return false;
}

absl::Status LowerAll(Graph& graph) {
  GraphEditor edit(graph);
  for (const NodeId id : graph.nodes()) {
    if (graph.op(id) == OpKind::kOpaque) return absl::UnimplementedError("bf16 with opaque nodes");
    if (HasNestedGraphs(graph.op(id))) return absl::UnimplementedError("bf16 with nested graphs, which stay f32");
    for (const ValueId value : graph.node(id).outputs) {
      if (!value.valid() || graph.type(value) != DataType::kFloat32 || StaysF32(graph, value)) continue;
      edit.SetType(value, DataType::kBFloat16);
      const Tensor* tensor = graph.ConstantTensor(value);
      if (tensor == nullptr) continue;
      HALFTONE_ASSIGN_OR_RETURN(Tensor lowered, tensor->ConvertTo(DataType::kBFloat16));
      edit.SetAttribute(id, "value", std::move(lowered));
    }
  }
  return VerifyGraph(graph);
}

absl::Status RoundTrip(const std::string& in, const std::string& out, const std::string& mode) {
  HALFTONE_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(in));
  HALFTONE_ASSIGN_OR_RETURN(const Graph graph, ImportOnnx(file.bytes()));
  HALFTONE_RETURN_IF_ERROR(Annotate(VerifyGraph(graph), "after import"));
  const std::string text = PrintGraph(graph, {.with_weights = true});
  HALFTONE_ASSIGN_OR_RETURN(Graph parsed, ParseGraph(text));
  if (PrintGraph(parsed, {.with_weights = true}) != text)
    return absl::InternalError("the text changes when it is parsed");
  if (mode == "bf16") HALFTONE_RETURN_IF_ERROR(LowerAll(parsed));
  HALFTONE_ASSIGN_OR_RETURN(const std::string bytes, ExportOnnx(parsed, {.min_opset = std::atoi(mode.c_str())}));
  HALFTONE_ASSIGN_OR_RETURN(const Graph again, ImportOnnx(bytes));
  HALFTONE_RETURN_IF_ERROR(Annotate(VerifyGraph(again), "after the second import"));
  int opaque = 0;
  for (const NodeId id : graph.nodes()) opaque += graph.op(id) == OpKind::kOpaque;
  std::cout << graph.num_nodes() << " nodes, " << opaque << " opaque\n";
  return WriteFileAtomically(out, bytes);
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: round_trip IN.onnx OUT.onnx [MIN_OPSET | bf16]\n";
    return 2;
  }
  const absl::Status status = halftone::RoundTrip(argv[1], argv[2], argc > 3 ? argv[3] : "");
  if (!status.ok()) std::cerr << argv[1] << ": " << status << "\n";
  return status.ok() ? 0 : 1;
}

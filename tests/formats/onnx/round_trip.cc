// round_trip IN.onnx OUT.onnx [MIN_OPSET]: import -> text -> parse -> export. For round_trip_test.py.

#include <cstdlib>
#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "base/files.h"
#include "base/status.h"
#include "formats/onnx/exporter.h"
#include "formats/onnx/importer.h"
#include "ir/text.h"
#include "ir/verifier.h"

namespace halftone {
namespace {

absl::Status RoundTrip(const std::string& in, const std::string& out, int min_opset) {
  HALFTONE_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(in));
  HALFTONE_ASSIGN_OR_RETURN(const Graph graph, ImportOnnx(file.bytes()));
  HALFTONE_RETURN_IF_ERROR(Annotate(VerifyGraph(graph), "after import"));
  const std::string text = PrintGraph(graph, {.with_weights = true});
  HALFTONE_ASSIGN_OR_RETURN(const Graph parsed, ParseGraph(text));
  if (PrintGraph(parsed, {.with_weights = true}) != text)
    return absl::InternalError("the text changes when it is parsed");
  HALFTONE_ASSIGN_OR_RETURN(const std::string bytes, ExportOnnx(parsed, {.min_opset = min_opset}));
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
    std::cerr << "usage: round_trip IN.onnx OUT.onnx [MIN_OPSET]\n";
    return 2;
  }
  const absl::Status status = halftone::RoundTrip(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 0);
  if (!status.ok()) std::cerr << argv[1] << ": " << status << "\n";
  return status.ok() ? 0 : 1;
}

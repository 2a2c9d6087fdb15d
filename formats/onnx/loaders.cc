#include "formats/onnx/loaders.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/strings.h"
#include "formats/onnx/op_map.h"
#include "formats/onnx/opsets.h"
#include "ir/nested.h"

namespace halftone {
namespace {

constexpr std::string_view kOnnxRuntimeBf16[] = {
#define KERNEL(op) op,
#include "formats/onnx/onnxruntime_bf16.inc"
#undef KERNEL
};

// A runtime, and why it does not run a node with its types; "" if it does.
struct LoaderRow {
  Loader loader;
  std::string_view name;
  std::string_view runtime;  // for people
  bool (*runs)(const Graph& graph, NodeId node);
};

bool HasOnnxRuntimeKernel(const Graph& graph, NodeId id) {
  if (!HasType(graph, id, DataType::kBFloat16)) return true;  // f16: it puts casts around what has no kernel
  const OpKind op = graph.op(id);
  if (op == OpKind::kInput || op == OpKind::kConstant) return true;
  const std::string name = onnx_format::OperatorName(graph, id);
  return std::find(std::begin(kOnnxRuntimeBf16), std::end(kOnnxRuntimeBf16), name) != std::end(kOnnxRuntimeBf16);
}

constexpr LoaderRow kLoaders[] = {
    {Loader::kAny, "any", "", nullptr},
    {Loader::kOnnxRuntime, "onnxruntime", "ONNX Runtime's CPU provider (1.21)", HasOnnxRuntimeKernel},
};
static_assert(std::size(kLoaders) == kNumLoaders && kLoaders[1].loader == Loader::kOnnxRuntime,
              "a row a loader, in the order of Loader");

const LoaderRow& Row(Loader loader) { return kLoaders[static_cast<int>(loader)]; }

}  // namespace

std::string_view LoaderName(Loader loader) { return Row(loader).name; }

std::optional<Loader> LoaderFromName(std::string_view name) {
  for (const LoaderRow& row : kLoaders) {
    if (row.name == name) return row.loader;
  }
  return std::nullopt;
}

absl::Status OnnxLoadsIn(const Graph& graph, Loader loader) {
  const LoaderRow& row = Row(loader);
  if (row.runs == nullptr) return absl::OkStatus();
  if (graph.format() == GraphFormat::kGraphDef)
    return absl::InvalidArgumentError(Concat(row.runtime, " loads ONNX files, not a TensorFlow GraphDef"));
  constexpr int kNamed = 3;
  int count = 0;
  std::string named;
  for (const Graph* part : WithNested(graph)) {
    for (const NodeId id : part->nodes()) {
      if (row.runs(*part, id)) continue;
      if (count++ < kNamed) {
        named += Concat(named.empty() ? "'" : ", '", part->Label(id), "' (", onnx_format::OperatorName(*part, id), ")");
      }
    }
  }
  if (count == 0) return absl::OkStatus();
  return absl::UnimplementedError(Concat(row.runtime, " does not load the file: it has no bf16 kernel for ", count,
                                         count == 1 ? " node: " : " nodes: ", named, count > kNamed ? ", ..." : ""));
}

FileTypes OnnxFileTypes(Loader loader) {
  return [loader](const Graph& graph) -> TypeRefusal {
    return [&graph, loader, highest = onnx_format::HighestOpsetOf(graph)](NodeId id) -> std::string {
      std::string refusal = onnx_format::RefuseTypes(graph, id, highest);
      const LoaderRow& row = Row(loader);
      if (!refusal.empty() || row.runs == nullptr || row.runs(graph, id)) return refusal;
      return Concat(row.runtime, " has no bf16 ", onnx_format::OperatorName(graph, id));
    };
  };
}

}  // namespace halftone

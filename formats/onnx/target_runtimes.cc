// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/target_runtimes.h"

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
struct TargetRuntimeRow {
  TargetRuntime target_runtime;
  std::string_view name;
  std::string_view runtime;  // as messages name it
  bool (*runs)(const Graph& graph, NodeId node);
};

bool HasOnnxRuntimeKernel(const Graph& graph, NodeId id) {
  if (!HasType(graph, id, DataType::kBFloat16)) return true;  // f16: it puts casts around what has no kernel
  const OpKind op = graph.op(id);
  if (op == OpKind::kInput || op == OpKind::kConstant) return true;
  const std::string name = onnx_format::OperatorName(graph, id);
  return std::find(std::begin(kOnnxRuntimeBf16), std::end(kOnnxRuntimeBf16), name) != std::end(kOnnxRuntimeBf16);
}

constexpr TargetRuntimeRow kTargetRuntimes[] = {
    {TargetRuntime::kAny, "any", "", nullptr},
    {TargetRuntime::kOnnxRuntime, "onnxruntime", "ONNX Runtime's CPU provider (1.21)", HasOnnxRuntimeKernel},
};
static_assert(std::size(kTargetRuntimes) == kNumTargetRuntimes &&
                  kTargetRuntimes[1].target_runtime == TargetRuntime::kOnnxRuntime,
              "one row per target runtime, in the order of TargetRuntime");

const TargetRuntimeRow& Row(TargetRuntime target_runtime) { return kTargetRuntimes[static_cast<int>(target_runtime)]; }

}  // namespace

std::string_view TargetRuntimeName(TargetRuntime target_runtime) { return Row(target_runtime).name; }

std::optional<TargetRuntime> TargetRuntimeFromName(std::string_view name) {
  for (const TargetRuntimeRow& row : kTargetRuntimes) {
    if (row.name == name) return row.target_runtime;
  }
  return std::nullopt;
}

absl::Status OnnxLoadsIn(const Graph& graph, TargetRuntime target_runtime) {
  const TargetRuntimeRow& row = Row(target_runtime);
  if (row.runs == nullptr) return absl::OkStatus();
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

FileTypes OnnxFileTypes(TargetRuntime target_runtime) {
  return [target_runtime](const Graph& graph) -> TypeRefusal {
    return [&graph, target_runtime, highest = onnx_format::HighestOpsetOf(graph)](NodeId id) -> std::string {
      std::string refusal = onnx_format::RefuseTypes(graph, id, highest);
      const TargetRuntimeRow& row = Row(target_runtime);
      if (!refusal.empty() || row.runs == nullptr || row.runs(graph, id)) return refusal;
      return Concat(row.runtime, " has no bf16 ", onnx_format::OperatorName(graph, id));
    };
  };
}

}  // namespace halftone

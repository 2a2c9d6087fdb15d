// SPDX-License-Identifier: Apache-2.0
#include "tests/formats/lowered_models.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "formats/formats.h"
#include "optimizer/convert.h"
#include "passes/core/permissive_target.h"

namespace halftone::testing {

std::string NameOf(const Lowering& lowering) {
  return Concat(lowering.planner == PlannerKind::kLists ? "lists" : "placement", ", ", VariantName(lowering.kind), ", ",
                TargetRuntimeName(lowering.target_runtime), ", ", DialectName(lowering.dialect));
}

std::vector<Lowering> AllLowerings(ModelFormat format) {
  std::vector<Lowering> all;
  const bool graphdef = format == ModelFormat::kGraphDef;
  for (const PlannerKind planner : {PlannerKind::kLists, PlannerKind::kPlacement}) {
    for (const VariantKind kind : {VariantKind::kBf16, VariantKind::kFp16}) {
      all.push_back({planner, kind});
      if (!graphdef) all.push_back({planner, kind, TargetRuntime::kOnnxRuntime});
    }
    if (!graphdef) continue;
    all.push_back({planner, VariantKind::kBf16, TargetRuntime::kAny, Dialect::kTensorFlow});
    all.push_back({planner, VariantKind::kBf16, TargetRuntime::kAny, Dialect::kItex});
  }
  return all;
}

absl::StatusOr<Graph> Lower(const Graph& imported, const Lowering& lowering) {
  const PermissiveTarget target;
  OptimizeOptions options;
  options.planner_kind = lowering.planner;
  options.target_runtime = lowering.target_runtime;
  options.dialect = lowering.dialect;
  options.policy_sha256 = std::string(64, 'a');
  options.force = true;
  HALFTONE_ASSIGN_OR_RETURN(const OptimizedModel model, OptimizeModel(imported, target, options));
  HALFTONE_ASSIGN_OR_RETURN(ConvertedGraph converted, ConvertPrecision(lowering.kind, model, target, options));
  return std::move(converted.graph);
}

absl::StatusOr<Written> WriteAndRead(const Graph& graph, const std::vector<GraphOutput>& outputs) {
  Written written;
  HALFTONE_ASSIGN_OR_RETURN(written.bytes, ExportModel(graph));
  ImportOptions options{.format = ModelFormat::kOnnx};
  if (FormatOf(graph) == ModelFormat::kGraphDef) {
    options.format = ModelFormat::kGraphDef;
    for (const GraphOutput& output : outputs) options.outputs.push_back(output.name);
  }
  HALFTONE_ASSIGN_OR_RETURN(written.again, ImportModelBytes(written.bytes, "written", options));
  return written;
}

std::vector<std::string> SharedModels() {
  const char* shared = std::getenv("HALFTONE_SHARED");
  std::vector<std::string> paths;
  const std::string folder = shared == nullptr ? "" : std::string(shared) + "/data/models";
  if (shared == nullptr || !std::filesystem::exists(folder)) return paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::filesystem::path& path = entry.path();
    const bool saved = path.string().find("/savedmodel/") != std::string::npos;  // other messages, in .pb too
    const bool frozen = path.extension() == ".pb" && !saved;
    if (frozen || path.extension() == ".onnx") paths.push_back(path.string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace halftone::testing

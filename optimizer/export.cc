// SPDX-License-Identifier: Apache-2.0
#include "optimizer/export.h"

#include <string>

#include "base/files.h"
#include "base/status.h"
#include "base/strings.h"
#include "optimizer/convert.h"
#include "optimizer/quantize_for_runtime.h"

namespace halftone {

absl::Status SaveModel(const Graph& graph, const std::string& path, ExportOptions options) {
  options.as_text = IsTextForm(FormatOfFile(WrittenFormat(graph), path));
  HALFTONE_ASSIGN_OR_RETURN(const std::string bytes, ExportModel(graph, options));
  return WriteFileAtomically(path, bytes);
}

absl::Status WriteVariant(const OptimizedModel& model, const Target& target, const OptimizeOptions& options,
                          const std::string& path, ConvertedGraph& converted) {
  const VariantKind kind = converted.kind;
  const ExportOptions file = FileOptionsOf(kind, options.int8.form);
  absl::Status saved = SaveModel(converted.graph, path, file);
  if (kind != VariantKind::kFp32 && absl::IsUnimplemented(saved)) {
    const Reason why{"baseline.kept", std::string(saved.message())};
    HALFTONE_ASSIGN_OR_RETURN(converted, KeepFp32(kind, model, target, options, why));
    saved = SaveModel(converted.graph, path, file);
  }
  if (absl::IsUnimplemented(saved)) {
    const Reason why{"baseline.not-fused", std::string(saved.message())};
    HALFTONE_ASSIGN_OR_RETURN(converted, KeepUnfused(kind, model, target, options, why));
    saved = SaveModel(converted.graph, path, file);
  }
  return Annotate(std::move(saved), Concat(VariantName(kind), " variant"));
}

}  // namespace halftone

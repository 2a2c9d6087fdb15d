// SPDX-License-Identifier: Apache-2.0
#include "optimizer/check_options.h"

#include <optional>

#include "base/status.h"
#include "base/strings.h"
#include "formats/dialects.h"
#include "formats/formats.h"
#include "optimizer/plan_precision.h"
#include "passes/transforms/named_passes.h"

namespace halftone {

absl::Status CheckOptions(const OptimizeOptions& options) {
  const std::optional<ModelFormat> format =
      options.model.format.has_value() ? options.model.format : ModelFormatOfPath(options.model.label());
  if (format.has_value()) {
    HALFTONE_RETURN_IF_ERROR(CheckDialect(options.dialect, *format));
    if (options.target_runtime != TargetRuntime::kAny && options.target_runtime != FormatRow(*format).runtime) {
      return absl::InvalidArgumentError(Concat("target runtime ", TargetRuntimeName(options.target_runtime),
                                               " does not load the model's format: it is ", FormatRow(*format).title));
    }
  }
  for (const std::string& pass : options.passes) {
    HALFTONE_RETURN_IF_ERROR(Annotate(ParseNamedPass(pass).status(), Concat("pass '", pass, "'")));
  }
  return CheckPlannerOptions(options);
}

}  // namespace halftone

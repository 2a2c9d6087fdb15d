// SPDX-License-Identifier: Apache-2.0
#include "optimizer/int8_source.h"

#include "base/status.h"

namespace halftone {

absl::StatusOr<Int8Source> MakeInt8Source(const OptimizedModel& model, const Target& target,
                                          const OptimizeOptions& options) {
  Int8Source source;
  source.has_ranges = options.int8.mode == Int8Mode::kStatic;
  HALFTONE_ASSIGN_OR_RETURN(source.base, MakeInt8Base(model, target, options));
  if (!source.has_ranges) return source;
  HALFTONE_ASSIGN_OR_RETURN(source.calibrated, CalibrateModel(model.imported.graph, source.base.graph, options));
  return source;
}

}  // namespace halftone

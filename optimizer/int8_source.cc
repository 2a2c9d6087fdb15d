#include "optimizer/int8_source.h"

#include "base/status.h"

namespace halftone {

absl::StatusOr<Int8Source> MakeInt8Source(const PreparedModel& model, const Target& target,
                                          const OptimizeOptions& options) {
  Int8Source source;
  HALFTONE_ASSIGN_OR_RETURN(source.base, MakeInt8Base(model, target, options));
  HALFTONE_ASSIGN_OR_RETURN(source.calibrated, CalibrateModel(model.graph, source.base.graph, options));
  HALFTONE_RETURN_IF_ERROR(SmoothBase(source.base, source.calibrated.ranges, target, options));
  return source;
}

}  // namespace halftone

#include "optimizer/int8_source.h"

#include "base/status.h"

namespace halftone {
namespace {

absl::Status CheckMode(Int8Mode mode, GraphFormat format) {
  if (mode != Int8Mode::kDynamic || format != GraphFormat::kGraphDef) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "int8 mode dynamic: TensorFlow has no product whose ranges are found by the run; modes static and weights write "
      "GraphDefs, mode dynamic ONNX models");
}

}  // namespace

absl::StatusOr<Int8Source> MakeInt8Source(const PreparedModel& model, const Target& target,
                                          const OptimizeOptions& options) {
  HALFTONE_RETURN_IF_ERROR(CheckMode(options.int8.mode, model.graph.format()));
  Int8Source source;
  source.has_ranges = options.int8.mode == Int8Mode::kStatic;
  HALFTONE_ASSIGN_OR_RETURN(source.base, MakeInt8Base(model, target, options));
  if (!source.has_ranges) return source;
  HALFTONE_ASSIGN_OR_RETURN(source.calibrated, CalibrateModel(model.graph, source.base.graph, options));
  HALFTONE_RETURN_IF_ERROR(SmoothBase(source.base, source.calibrated.ranges, target, options));
  return source;
}

}  // namespace halftone

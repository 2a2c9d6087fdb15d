// Between which numbers the values of a model lie: from samples, from a file that says it, or from random numbers where
// there is neither.
#ifndef HALFTONE_OPTIMIZER_CALIBRATE_H_
#define HALFTONE_OPTIMIZER_CALIBRATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/value_ranges.h"
#include "optimizer/job.h"

namespace halftone {

struct CalibratedRanges {
  ValueRanges ranges;
  CalibrationSummary summary;
  std::vector<std::string> warnings;
};

// Ranges of the values of `fused`, the graph that is quantized next, and the file MODEL.ranges.json of them in
// options.out_dir. From options.int8.ranges where it is set, from options.calibration where there are samples (or from
// the file of options.known_ranges that was made of the same), else from seeded random inputs, with a warning.
// `imported`: the model before its fusion, whose names a log of TensorFlow has. Samples are read batch by batch; memory
// does not depend on their number.
// Errors: INVALID_ARGUMENT: what is wrong with samples or file (names file and array or field; sample, value and node
// of a number that is not finite), no range in the file is of a value of this model, a percentile out of its limits.
absl::StatusOr<CalibratedRanges> CalibrateModel(const Graph& imported, const Graph& fused,
                                                const OptimizeOptions& options);

// "dir/resnet50.onnx" -> "resnet50.ranges.json".
std::string RangesFileName(const ModelSource& model);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_CALIBRATE_H_

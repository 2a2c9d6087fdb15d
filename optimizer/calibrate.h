// SPDX-License-Identifier: Apache-2.0
// A step of a job: the ranges of the values of a model, from calibration samples, from a file of ranges, or from random
// inputs where there is neither.
#ifndef HALFTONE_OPTIMIZER_CALIBRATE_H_
#define HALFTONE_OPTIMIZER_CALIBRATE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/ranges/ranges_json.h"
#include "ir/graph.h"
#include "ir/value_ranges.h"
#include "optimizer/options.h"
#include "runtime/calibrate/calibration.h"

namespace halftone {

// Where the ranges of the int8 variant came from.
struct CalibrationSummary {
  int64_t samples = 0;
  bool synthetic = false;  // random numbers: ranges of real data differ
  std::string calibrator;  // "min-max", ... (ir/value_ranges.h)
  std::string source;      // "samples", "ranges", "synthetic", "cache"
  std::string file_name;   // "resnet50.ranges.json"
  std::string path;        // local file
  std::string sha256;
  std::string key;  // RangesKey, of samples where OptimizeOptions::known_ranges is set
  std::map<std::string, int64_t> always_zero_channels;  // by value: how many channels were 0 in every sample
  std::vector<std::string> still_widening;              // values whose range grew notably at the last sample
  double seconds = 0;
};

struct CalibratedRanges {
  ValueRanges ranges;
  CalibrationSummary summary;
  std::vector<std::string> warnings;
  RangesFile origin;  // what the file says beside the ranges; its own are empty
  // Statistics of the samples, where options.int8.goal is set: other calibrators choose from them. nullptr: not kept, or
  // the ranges came from a file or an earlier job.
  std::shared_ptr<const Calibration> seen;
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

// What another calibrator, that of options.int8, chooses from the same samples. They run through `fused` again only
// where `calibrated.seen` is not there, which then is. Not for ranges that a file gave. Errors as CalibrateModel.
absl::StatusOr<ValueRanges> RangesByCalibrator(const Graph& fused, const OptimizeOptions& options,
                                               CalibratedRanges& calibrated);

// These ranges of RangesByCalibrator in the place of the others: in `calibrated`, its summary and the file.
absl::Status TakeRanges(ValueRanges ranges, const Graph& fused, const OptimizeOptions& options,
                        CalibratedRanges& calibrated);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_CALIBRATE_H_

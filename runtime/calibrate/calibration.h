// SPDX-License-Identifier: Apache-2.0
// Runs samples through a graph and looks at every f32 value that is computed. One pass serves all calibrators; memory
// does not depend on the number of samples: TensorStatistics of at most 64 KB for each value, and one run's values.
//
// Seen are the graph's inputs and what its own nodes compute in a run; not constants, nor what nested graphs (loops,
// if) compute inside. A value that is the memory of another under a new shape has that one's numbers.
#ifndef HALFTONE_RUNTIME_CALIBRATE_CALIBRATION_H_
#define HALFTONE_RUNTIME_CALIBRATE_CALIBRATION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "ir/value_ranges.h"
#include "runtime/calibrate/calibrators.h"
#include "runtime/plan/plan.h"

namespace halftone {

// Inputs of one run, in the order of graph.inputs().
struct CalibrationBatch {
  std::vector<Tensor> inputs;
  // Samples in it. Where the inputs' first dimension is larger, the rest of it is padding and not counted.
  int64_t samples = 1;
  // Of a run as the batch was made; samples or more.
  int64_t capacity = 1;
};

// The next batch, nullopt after the last one.
using CalibrationSource = std::function<absl::StatusOr<std::optional<CalibrationBatch>>()>;

// What was seen of one value.
struct SeenValue {
  TensorStatistics statistics;
  int channel_axis = -1;
  uint64_t expected = 0;  // elements of the value's shape times samples: what the histogram's total must be
};

// Movable, not copyable. Thread-compatible.
class Calibration {
 public:
  // Of graphs with free dimensions each batch decides by its own; plans of the last few shapes are kept. Where shapes
  // depend on what is computed all values of a run are kept in memory, once.
  // Errors: INVALID_ARGUMENT: no batch; an input of another type or shape than the graph's; a number that is NaN or
  // infinite (names value, node and sample). Those of Plan::Compile and Run, of the source.
  static absl::StatusOr<Calibration> Collect(const Graph& graph, const CalibrationSource& source,
                                             const CompileOptions& options = {});

  // The range of every value. Errors as ChooseRange.
  absl::StatusOr<ValueRanges> Ranges(const CalibratorOptions& options) const;

  int64_t samples() const { return samples_; }
  int64_t batches() const { return batches_; }
  const std::map<std::string, std::unique_ptr<SeenValue>>& values() const { return values_; }  // by RangeName
  // Values that lie in the memory of another: by RangeName, the other's.
  const std::map<std::string, std::string>& views() const { return views_; }

 private:
  friend class CalibrationRun;
  std::map<std::string, std::unique_ptr<SeenValue>> values_;
  std::map<std::string, std::string> views_;
  int64_t samples_ = 0;
  int64_t batches_ = 0;
};

// Collect and Ranges.
absl::StatusOr<ValueRanges> CalibrateGraph(const Graph& graph, const CalibrationSource& source,
                                           const CalibratorOptions& calibrator, const CompileOptions& options = {});

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_CALIBRATE_CALIBRATION_H_

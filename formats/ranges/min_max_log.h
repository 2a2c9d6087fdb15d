// SPDX-License-Identifier: Apache-2.0
// Ranges from a log of TensorFlow: what a graph prints after transform_graph's insert_logging was put on its
// RequantizationRange, Min and Max nodes, among whatever else was printed. A record is
//
//   NODE__print__;__requant_min_max:[-2.4][10.5]      NODE__print__;__min:[-0]      NODE__print__;__max:[5.72]
//
// with a ';' before it; several may stand on a line. Numbers are trimmed like freeze_requantization_ranges does it.
#ifndef HALFTONE_FORMATS_RANGES_MIN_MAX_LOG_H_
#define HALFTONE_FORMATS_RANGES_MIN_MAX_LOG_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/value_ranges.h"

namespace halftone {

// All that was printed by one node.
struct LoggedNode {
  std::string name;
  std::vector<float> mins, maxs;  // as many as records say something of them, in their order
};

struct MinMaxLog {
  std::vector<LoggedNode> nodes;    // in the order of their first record
  std::vector<int> unread_lines{};  // from 1: lines that hold a record's words but none that can be read (two programs
                                    // printed at once)
};

// Errors: INVALID_ARGUMENT names `label`: no record in it, or the line and the node of which a number is NaN or
// infinite.
absl::StatusOr<MinMaxLog> ParseMinMaxLog(std::string_view text, std::string_view label);

// How much of the records is left out at either end, in percent of their number. 5 is TensorFlow's default.
struct LogTrimming {
  float min_percentile = 5;
  float max_percentile = 5;
};

// The range of sorted mins and maxs: the min at index round(n * min_percentile / 100), the max at index
// round(n * (1 - max_percentile / 100)), the last one at most.
// REQUIRES: both not empty
struct TrimmedRange {
  float min = 0;
  float max = 0;
};
TrimmedRange Trim(const LoggedNode& node, const LogTrimming& trimming);

// Ranges for the values of the model as it was before quantize_graph. The tools name nodes after those of the model:
//   OP_eightbit_requant_range              what OP computes; of a convolution or matmul together with the bias,
//                                          sum and activation after it, as far as they have no record of their own
//                                          (that is what Intel's tools fuse)
//   OP_eightbit_min_INPUT, .._max_INPUT    OP's input from the node INPUT ("__port__N" at the end: its output N)
// Errors: INVALID_ARGUMENT names `label` and the node that the model does not have or whose name is none of these; the
// node that has mins without maxs; a percentile not in [0, 100].
absl::StatusOr<ValueRanges> RangesOfLog(const MinMaxLog& log, const Graph& model, const LogTrimming& trimming,
                                        std::string_view label);

}  // namespace halftone

#endif  // HALFTONE_FORMATS_RANGES_MIN_MAX_LOG_H_

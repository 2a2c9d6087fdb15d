// SPDX-License-Identifier: Apache-2.0
// ranges.json: what a calibration found out, as a file that can be given instead of samples.
//
// Keys are in the order of the structs here, values by name; every key is always there but "warning" (which only people
// read), so that two files of the same facts are the same bytes. Numbers read back to the same bits.
#ifndef HALFTONE_FORMATS_RANGES_RANGES_JSON_H_
#define HALFTONE_FORMATS_RANGES_RANGES_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/value_ranges.h"

namespace halftone {

struct RangesFile {
  std::string tool_version;    // of the program that wrote it
  std::string model_sha256;    // of the model's file; "": not known
  std::string samples_sha256;  // of the samples, however their owner digests them; "": synthetic, or not known
  Calibrator calibrator = Calibrator::kMinMax;
  QuantizationChoice integers = {};  // the ranges were chosen for
  double percentile = 99.99;         // of kPercentile
  ValueRanges ranges;

  bool operator==(const RangesFile&) const = default;
};

// Ends with a newline. REQUIRES: all numbers are finite
std::string WriteRanges(const RangesFile& file);

// Errors: INVALID_ARGUMENT names `label`, the field ("values.conv1.min") and what is wrong: not JSON, a missing or
// unknown key, a wrong type, an end that is no f32, min above max, a version that is not ours.
absl::StatusOr<RangesFile> ReadRanges(std::string_view text, std::string_view label);

}  // namespace halftone

#endif  // HALFTONE_FORMATS_RANGES_RANGES_JSON_H_

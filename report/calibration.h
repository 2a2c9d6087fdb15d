// SPDX-License-Identifier: Apache-2.0
// Where the activation ranges of int8 come from, as text.
#ifndef HALFTONE_REPORT_CALIBRATION_H_
#define HALFTONE_REPORT_CALIBRATION_H_

#include <string>
#include <vector>

#include "halftone/v1/report.pb.h"

namespace halftone::report {

// "calibration: 50 samples; min-max; m.ranges.json"; "" where nothing was calibrated.
std::string CalibrationNote(const v1::Calibration& calibration);

// A line for each sign of too little calibration data.
std::vector<std::string> CalibrationDetails(const v1::Calibration& calibration);

}  // namespace halftone::report

#endif  // HALFTONE_REPORT_CALIBRATION_H_

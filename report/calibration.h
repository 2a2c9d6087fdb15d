// Where the ranges of int8 came from, for people.
#ifndef HALFTONE_REPORT_CALIBRATION_H_
#define HALFTONE_REPORT_CALIBRATION_H_

#include <string>
#include <vector>

#include "halftone/v1/report.pb.h"

namespace halftone::report {

// "calibration: 50 samples; min-max; m.ranges.json", and a line for each thing in the ranges that is doubtful. Nothing
// where nothing was calibrated.
std::vector<std::string> CalibrationNotes(const v1::Calibration& calibration);

}  // namespace halftone::report

#endif  // HALFTONE_REPORT_CALIBRATION_H_

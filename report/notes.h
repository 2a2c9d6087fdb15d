// SPDX-License-Identifier: Apache-2.0
// Lines below the table. Notes are few; Details are for readers who ask for them. Neither repeats the report's warnings or
// the table's footnotes.
#ifndef HALFTONE_REPORT_NOTES_H_
#define HALFTONE_REPORT_NOTES_H_

#include <string>
#include <vector>

#include "halftone/v1/report.pb.h"

namespace halftone::report {

// One line each, without a newline: the summary of each converted variant, the accuracy goal, where calibration data came
// from, how it was measured.
std::vector<std::string> Notes(const v1::Report& report);

// Fused ops, casts, latency percentiles, load and compile time, memory, INT8 saturation, calibration data that is too small.
std::vector<std::string> Details(const v1::Report& report);

}  // namespace halftone::report

#endif  // HALFTONE_REPORT_NOTES_H_

// SPDX-License-Identifier: Apache-2.0
// The reason for the precision of each node.
#ifndef HALFTONE_REPORT_EXPLAIN_PRECISION_H_
#define HALFTONE_REPORT_EXPLAIN_PRECISION_H_

#include <string>

#include "halftone/v1/report.pb.h"

namespace halftone::report {

// For each converted variant a table of its nodes but inputs and constants: precision, node, op, rule, reason; of int8 also
// the range of its output and its sensitivity ("-" where not known), and the saturation checks. Ends with a newline.
std::string ExplainPrecision(const v1::Report& report);

}  // namespace halftone::report

#endif  // HALFTONE_REPORT_EXPLAIN_PRECISION_H_

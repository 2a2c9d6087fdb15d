// Why each node of a model has its precision.
#ifndef HALFTONE_REPORT_EXPLAIN_PRECISION_H_
#define HALFTONE_REPORT_EXPLAIN_PRECISION_H_

#include <string>

#include "halftone/v1/report.pb.h"

namespace halftone::report {

// For each lowered variant a heading, then a line for every node that is no input or constant: precision, node, op,
// rule, reason; of int8 the range of its result and its SQNR alone as well, "-" where that is not known, and the
// saturation certificates. A report without any says so. Ends with a newline.
std::string ExplainPrecision(const v1::Report& report);

}  // namespace halftone::report

#endif  // HALFTONE_REPORT_EXPLAIN_PRECISION_H_

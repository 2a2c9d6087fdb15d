// SPDX-License-Identifier: Apache-2.0
// Why patterns that are fused elsewhere stayed as they were in a model.
#ifndef HALFTONE_REPORT_EXPLAIN_FUSION_H_
#define HALFTONE_REPORT_EXPLAIN_FUSION_H_

#include <string>

#include "halftone/v1/report.pb.h"

namespace halftone::report {

// For each variant with such nodes a heading, then one line per node: the rule, the node, the reason. What is the same in an
// earlier variant is not repeated. A report without any says that nothing was left. Ends with a newline.
std::string ExplainFusion(const v1::Report& report);

}  // namespace halftone::report

#endif  // HALFTONE_REPORT_EXPLAIN_FUSION_H_

// The one table: what the variants of a model weigh, how fast they are and how true to fp32.
#ifndef HALFTONE_REPORT_TABLE_H_
#define HALFTONE_REPORT_TABLE_H_

#include <string>
#include <vector>

#include "halftone/v1/report.pb.h"

namespace halftone::report {

// Columns aligned by blanks, one line a variant, a heading line that names model and environment. Ends with a newline.
std::string TerminalTable(const v1::Report& report);

// The same rows for GitHub-flavoured Markdown.
std::string MarkdownTable(const v1::Report& report);

// What the table has no room for, one line each without a newline: why a benchmark is invalid, what was converted,
// emulation, ops that nobody may change. What the report's warnings say is not among them.
std::vector<std::string> Notes(const v1::Report& report);

// The worst of a variant's outputs.
struct WorstFidelity {
  bool known = false;  // false: nothing was compared
  double sqnr_db = 0;
  double max_abs_error = 0;
  double top1_agreement = 0;
};
WorstFidelity Worst(const v1::Variant& variant);

// The variant with this precision, or nullptr.
const v1::Variant* FindVariant(const v1::Report& report, v1::Precision precision);

}  // namespace halftone::report

#endif  // HALFTONE_REPORT_TABLE_H_

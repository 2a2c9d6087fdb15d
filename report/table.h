// SPDX-License-Identifier: Apache-2.0
// The table of variants: size, speed and accuracy. Marks like [1] refer to footnotes below it.
#ifndef HALFTONE_REPORT_TABLE_H_
#define HALFTONE_REPORT_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "halftone/v1/report.pb.h"

namespace halftone::report {

// Columns aligned by blanks, one line per variant, a heading line that names model and environment, footnotes. Ends with a
// newline.
std::string TerminalTable(const v1::Report& report);

// The same rows for GitHub-flavoured Markdown.
std::string MarkdownTable(const v1::Report& report);

inline constexpr double kExactSqnr = 999;  // the contract's value for bit-identical outputs

// "1.25 MB"
std::string SizeText(int64_t bytes);
// "0.2703"
std::string MillisecondsText(double ms);

// The worst of a variant's outputs.
struct WorstFidelity {
  bool known = false;  // false: nothing was compared
  double sqnr_db = 0;
  double max_abs_error = 0;
  std::optional<double> top1_agreement;  // nothing: every output has one element per row
};
WorstFidelity Worst(const v1::Variant& variant);

// The variant with this precision, or nullptr.
const v1::Variant* FindVariant(const v1::Report& report, v1::Precision precision);

}  // namespace halftone::report

#endif  // HALFTONE_REPORT_TABLE_H_

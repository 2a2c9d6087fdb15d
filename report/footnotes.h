// SPDX-License-Identifier: Apache-2.0
// Footnotes of the table: what a reader must know before using a variant or relying on its speed-up.
#ifndef HALFTONE_REPORT_FOOTNOTES_H_
#define HALFTONE_REPORT_FOOTNOTES_H_

#include <string>
#include <vector>

#include "halftone/v1/report.pb.h"

namespace halftone::report {

struct Footnote {
  enum class Cell { kVariant, kSpeedup };  // that has the mark

  v1::Precision precision;
  Cell cell;
  std::string text;  // printable, one line
};

// In the order of the variants.
std::vector<Footnote> Footnotes(const v1::Report& report);

}  // namespace halftone::report

#endif  // HALFTONE_REPORT_FOOTNOTES_H_

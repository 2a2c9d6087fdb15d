// SPDX-License-Identifier: Apache-2.0
// A measurement in the formats of other tools.
#ifndef HALFTONE_REPORT_EXPORT_H_
#define HALFTONE_REPORT_EXPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "halftone/v1/report.pb.h"

namespace halftone::report {

enum class ExportFormat {
  kJson,             // report.json
  kCsv,              // a line a variant, quoted as RFC 4180 says
  kGoogleBenchmark,  // its JSON: a repetition a round, then their aggregates; for its compare.py
  kText,             // key: value lines, as trtexec and other timing programs print them
  kPrometheus,       // for node_exporter's textfile collector
};

// "google-benchmark"; nothing for an unknown name.
std::optional<ExportFormat> ParseExportFormat(absl::string_view name);
std::vector<std::string> ExportFormatNames();

// Variants that were not measured are left out. What there are too few samples for is empty (CSV), "n/a" (text) or not
// there (the others). Ends with a newline.
std::string Export(const v1::Report& report, ExportFormat format);

}  // namespace halftone::report

#endif  // HALFTONE_REPORT_EXPORT_H_

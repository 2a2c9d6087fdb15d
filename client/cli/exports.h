// SPDX-License-Identifier: Apache-2.0
// --export FORMAT and FORMAT=FILE.
#ifndef HALFTONE_CLIENT_CLI_EXPORTS_H_
#define HALFTONE_CLIENT_CLI_EXPORTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "halftone/v1/report.pb.h"
#include "report/export.h"

namespace halftone::cli {

struct Exports {
  std::string printed;  // a format, instead of the table; empty: none
  std::vector<std::pair<report::ExportFormat, std::string>> files;
};

// Errors are usage errors.
absl::StatusOr<Exports> ParseExports(const std::vector<std::string>& texts);

// Each file appears complete or not at all.
absl::Status WriteExports(const Exports& exports, const v1::Report& report);

}  // namespace halftone::cli

#endif  // HALFTONE_CLIENT_CLI_EXPORTS_H_

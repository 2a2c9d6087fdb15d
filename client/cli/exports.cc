// SPDX-License-Identifier: Apache-2.0
#include "client/cli/exports.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "client/cli/exit_codes.h"
#include "client/pending_file.h"
#include "client/status.h"

namespace halftone::cli {

absl::StatusOr<Exports> ParseExports(const std::vector<std::string>& texts) {
  Exports exports;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const std::optional<report::ExportFormat> format = report::ParseExportFormat(name);
    if (!format.has_value()) {
      return UsageError(absl::StrCat("--export ", text, ": no format '", name, "'; there are ",
                                     absl::StrJoin(report::ExportFormatNames(), ", ")));
    }
    if (equals != std::string::npos) {
      exports.files.emplace_back(*format, text.substr(equals + 1));
      if (exports.files.back().second.empty()) return UsageError(absl::StrCat("--export ", text, ": which file?"));
    } else if (exports.printed.empty()) {
      exports.printed = name;
    } else {
      return UsageError("--export: only one format can be printed; give the others a file, as in csv=times.csv");
    }
  }
  return exports;
}

absl::Status WriteExports(const Exports& exports, const v1::Report& report) {
  const auto write = [&report](report::ExportFormat format, const std::string& path) -> absl::Status {
    HALFTONE_ASSIGN_OR_RETURN(client::PendingFile file, client::PendingFile::Create(path));
    HALFTONE_RETURN_IF_ERROR(file.Append(report::Export(report, format)));
    return file.Commit();
  };
  for (const auto& [format, path] : exports.files) {
    absl::Status status = write(format, path);
    if (!status.ok()) return client::WithReason(std::move(status), kReasonOutputFile);
  }
  return absl::OkStatus();
}

}  // namespace halftone::cli

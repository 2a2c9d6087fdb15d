// SPDX-License-Identifier: Apache-2.0
// What a job made, fetched and written: all files or none.
#ifndef HALFTONE_CLIENT_CLI_RESULTS_H_
#define HALFTONE_CLIENT_CLI_RESULTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/client.h"
#include "halftone/v1/jobs.pb.h"

namespace halftone::cli {

// The whole report: of report.json among the files, else the short one of the job itself.
absl::StatusOr<v1::Report> FetchReport(client::Client& client, const v1::Job& job);

// Writes the job's files below `out` (not inspect.*) and report.json, in which each artifact's path is the one written
// and ORIGINAL's is `input_path`. Returns the report so changed.
absl::StatusOr<v1::Report> WriteReportAndFiles(client::Client& client, const v1::Job& job, const std::string& out,
                                               const std::string& input_path, bool quiet);

// Writes all files below `out`; returns their paths.
absl::StatusOr<std::vector<std::string>> WriteFiles(client::Client& client, const v1::Job& job, const std::string& out,
                                                    bool quiet);

// The bytes of the file with this name.
absl::StatusOr<std::string> FetchFile(client::Client& client, const v1::Job& job, const std::string& name);

// Writes the file with this name as `path`.
absl::Status WriteFileAs(client::Client& client, const v1::Job& job, const std::string& name, const std::string& path);

}  // namespace halftone::cli

#endif  // HALFTONE_CLIENT_CLI_RESULTS_H_

// SPDX-License-Identifier: Apache-2.0
#include "client/cli/results.h"

#include <filesystem>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "client/cli/exit_codes.h"
#include "client/cli/inputs.h"
#include "client/cli/progress.h"
#include "client/pending_file.h"
#include "client/status.h"
#include "report/json.h"

namespace halftone::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kReportName[] = "report.json";
constexpr int64_t kMaxTextBytes = int64_t{1} << 30;

absl::Status Interrupted(const absl::Status& status) {
  if (!absl::IsCancelled(status)) return status;
  return client::WithReason(absl::CancelledError("interrupted: nothing was written"), kReasonInterrupted);
}

std::string Join(const std::string& folder, const std::string& name) { return (fs::path(folder) / name).string(); }

// Errors of this machine's disk are not bugs of ours.
absl::Status AsOutputError(absl::Status status) {
  return status.ok() ? status : client::WithReason(std::move(status), kReasonOutputFile);
}

// Downloads into pending files; nothing has its name yet.
absl::StatusOr<std::vector<client::PendingFile>> FetchAll(client::Client& client, const std::vector<v1::File>& files,
                                                          const std::string& out, bool quiet) {
  ProgressDisplay progress(quiet);
  int64_t total = 0;
  for (const v1::File& file : files) total += file.digest().size_bytes();
  std::vector<client::PendingFile> pending;
  int64_t before = 0;
  for (const v1::File& file : files) {
    const std::string path = Join(out, file.path());
    if (!IsSafeRelativePath(file.path())) {
      return absl::InternalError(absl::StrCat("the server names a file '", file.path(), "', which is not allowed"));
    }
    const absl::Status writable = AsOutputError(client::PendingFile::Create(path).status());
    HALFTONE_RETURN_IF_ERROR(writable);
    absl::StatusOr<client::PendingFile> one = client.Download(
        file.digest(), path, [&](int64_t done, int64_t) { progress.Update("download", before + done, total); });
    if (!one.ok()) return Interrupted(one.status());
    pending.push_back(*std::move(one));
    before += file.digest().size_bytes();
  }
  return pending;
}

const v1::File* FindFile(const v1::Job& job, const std::string& name) {
  for (const v1::File& file : job.result().files()) {
    if (file.path() == name) return &file;
  }
  return nullptr;
}

void SetWrittenPaths(const std::map<std::string, std::string>& written, const std::string& input_path,
                     v1::Report* report) {
  for (v1::Variant& variant : *report->mutable_variants()) {
    if (variant.precision() == v1::PRECISION_ORIGINAL) {
      variant.mutable_artifact()->set_path(input_path);
      continue;
    }
    const auto found = written.find(variant.artifact().path());
    if (found != written.end()) variant.mutable_artifact()->set_path(found->second);
  }
  if (report->calibration().source().empty()) return;
  v1::Artifact& ranges = *report->mutable_calibration()->mutable_file();
  if (const auto found = written.find(ranges.path()); found != written.end()) ranges.set_path(found->second);
}

}  // namespace

absl::StatusOr<std::string> FetchFile(client::Client& client, const v1::Job& job, const std::string& name) {
  const v1::File* file = FindFile(job, name);
  if (file == nullptr) return absl::InternalError(absl::StrCat(job.name(), " has no file ", name));
  absl::StatusOr<std::string> bytes = client.ReadBlob(file->digest(), kMaxTextBytes);
  if (!bytes.ok()) return Interrupted(bytes.status());
  return bytes;
}

absl::StatusOr<v1::Report> FetchReport(client::Client& client, const v1::Job& job) {
  if (FindFile(job, kReportName) == nullptr) return job.result().report();
  HALFTONE_ASSIGN_OR_RETURN(const std::string json, FetchFile(client, job, kReportName));
  absl::StatusOr<v1::Report> report = report::ReportFromJson(json);
  if (!report.ok()) return absl::InternalError(absl::StrCat(kReportName, ": ", report.status().message()));
  return report;
}

absl::StatusOr<v1::Report> WriteReportAndFiles(client::Client& client, const v1::Job& job, const std::string& out,
                                               const std::string& input_path, bool quiet) {
  HALFTONE_ASSIGN_OR_RETURN(v1::Report report, FetchReport(client, job));
  std::vector<v1::File> files;
  std::map<std::string, std::string> written;
  for (const v1::File& file : job.result().files()) {
    if (file.path() == kReportName || absl::StartsWith(file.path(), "inspect.")) continue;
    files.push_back(file);
    written[file.path()] = Join(out, file.path());
  }
  SetWrittenPaths(written, input_path, &report);
  for (const auto& [name, path] : written) {
    std::error_code error;
    if (fs::equivalent(path, input_path, error)) {
      return UsageError(absl::StrCat(path, " would be written over the model itself: choose another --out"));
    }
  }
  HALFTONE_ASSIGN_OR_RETURN(std::vector<client::PendingFile> pending, FetchAll(client, files, out, quiet));
  absl::StatusOr<client::PendingFile> json = client::PendingFile::Create(Join(out, kReportName));
  HALFTONE_RETURN_IF_ERROR(AsOutputError(json.status()));
  HALFTONE_RETURN_IF_ERROR(AsOutputError(json->Append(report::ReportToJson(report))));
  pending.push_back(*std::move(json));
  HALFTONE_RETURN_IF_ERROR(AsOutputError(client::CommitAll(pending)));
  return report;
}

absl::StatusOr<std::vector<std::string>> WriteFiles(client::Client& client, const v1::Job& job, const std::string& out,
                                                    bool quiet) {
  const std::vector<v1::File> files(job.result().files().begin(), job.result().files().end());
  HALFTONE_ASSIGN_OR_RETURN(std::vector<client::PendingFile> pending, FetchAll(client, files, out, quiet));
  HALFTONE_RETURN_IF_ERROR(AsOutputError(client::CommitAll(pending)));
  std::vector<std::string> paths;
  for (const client::PendingFile& file : pending) paths.push_back(file.path());
  return paths;
}

absl::Status WriteFileAs(client::Client& client, const v1::Job& job, const std::string& name, const std::string& path) {
  HALFTONE_ASSIGN_OR_RETURN(const std::string bytes, FetchFile(client, job, name));
  absl::StatusOr<client::PendingFile> file = client::PendingFile::Create(path);
  HALFTONE_RETURN_IF_ERROR(AsOutputError(file.status()));
  HALFTONE_RETURN_IF_ERROR(AsOutputError(file->Append(bytes)));
  return AsOutputError(file->Commit());
}

}  // namespace halftone::cli

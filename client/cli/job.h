// SPDX-License-Identifier: Apache-2.0
// Runs a job to its end: upload, create, follow, interrupt.
#ifndef HALFTONE_CLIENT_CLI_JOB_H_
#define HALFTONE_CLIENT_CLI_JOB_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/inputs.h"
#include "client/cli/session.h"
#include "halftone/v1/jobs.pb.h"

namespace halftone::cli {

struct FinishedJob {
  v1::Job job;                        // SUCCEEDED
  std::vector<std::string> warnings;  // of the running job
};

struct FollowOptions {
  bool quiet = false;
  bool created_here = false;  // by this process: a second Ctrl-C cancels it
  std::string resume_flags;   // of the printed command beside --server: " --out build"
  std::string out = ".";      // folder for the files of a failure; "": they are only named
};

// Uploads, creates a job and follows it as FollowJob does.
absl::StatusOr<FinishedJob> RunJob(Session& session, const v1::JobSpec& spec, const Blobs& blobs, bool quiet,
                                   const std::string& resume_flags, const std::string& out = ".");

// Waits for the end of a job. A job that failed or was cancelled is an error. When a signal interrupts the wait, the job
// of a private server ends with it; any other server keeps the job, and the command that resumes it is printed. A second
// Ctrl-C within two seconds cancels a job that this process created; SIGTERM and watchers never cancel.
absl::StatusOr<FinishedJob> FollowJob(Session& session, const std::string& name, const FollowOptions& options);

// Duration from a number of seconds on the command line.
google::protobuf::Duration ToDuration(double seconds);

}  // namespace halftone::cli

#endif  // HALFTONE_CLIENT_CLI_JOB_H_

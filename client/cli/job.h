// Running a job to its end: upload, create, follow, and what Ctrl-C means on the way.
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
  std::vector<std::string> warnings;  // said while it ran
};

// A job that failed or was cancelled is an error; what it left to see the failure again is written below `out` (""
// = said, not fetched). On Ctrl-C: somebody's server keeps the job and the command that
// resumes it is printed, unless a second Ctrl-C follows, which cancels it; a private server's job ends.
// `resume_flags` are those of the printed command beside --server, e.g. " --out build".
absl::StatusOr<FinishedJob> RunJob(Session& session, const v1::JobSpec& spec, const Blobs& blobs, bool quiet,
                                   const std::string& resume_flags, const std::string& out = ".");

// The same for a job that is there already.
absl::StatusOr<FinishedJob> FollowJob(Session& session, const std::string& name, bool quiet,
                                      const std::string& resume_flags, const std::string& out = ".");

// OK for SUCCEEDED, else why not.
absl::Status StatusOfJob(const v1::Job& job);

// Duration from a number of seconds on the command line.
google::protobuf::Duration ToDuration(double seconds);

}  // namespace halftone::cli

#endif  // HALFTONE_CLIENT_CLI_JOB_H_

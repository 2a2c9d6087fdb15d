// SPDX-License-Identifier: Apache-2.0
// One job's work, by its kind.
#ifndef HALFTONE_SERVER_WORKER_WORK_H_
#define HALFTONE_SERVER_WORKER_WORK_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "optimizer/job.h"
#include "server/worker/child_runner.h"
#include "server/worker/worker.pb.h"

namespace halftone::worker {

struct WorkOutcome {
  WorkerResult result;
  std::map<std::string, double> stage_seconds;
  std::vector<std::string> warnings;  // beside those of the report
};

// Writes files below request.work_dir and names them in the result. `children` runs the variants.
absl::StatusOr<WorkOutcome> DoWork(const WorkerRequest& request, ProcessChildRunner& children,
                                   const ProgressCallback& progress);

}  // namespace halftone::worker

#endif  // HALFTONE_SERVER_WORKER_WORK_H_

// SPDX-License-Identifier: Apache-2.0
// Takes over the files that a child made. The child may be under a hostile model's control: what it names is checked.

#ifndef HALFTONE_SERVER_CORE_JOB_OUTPUTS_H_
#define HALFTONE_SERVER_CORE_JOB_OUTPUTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "halftone/v1/jobs.pb.h"
#include "server/core/blob_store.h"
#include "server/worker/worker.pb.h"

namespace halftone::server {

// Stores the files of `result` as blobs. Each must be a regular file below `work_dir`, reached without links, with a
// well-formed name that no other has. INVALID_ARGUMENT says which is not.
absl::StatusOr<v1::JobResult> StoreOutputs(BlobStore& blobs, const std::string& work_dir, worker::WorkerResult result);

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_CORE_JOB_OUTPUTS_H_

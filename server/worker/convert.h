// SPDX-License-Identifier: Apache-2.0
// The public contract's messages <-> the optimizer's plain data.
#ifndef HALFTONE_SERVER_WORKER_CONVERT_H_
#define HALFTONE_SERVER_WORKER_CONVERT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "halftone/v1/jobs.pb.h"
#include "halftone/v1/report.pb.h"
#include "optimizer/inspect.h"
#include "optimizer/job.h"
#include "server/worker/worker.pb.h"

namespace halftone::worker {

// Local paths of the job's blobs.
class Inputs {
 public:
  explicit Inputs(const WorkerRequest& request);
  // Errors: INTERNAL if the parent did not send the file.
  absl::StatusOr<std::string> LocalPath(const v1::File& file) const;
  absl::StatusOr<std::vector<SampleFile>> LocalPaths(const v1::Samples& samples) const;
  // A SavedModel is frozen to a GraphDef in the job's work folder first, and is that from there on.
  absl::StatusOr<ModelSource> Model(const v1::Model& model,
                                    const google::protobuf::RepeatedPtrField<std::string>& outputs) const;

 private:
  absl::Status Freeze(const v1::Model& model, const v1::File& root, ModelSource& source) const;

  std::map<std::string, std::string> paths_;  // by sha256
  std::string work_dir_;
};

v1::Precision ToProto(VariantKind kind);
v1::Dialect ToProto(Dialect dialect);
v1::Environment DescribeEnvironment(int threads);
v1::Report ToReport(const OptimizeResult& result, const v1::Model& model, const BenchmarkOptions& benchmark);
// The report without what makes it large: for JobResult.
v1::Report WithoutNodes(v1::Report report);

// An error of what was asked for, not of the model: its JobError has the reason OPTIONS_INVALID.
absl::Status OptionsError(absl::Status status);

v1::JobError ToJobError(const absl::Status& status);

}  // namespace halftone::worker

#endif  // HALFTONE_SERVER_WORKER_CONVERT_H_

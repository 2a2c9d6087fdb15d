// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/rpc_scope.h"
#include "server/rpc/services.h"

namespace halftone::server {

grpc::Status ModelOptimizerService::GetJob(grpc::ServerContext* context, const v1::GetJobRequest* request,
                                           v1::Job* response) {
  RpcScope rpc("GetJob", *context, metrics_);
  rpc.Received(*request);
  absl::StatusOr<v1::Job> job = jobs_.Get(request->name());
  if (!job.ok()) return rpc.Finish(job.status());
  *response = *std::move(job);
  return rpc.Finish(absl::OkStatus(), *response);
}

}  // namespace halftone::server

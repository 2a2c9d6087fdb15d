// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/rpc_scope.h"
#include "server/rpc/services.h"

namespace halftone::server {

grpc::Status ModelOptimizerService::CancelJob(grpc::ServerContext* context, const v1::CancelJobRequest* request,
                                              v1::Job* response) {
  RpcScope rpc("CancelJob", *context, metrics_);
  rpc.Received(*request);
  absl::StatusOr<v1::Job> job = jobs_.Cancel(request->name());
  if (!job.ok()) return rpc.Finish(job.status());
  *response = *std::move(job);
  return rpc.Finish(absl::OkStatus(), *response);
}

}  // namespace halftone::server

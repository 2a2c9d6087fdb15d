// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/rpc_scope.h"
#include "server/rpc/services.h"

namespace halftone::server {

grpc::Status ModelOptimizerService::ListJobs(grpc::ServerContext* context, const v1::ListJobsRequest* request,
                                             v1::ListJobsResponse* response) {
  RpcScope rpc("ListJobs", *context, metrics_);
  rpc.Received(*request);
  absl::StatusOr<v1::ListJobsResponse> answer = jobs_.List(*request);
  if (!answer.ok()) return rpc.Finish(answer.status());
  *response = *std::move(answer);
  return rpc.Finish(absl::OkStatus(), *response);
}

}  // namespace halftone::server

// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/rpc_scope.h"
#include "server/rpc/services.h"

namespace halftone::server {

grpc::Status ModelOptimizerService::ListJobs(grpc::ServerContext* context, const v1::ListJobsRequest* request,
                                             v1::ListJobsResponse* response) {
  RpcScope rpc("ListJobs", *context, metrics_);
  rpc.Received(*request);
  absl::StatusOr<v1::ListJobsResponse> page = jobs_.List(*request);
  if (!page.ok()) return rpc.Finish(page.status());
  *response = *std::move(page);
  return rpc.Finish(absl::OkStatus(), *response);
}

}  // namespace halftone::server

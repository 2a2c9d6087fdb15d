// SPDX-License-Identifier: Apache-2.0
#include "server/core/errors.h"
#include "server/core/spec.h"
#include "server/rpc/rpc_scope.h"
#include "server/rpc/services.h"

namespace halftone::server {

grpc::Status BlobsService::QueryWrite(grpc::ServerContext* context, const v1::QueryWriteRequest* request,
                                      v1::QueryWriteResponse* response) {
  RpcScope rpc("QueryWrite", *context, metrics_);
  rpc.Received(*request);
  const std::string problem = DigestProblem(request->digest());
  if (!problem.empty()) return rpc.Finish(InvalidField("digest", problem));
  const absl::StatusOr<BlobStore::WriteState> state = blobs_.QueryWrite(request->digest());
  if (!state.ok()) return rpc.Finish(state.status());
  response->set_committed_size(state->committed_size);
  response->set_complete(state->complete);
  return rpc.Finish(absl::OkStatus(), *response);
}

}  // namespace halftone::server

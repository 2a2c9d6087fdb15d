// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/rpc_scope.h"
#include "server/rpc/services.h"

namespace halftone::server {

grpc::Status ModelOptimizerService::WatchJob(grpc::ServerContext* context, const v1::WatchJobRequest* request,
                                             grpc::ServerWriter<v1::JobEvent>* writer) {
  RpcScope rpc("WatchJob", *context, metrics_);
  rpc.Received(*request);
  const auto send = [&](const v1::JobEvent& event) {
    rpc.Sent(event);
    return writer->Write(event);
  };
  const auto is_cancelled = [&] { return context->IsCancelled(); };
  const absl::Status watched = jobs_.Watch(request->name(), request->after_seq(), send, is_cancelled);
  return rpc.Finish(absl::IsCancelled(watched) ? rpc.ClientGone() : watched);
}

}  // namespace halftone::server

// SPDX-License-Identifier: Apache-2.0
#include "base/version.h"
#include "server/rpc/rpc_scope.h"
#include "server/rpc/services.h"

namespace halftone::server {
namespace {

constexpr absl::Duration kWaitForWorker = absl::Seconds(10);  // only just after the start

}  // namespace

grpc::Status ModelOptimizerService::GetCapabilities(grpc::ServerContext* context,
                                                    const v1::GetCapabilitiesRequest* request,
                                                    v1::Capabilities* response) {
  RpcScope rpc("GetCapabilities", *context, metrics_);
  rpc.Received(*request);
  worker::Description description = runner_.Describe(kWaitForWorker);
  response->set_version(kVersion);
  for (const char* format : {"onnx", "graphdef"}) response->add_formats(format);
  for (const char* precision : {"fp32", "bf16", "fp16", "int8"}) response->add_precisions(precision);
  for (const char* planner : {"lists", "placement"}) response->add_planners(planner);
  response->mutable_ops()->Swap(description.mutable_ops());
  if (description.has_environment()) response->mutable_environment()->Swap(description.mutable_environment());
  v1::Limits& limits = *response->mutable_limits();
  limits.set_max_blob_bytes(blobs_.max_blob_bytes());
  limits.set_max_message_bytes(kMaxMessageBytes);
  limits.set_max_write_bytes(kMaxDataBytes);
  limits.set_max_digests(kMaxDigests);
  limits.set_max_page_size(Jobs::kMaxPageSize);
  return rpc.Finish(absl::OkStatus(), *response);
}

}  // namespace halftone::server

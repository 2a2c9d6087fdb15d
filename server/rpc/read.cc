// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <utility>

#include "server/core/errors.h"
#include "server/core/spec.h"
#include "server/rpc/rpc_scope.h"
#include "server/rpc/services.h"

namespace halftone::server {

grpc::Status BlobsService::Read(grpc::ServerContext* context, const v1::ReadRequest* request,
                                grpc::ServerWriter<v1::ReadResponse>* writer) {
  RpcScope rpc("Read", *context, metrics_);
  rpc.Received(*request);
  const std::string problem = DigestProblem(request->digest());
  if (!problem.empty()) return rpc.Finish(InvalidField("digest", problem));
  absl::StatusOr<BlobReader> reader =
      blobs_.OpenReader(request->digest(), request->read_offset(), request->read_limit());
  if (!reader.ok()) return rpc.Finish(reader.status());
  while (true) {
    absl::StatusOr<std::optional<std::string>> piece = reader->Next(kMaxDataBytes);
    if (!piece.ok()) return rpc.Finish(piece.status());
    if (!piece->has_value()) return rpc.Finish(absl::OkStatus());
    v1::ReadResponse response;
    response.set_data(**std::move(piece));
    rpc.Sent(response);
    if (!writer->Write(response)) return rpc.Finish(rpc.ClientGone());
  }
}

}  // namespace halftone::server

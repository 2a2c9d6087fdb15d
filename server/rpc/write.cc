// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "server/core/errors.h"
#include "server/core/spec.h"
#include "server/rpc/rpc_scope.h"
#include "server/rpc/services.h"

namespace halftone::server {
namespace {

absl::Status CheckMessage(const v1::WriteRequest& message, const v1::Digest& digest) {
  const bool same =
      message.digest().sha256() == digest.sha256() && message.digest().size_bytes() == digest.size_bytes();
  if (message.has_digest() && !same) return InvalidField("digest", "is not that of the first message");
  if (message.data().size() > kMaxDataBytes) {
    return InvalidField("data", absl::StrCat("has ", message.data().size(), " bytes: ", kMaxDataBytes, " are allowed"));
  }
  return absl::OkStatus();
}

}  // namespace

grpc::Status BlobsService::Write(grpc::ServerContext* context, grpc::ServerReader<v1::WriteRequest>* reader,
                                 v1::WriteResponse* response) {
  RpcScope rpc("Write", *context, metrics_);
  v1::WriteRequest message;
  if (!reader->Read(&message)) {
    return rpc.Finish(context->IsCancelled() ? rpc.ClientGone()
                                             : InvalidField("digest", "is missing: no message came"));
  }
  const v1::Digest digest = message.digest();
  const std::string problem = DigestProblem(digest);
  if (!problem.empty()) return rpc.Finish(InvalidField("digest", problem));
  absl::StatusOr<BlobWriter> writer = blobs_.BeginWrite(digest, message.write_offset());
  if (!writer.ok()) return rpc.Finish(writer.status());
  while (!writer->complete()) {
    rpc.Received(message);
    absl::Status done = CheckMessage(message, digest);
    if (done.ok()) done = writer->Write(message.write_offset(), message.data());
    if (done.ok() && message.finish_write()) done = writer->Finish();
    if (!done.ok()) return rpc.Finish(done);
    if (writer->complete() || reader->Read(&message)) continue;
    if (context->IsCancelled()) return rpc.Finish(rpc.ClientGone());
    // The client ended the stream before the blob: it will go on another time.
    const absl::StatusOr<int64_t> committed = writer->Commit();
    if (!committed.ok()) return rpc.Finish(committed.status());
    response->set_committed_size(*committed);
    return rpc.Finish(absl::OkStatus(), *response);
  }
  response->set_committed_size(digest.size_bytes());
  return rpc.Finish(absl::OkStatus(), *response);
}

}  // namespace halftone::server

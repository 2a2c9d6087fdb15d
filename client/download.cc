// SPDX-License-Identifier: Apache-2.0
// Client::Download: a blob in pieces, resumed after a cut, checked against its digest.

#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "base/status.h"
#include "client/client.h"
#include "client/status.h"

namespace halftone::client {
namespace {

bool CanResume(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsCancelled(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsUnknown(status);
}

}  // namespace

absl::Status Client::ReadAll(const v1::Digest& digest, const std::function<absl::Status(absl::string_view)>& sink) {
  Sha256 hash;
  Backoff backoff(options_.retry, options_.cancellation);
  int64_t received = 0;
  while (received < digest.size_bytes()) {
    grpc::ClientContext context;
    const Cancellation::Call call(options_.cancellation, &context);
    v1::ReadRequest request;
    *request.mutable_digest() = digest;
    request.set_read_offset(received);
    const auto reader = blobs_->Read(&context, request);
    v1::ReadResponse piece;
    absl::Status local;
    while (local.ok() && reader->Read(&piece)) {
      received += static_cast<int64_t>(piece.data().size());
      hash.Update(piece.data());
      local = received > digest.size_bytes() ? absl::DataLossError("the server sent more bytes than the blob has")
                                             : sink(piece.data());
      backoff.Progress();
    }
    if (!local.ok()) context.TryCancel();
    const grpc::Status raw = reader->Finish();
    HALFTONE_RETURN_IF_ERROR(local);
    if (received == digest.size_bytes()) break;
    absl::Status status = WithContext(FromGrpc(raw));
    if (status.ok()) status = absl::UnavailableError("the stream ended too early");
    if (cancelled()) return WithContext(status);
    if (!CanResume(status) || !backoff.Wait()) return WithContext(status);
  }
  if (hash.Hex() == digest.sha256()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the bytes received do not have the digest ", digest.sha256()));
}

absl::StatusOr<PendingFile> Client::Download(const v1::Digest& digest, const std::string& path,
                                             const ByteProgress& progress) {
  HALFTONE_ASSIGN_OR_RETURN(PendingFile file, PendingFile::Create(path));
  int64_t done = 0;
  absl::Status status = ReadAll(digest, [&](absl::string_view bytes) {
    done += static_cast<int64_t>(bytes.size());
    if (progress) progress(done, digest.size_bytes());
    return file.Append(bytes);
  });
  if (!status.ok()) return Annotate(std::move(status), path);
  return file;
}

absl::StatusOr<std::string> Client::ReadBlob(const v1::Digest& digest, int64_t max_bytes) {
  if (digest.size_bytes() > max_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a blob of ", digest.size_bytes(), " bytes, at most ", max_bytes, " are read at once"));
  }
  std::string bytes;
  HALFTONE_RETURN_IF_ERROR(ReadAll(digest, [&](absl::string_view piece) {
    bytes.append(piece.data(), piece.size());
    return absl::OkStatus();
  }));
  return bytes;
}

}  // namespace halftone::client

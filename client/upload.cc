// SPDX-License-Identifier: Apache-2.0
// Client::Upload: what the server lacks, in pieces, resumed where the server says.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/fd.h"
#include "base/status.h"
#include "client/call.h"
#include "client/client.h"
#include "client/status.h"

namespace halftone::client {
namespace {

constexpr int64_t kPieceBytes = (int64_t{1} << 20) - (64 << 10);  // the contract allows 1 MiB - 4 KiB
constexpr int kMaxDigests = 10'000;                               // of one FindMissingBlobs
constexpr int kMaxRefusals = 3;  // INVALID_ARGUMENT may mean that another client wrote in between

absl::Status ReadPiece(int fd, const LocalBlob& blob, int64_t offset, int64_t bytes, std::string* piece) {
  piece->resize(static_cast<size_t>(bytes));
  int64_t done = 0;
  while (done < bytes) {
    const ssize_t got = pread(fd, piece->data() + done, static_cast<size_t>(bytes - done), offset + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoToStatus(errno, blob.path);
    if (got == 0) return absl::AbortedError(absl::StrCat(blob.path, ": became shorter while it was sent"));
    done += got;
  }
  return absl::OkStatus();
}

// A cut stream shows as one of these; what has arrived stays on the server.
bool CanResume(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsCancelled(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsUnknown(status) || absl::IsAborted(status);
}

}  // namespace

absl::Status Client::Upload(std::span<const LocalBlob> blobs, const ByteProgress& progress) {
  std::map<std::string, const LocalBlob*> wanted;  // by sha256: equal files are sent once
  for (const LocalBlob& blob : blobs) wanted.emplace(blob.digest.sha256(), &blob);

  std::vector<const LocalBlob*> missing;
  for (auto it = wanted.begin(); it != wanted.end();) {
    v1::FindMissingBlobsRequest request;
    for (int i = 0; i < kMaxDigests && it != wanted.end(); ++i, ++it) *request.add_digests() = it->second->digest;
    HALFTONE_ASSIGN_OR_RETURN(const v1::FindMissingBlobsResponse response,
                              Call(*blobs_, &v1::Blobs::StubInterface::FindMissingBlobs, request));
    for (const v1::Digest& digest : response.missing()) {
      const auto found = wanted.find(digest.sha256());
      if (found != wanted.end()) missing.push_back(found->second);
    }
  }

  int64_t total = 0;
  for (const LocalBlob* blob : missing) total += blob->digest.size_bytes();
  int64_t before = 0;  // bytes of the blobs that are done
  for (const LocalBlob* blob : missing) {
    HALFTONE_RETURN_IF_ERROR(UploadOne(*blob, [&](int64_t sent) {
      if (progress) progress(before + sent, total);
    }));
    before += blob->digest.size_bytes();
    if (progress) progress(before, total);
  }
  return absl::OkStatus();
}

absl::Status Client::UploadOne(const LocalBlob& blob, const std::function<void(int64_t)>& on_sent) {
  const UniqueFd fd(open(blob.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.ok()) return ErrnoToStatus(errno, blob.path);
  Backoff backoff(options_.retry, options_.cancellation);
  int64_t best = 0;  // most that the server ever had
  int refusals = 0;
  v1::QueryWriteRequest query;
  *query.mutable_digest() = blob.digest;
  while (true) {
    HALFTONE_ASSIGN_OR_RETURN(const v1::QueryWriteResponse stored,
                              Call(*blobs_, &v1::Blobs::StubInterface::QueryWrite, query));
    if (stored.complete()) return absl::OkStatus();
    const int64_t offset = stored.committed_size();
    if (offset < 0 || offset > blob.digest.size_bytes()) {
      return absl::InternalError(absl::StrCat("the server says that it has ", offset, " bytes of ", blob.path));
    }
    if (offset > best) backoff.Progress();
    best = std::max(best, offset);

    const absl::StatusOr<int64_t> committed = WriteFrom(fd.get(), blob, offset, on_sent);
    if (committed.ok() && *committed == blob.digest.size_bytes()) return absl::OkStatus();
    absl::Status status =
        committed.ok()
            ? absl::UnavailableError(absl::StrCat("the server took only ", *committed, " bytes of ", blob.path))
            : WithContext(committed.status());
    if (cancelled()) return status;
    if (absl::IsInvalidArgument(status) && ++refusals < kMaxRefusals && blob.digest.size_bytes() > 0) {
      absl::StatusOr<v1::QueryWriteResponse> now = Call(*blobs_, &v1::Blobs::StubInterface::QueryWrite, query);
      if (now.ok() && (now->complete() || now->committed_size() > offset)) continue;
      return Annotate(std::move(status), blob.path);
    }
    if (!CanResume(status) || !backoff.Wait()) return Annotate(WithContext(std::move(status)), blob.path);
  }
}

absl::StatusOr<int64_t> Client::WriteFrom(int fd, const LocalBlob& blob, int64_t offset,
                                          const std::function<void(int64_t)>& on_sent) {
  const int64_t size = blob.digest.size_bytes();
  grpc::ClientContext context;
  const Cancellation::Call call(options_.cancellation, &context);
  v1::WriteResponse response;
  const auto writer = blobs_->Write(&context, &response);
  v1::WriteRequest request;
  *request.mutable_digest() = blob.digest;
  absl::Status local;
  bool open = true;
  for (bool last = false; open && !last && local.ok();) {
    const int64_t bytes = std::min(kPieceBytes, size - offset);
    local = ReadPiece(fd, blob, offset, bytes, request.mutable_data());
    if (!local.ok()) break;
    request.set_write_offset(offset);
    offset += bytes;
    last = offset == size;
    request.set_finish_write(last);
    open = writer->Write(request);  // false: the stream broke, or the server has the blob and answered already
    request.clear_digest();
    if (open) on_sent(offset);
  }
  if (!local.ok()) context.TryCancel();
  if (open && local.ok()) writer->WritesDone();
  const grpc::Status status = writer->Finish();
  if (!local.ok()) return WithReason(local, "FILE_CHANGED");
  if (!status.ok()) return FromGrpc(status);
  return response.committed_size();
}

}  // namespace halftone::client

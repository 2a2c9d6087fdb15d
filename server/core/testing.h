// SPDX-License-Identifier: Apache-2.0
// What the tests of server/core and server/rpc share.

#ifndef HALFTONE_SERVER_CORE_TESTING_H_
#define HALFTONE_SERVER_CORE_TESTING_H_

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "halftone/v1/jobs.pb.h"
#include "server/core/blob_store.h"

namespace halftone::server {

inline std::string FakeWorkerPath() {
  return absl::StrCat(getenv("TEST_SRCDIR"), "/", getenv("TEST_WORKSPACE"), "/server/core/fake_worker");
}

inline v1::Digest DigestOf(std::string_view bytes) {
  v1::Digest digest;
  digest.set_sha256(Sha256Hex(bytes));
  digest.set_size_bytes(static_cast<int64_t>(bytes.size()));
  return digest;
}

// A job of one model file whose content is `bytes`.
inline v1::JobSpec InspectJob(const std::string& file_name, std::string_view bytes = "model") {
  v1::JobSpec spec;
  v1::File& file = *spec.mutable_inspect()->mutable_model()->add_files();
  file.set_path(file_name);
  *file.mutable_digest() = DigestOf(bytes);
  return spec;
}

// Stores `bytes`; the status of the first step that failed.
inline absl::Status StoreBlob(BlobStore& blobs, std::string_view bytes) {
  absl::StatusOr<BlobWriter> writer = blobs.BeginWrite(DigestOf(bytes), 0);
  if (!writer.ok()) return writer.status();
  if (absl::Status written = writer->Write(0, bytes); !written.ok()) return written;
  return writer->Finish();
}

inline absl::StatusOr<std::string> ReadBlob(BlobStore& blobs, const v1::Digest& digest, int64_t offset = 0,
                                            int64_t limit = 0, int64_t piece_bytes = 7) {
  absl::StatusOr<BlobReader> reader = blobs.OpenReader(digest, offset, limit);
  if (!reader.ok()) return reader.status();
  std::string all;
  while (true) {
    absl::StatusOr<std::optional<std::string>> piece = reader->Next(piece_bytes);
    if (!piece.ok()) return piece.status();
    if (!piece->has_value()) return all;
    all += **piece;
  }
}

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_CORE_TESTING_H_

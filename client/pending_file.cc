// SPDX-License-Identifier: Apache-2.0
#include "client/pending_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/status.h"

namespace halftone::client {
namespace {

constexpr mode_t kReadableByAll = 0644;

}  // namespace

PendingFile::PendingFile(std::string path, std::string temporary, UniqueFd fd)
    : path_(std::move(path)), temporary_(std::move(temporary)), fd_(std::move(fd)) {}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, "")), fd_(std::move(other.fd_)) {}

PendingFile& PendingFile::operator=(PendingFile&& other) noexcept {
  if (this == &other) return *this;
  Discard();
  path_ = std::move(other.path_);
  temporary_ = std::exchange(other.temporary_, "");
  fd_ = std::move(other.fd_);
  return *this;
}

PendingFile::~PendingFile() { Discard(); }

void PendingFile::Discard() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
  temporary_.clear();
}

absl::StatusOr<PendingFile> PendingFile::Create(const std::string& path) {
  const std::filesystem::path target(path);
  const std::string folder = target.has_parent_path() ? target.parent_path().string() : ".";
  HALFTONE_RETURN_IF_ERROR(MakeDirectories(folder));
  if (std::error_code ignored; std::filesystem::is_directory(target, ignored)) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": is a folder, a file is expected there"));
  }
  std::string temporary = absl::StrCat(folder, "/.", target.filename().string(), ".XXXXXX");
  UniqueFd fd(mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.ok()) return ErrnoToStatus(errno, absl::StrCat("cannot write in ", folder));
  fchmod(fd.get(), kReadableByAll);
  return PendingFile(path, std::move(temporary), std::move(fd));
}

absl::Status PendingFile::Append(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoToStatus(errno, path_);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status PendingFile::Sync() { return fsync(fd_.get()) == 0 ? absl::OkStatus() : ErrnoToStatus(errno, path_); }

absl::Status PendingFile::Commit() {
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return ErrnoToStatus(errno, path_);
  temporary_.clear();
  fd_.reset();
  return absl::OkStatus();
}

absl::Status CommitAll(std::span<PendingFile> files) {
  for (PendingFile& file : files) HALFTONE_RETURN_IF_ERROR(file.Sync());
  for (PendingFile& file : files) HALFTONE_RETURN_IF_ERROR(file.Commit());
  return absl::OkStatus();
}

}  // namespace halftone::client

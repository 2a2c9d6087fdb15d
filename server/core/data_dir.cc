// SPDX-License-Identifier: Apache-2.0
#include "server/core/data_dir.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/status.h"

namespace halftone::server {
namespace {

constexpr mode_t kPrivateFile = 0600;

}  // namespace

absl::StatusOr<DataDir> DataDir::Open(const std::string& path) {
  HALFTONE_RETURN_IF_ERROR(MakeDirectories(path));
  const std::unique_ptr<char, decltype(&free)> absolute(realpath(path.c_str(), nullptr), &free);
  if (absolute == nullptr) return ErrnoToStatus(errno, absl::StrCat("cannot resolve ", path));
  const std::string root = absolute.get();
  const std::string lock_path = root + "/lock";
  UniqueFd lock(open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kPrivateFile));
  if (!lock.ok()) return ErrnoToStatus(errno, absl::StrCat("cannot open ", lock_path));
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return ErrnoToStatus(errno, absl::StrCat("cannot lock ", lock_path));
    return absl::FailedPreconditionError(
        absl::StrCat("another halftoned uses the data folder ", root, ": stop it, or give this one another --data"));
  }
  DataDir dir(root, std::move(lock));
  HALFTONE_RETURN_IF_ERROR(RemoveAll(dir.work()));  // of jobs whose server died
  HALFTONE_RETURN_IF_ERROR(MakeDirectories(dir.work()));
  return dir;
}

}  // namespace halftone::server

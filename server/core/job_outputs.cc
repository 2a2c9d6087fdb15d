// SPDX-License-Identifier: Apache-2.0
#include "server/core/job_outputs.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/fd.h"
#include "base/status.h"
#include "server/core/spec.h"

namespace halftone::server {
namespace {

constexpr int kMaxOutputs = 10'000;

// Opens `relative` below the folder `root`; the kernel refuses links and ways out.
absl::StatusOr<UniqueFd> OpenBelow(int root, const std::string& relative) {
  open_how how = {};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;  // a named pipe must not block us
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  UniqueFd fd(static_cast<int>(syscall(SYS_openat2, root, relative.c_str(), &how, sizeof(how))));
  if (!fd.ok()) return ErrnoToStatus(errno, "cannot open an output file");
  struct stat info;
  if (fstat(fd.get(), &info) != 0) return ErrnoToStatus(errno, "cannot stat an output file");
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError("an output is not a regular file");
  return fd;
}

}  // namespace

absl::StatusOr<v1::JobResult> StoreOutputs(BlobStore& blobs, const std::string& work_dir, worker::WorkerResult result) {
  if (result.files_size() > kMaxOutputs) return absl::InvalidArgumentError("there are too many output files");
  const UniqueFd root(open(work_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root.ok()) return ErrnoToStatus(errno, "cannot open the work folder");
  v1::JobResult stored;
  std::set<std::string> names;
  for (const worker::OutputFile& file : result.files()) {
    const std::string problem = FileNameProblem(file.path());
    if (!problem.empty()) return absl::InvalidArgumentError(absl::StrCat("the name of an output ", problem));
    if (!names.insert(file.path()).second) {
      return absl::InvalidArgumentError(absl::StrCat("the output '", file.path(), "' is there twice"));
    }
    const std::string prefix = work_dir + "/";
    if (!absl::StartsWith(file.local_path(), prefix)) {
      return absl::InvalidArgumentError(absl::StrCat("the output '", file.path(), "' is not in the work folder"));
    }
    absl::StatusOr<UniqueFd> fd = OpenBelow(root.get(), file.local_path().substr(prefix.size()));
    if (!fd.ok()) return Annotate(fd.status(), absl::StrCat("output '", file.path(), "'"));
    absl::StatusOr<v1::Digest> digest = blobs.Import(fd->get());
    if (!digest.ok()) return Annotate(digest.status(), absl::StrCat("output '", file.path(), "'"));
    v1::File& added = *stored.add_files();
    added.set_path(file.path());
    *added.mutable_digest() = *std::move(digest);
  }
  if (result.has_report()) *stored.mutable_report() = std::move(*result.mutable_report());
  return stored;
}

}  // namespace halftone::server

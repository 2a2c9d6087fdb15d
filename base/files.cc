// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/fd.h"
#include "base/status.h"

namespace halftone {
namespace {

constexpr mode_t kFileMode = 0666;  // before the umask

std::string Parent(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

absl::Status SystemErrorToStatus(const std::error_code& error, TextArg what) {
  return ErrnoToStatus(error.value(), what);
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.ok()) return ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  struct stat info;
  if (fstat(fd.get(), &info) != 0) return ErrnoToStatus(errno, absl::StrCat("cannot stat ", path));
  if (S_ISDIR(info.st_mode)) return ErrnoToStatus(EISDIR, absl::StrCat("cannot read ", path));
  std::string bytes;
  if (info.st_size > 0) bytes.reserve(static_cast<size_t>(info.st_size));
  char buffer[1 << 16];
  while (true) {  // reads until the end: files of /proc report a size of 0
    const ssize_t got = read(fd.get(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
    if (got == 0) return bytes;
    bytes.append(buffer, static_cast<size_t>(got));
  }
}

absl::Status WriteAt(int fd, int64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = pwrite(fd, bytes.data(), bytes.size(), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return ErrnoToStatus(errno, "cannot write");
    bytes.remove_prefix(static_cast<size_t>(put));
    offset += put;
  }
  return absl::OkStatus();
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes) {
  static std::atomic<uint64_t> counter = 0;
  const std::string temporary = absl::StrCat(path, ".tmp.", getpid(), ".", counter.fetch_add(1));
  const UniqueFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kFileMode));
  if (!fd.ok()) return ErrnoToStatus(errno, absl::StrCat("cannot create ", temporary));
  const auto write = [&]() -> absl::Status {
    HALFTONE_RETURN_IF_ERROR(Annotate(WriteAt(fd.get(), 0, bytes), temporary));
    if (fsync(fd.get()) != 0) return ErrnoToStatus(errno, absl::StrCat("cannot sync ", temporary));
    if (rename(temporary.c_str(), path.c_str()) != 0)
      return ErrnoToStatus(errno, absl::StrCat("cannot rename to ", path));
    return absl::OkStatus();
  };
  if (absl::Status written = write(); !written.ok()) {
    unlink(temporary.c_str());
    return written;
  }
  return SyncDirectory(Parent(path));
}

absl::Status SyncDirectory(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.ok()) return ErrnoToStatus(errno, absl::StrCat("cannot open folder ", path));
  if (fsync(fd.get()) != 0) return ErrnoToStatus(errno, absl::StrCat("cannot sync folder ", path));
  return absl::OkStatus();
}

absl::Status MakeDirectories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return SystemErrorToStatus(error, absl::StrCat("cannot make folder ", path));
  return absl::OkStatus();
}

absl::Status RemoveAll(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) return SystemErrorToStatus(error, absl::StrCat("cannot remove ", path));
  return absl::OkStatus();
}

absl::StatusOr<int64_t> RegularFileSize(const std::string& path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) return ErrnoToStatus(errno, absl::StrCat("cannot stat ", path));
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, " is not a regular file"));
  return static_cast<int64_t>(info.st_size);
}

absl::StatusOr<TempDir> TempDir::Create(std::string_view prefix) {
  const char* parent = getenv("TMPDIR");
  return CreateBelow(parent != nullptr && *parent != '\0' ? parent : "/tmp", prefix);
}

absl::StatusOr<TempDir> TempDir::CreateBelow(const std::string& parent, std::string_view prefix) {
  std::string path = Concat(parent, "/", prefix, "XXXXXX");
  if (mkdtemp(path.data()) == nullptr) return ErrnoToStatus(errno, absl::StrCat("cannot make a folder below ", parent));
  return TempDir(std::move(path));
}

TempDir::TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TempDir& TempDir::operator=(TempDir&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TempDir::~TempDir() {
  if (!path_.empty()) RemoveAll(path_).IgnoreError();  // a destructor cannot report it
}

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.ok()) return ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  struct stat info;
  if (fstat(fd.get(), &info) != 0) return ErrnoToStatus(errno, absl::StrCat("cannot stat ", path));
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, " is not a regular file"));
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0) return MappedFile(nullptr, 0);  // an empty mapping is an error
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data == MAP_FAILED) return ErrnoToStatus(errno, absl::StrCat("cannot map ", path));
  return MappedFile(static_cast<const char*>(data), size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);  // munmap does not write
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
#include "client/cli/private_server.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "base/fd.h"
#include "base/status.h"
#include "client/cli/exit_codes.h"
#include "client/status.h"

namespace halftone::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kSocketName[] = "/socket";
constexpr absl::Duration kStartTimeout = absl::Seconds(30);
constexpr absl::Duration kStopGrace = absl::Seconds(10);
constexpr absl::Duration kPoll = absl::Milliseconds(10);
constexpr size_t kLongestSocketPath = sizeof(sockaddr_un::sun_path) - 1;

absl::Status StartError(const std::string& message) {
  return client::WithReason(absl::UnavailableError(message), kReasonServerStart);
}

bool IsProgram(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::string OwnFolder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().string();
}

// Of the environment.
std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// $TMPDIR may be too deep for the address of a socket.
absl::StatusOr<TempDir> MakeFolder() {
  HALFTONE_ASSIGN_OR_RETURN(TempDir dir, TempDir::Create("halftone-"));
  if (dir.path().size() + strlen(kSocketName) <= kLongestSocketPath) return dir;
  return TempDir::CreateBelow("/tmp", "halftone-");
}

bool Accepts(const std::string& path) {
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (!fd.ok() || path.size() > kLongestSocketPath) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  return connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

}  // namespace

absl::StatusOr<std::string> FindProgram(const std::string& given, const std::string& name,
                                        const std::string& own_folder, const std::string& search_path) {
  if (!given.empty()) {
    if (IsProgram(given)) return given;
    return absl::NotFoundError(absl::StrCat(given, ": no such program"));
  }
  const std::string in_build_tree = absl::StrCat(own_folder, "/../../server/", name);
  for (const std::string& path : {absl::StrCat(own_folder, "/", name), in_build_tree}) {
    if (IsProgram(path)) return path;
  }
  for (absl::string_view folder : absl::StrSplit(search_path, ':', absl::SkipEmpty())) {
    const std::string path = absl::StrCat(folder, "/", name);
    if (IsProgram(path)) return path;
  }
  return absl::NotFoundError(
      absl::StrCat("cannot find the program ", name, ", neither in ", own_folder, " nor on PATH"));
}

std::string RangesFolder(const std::string& own, const std::string& xdg, const std::string& home) {
  // The specification of $XDG_CACHE_HOME has relative paths ignored.
  for (const fs::path& cache : {fs::path(own), fs::path(xdg) / "halftone", fs::path(home) / ".cache" / "halftone"}) {
    if (cache.is_absolute()) return (cache / "ranges").string();
  }
  return "";
}

absl::StatusOr<std::unique_ptr<PrivateServer>> PrivateServer::Start(const std::string& program,
                                                                    const std::string& worker,
                                                                    client::Cancellation& cancellation) {
  const absl::StatusOr<std::string> found = FindProgram(program, "halftoned", OwnFolder(), Variable("PATH"));
  if (!found.ok()) {
    return StartError(absl::StrCat(found.status().message(), ": give --halftoned PATH, or --server of a running one"));
  }
  HALFTONE_ASSIGN_OR_RETURN(TempDir dir, MakeFolder());
  const std::string socket = dir.path() + kSocketName;
  ChildOptions options;
  options.program = *found;
  options.args = {absl::StrCat("--listen=unix:", socket), absl::StrCat("--data=", dir.path(), "/data")};
  if (!worker.empty()) options.args.push_back(absl::StrCat("--worker=", worker));
  const std::string ranges = RangesFolder(Variable("HALFTONE_CACHE"), Variable("XDG_CACHE_HOME"), Variable("HOME"));
  if (!ranges.empty()) options.args.push_back(absl::StrCat("--ranges-cache=", ranges));
  absl::StatusOr<std::unique_ptr<Child>> child = Child::Spawn(options);
  if (!child.ok()) return StartError(std::string(child.status().message()));

  std::unique_ptr<PrivateServer> server(new PrivateServer(std::move(dir), *std::move(child)));
  const absl::Time deadline = absl::Now() + kStartTimeout;
  while (!Accepts(socket)) {
    if (server->child_->HasExited()) {
      const ExitStatus status = server->child_->Wait();
      return StartError(absl::StrCat(*found, " ended with ", status.ToString(), ":\n", server->Log()));
    }
    if (absl::Now() > deadline)
      return StartError(absl::StrCat(*found, " does not listen after 30 s:\n", server->Log()));
    if (!cancellation.Sleep(kPoll)) {
      return client::WithReason(absl::CancelledError("interrupted"), kReasonInterrupted);
    }
  }
  return server;
}

PrivateServer::~PrivateServer() {
  if (child_ != nullptr) child_->Terminate(kStopGrace);
}

std::string PrivateServer::address() const { return absl::StrCat("unix:", dir_.path(), kSocketName); }

}  // namespace halftone::cli

// SPDX-License-Identifier: Apache-2.0
// halftoned: serves halftone.v1 until it is told to stop by SIGTERM or SIGINT.
//
// Exit codes: 0 stopped, 1 cannot start, 2 another server uses the data folder.

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/flags/usage_config.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/logging.h"
#include "base/version.h"
#include "server/rpc/server.h"

ABSL_FLAG(std::string, listen, "127.0.0.1:50051", "gRPC address: host:port (port 0: any free port) or unix:/path");
ABSL_FLAG(std::string, data, "", "folder for blobs and jobs; created if it does not exist");
ABSL_FLAG(std::string, ranges_cache, "",
          "folder of int8 ranges that earlier jobs made, shared with other servers of the same user, at most 256 MiB; "
          "empty: within --data");
ABSL_FLAG(std::string, metrics, "", "HTTP address of /metrics: host:port; empty: not served");
ABSL_FLAG(std::string, worker, "", "the worker program; default: halftone-worker beside this program");
ABSL_FLAG(int64_t, max_blob_bytes, int64_t{16} << 30, "size limit of one blob");
ABSL_FLAG(std::string, print_port_file, "",
          "write the port (of a Unix socket: the address) into this file once clients can connect");
ABSL_FLAG(bool, insecure, false,
          "allow addresses that other machines can reach; there is no TLS and no authentication");

namespace halftone::server {
namespace {

constexpr int kCannotStart = 1;
constexpr int kDataInUse = 2;

// Flags are written --with-dashes; Abseil knows them with underscores.
std::vector<std::string> WithUnderscores(int argc, char** argv) {
  std::vector<std::string> arguments(argv, argv + argc);
  for (size_t i = 1; i < arguments.size() && arguments[i] != "--"; ++i) {
    std::string& argument = arguments[i];
    if (!absl::StartsWith(argument, "--")) continue;
    const size_t end = argument.find('=');
    for (size_t c = 2; c < std::min(end, argument.size()); ++c) {
      if (argument[c] == '-') argument[c] = '_';
    }
  }
  return arguments;
}

bool ParseFlags(int argc, char** argv) {
  absl::SetProgramUsageMessage("halftoned --data FOLDER [--listen ADDRESS] [--metrics ADDRESS]");
  absl::FlagsUsageConfig usage;
  usage.contains_help_flags = [](absl::string_view file) { return absl::EndsWith(file, "server/main.cc"); };
  usage.contains_helpshort_flags = usage.contains_help_flags;
  usage.version_string = [] { return absl::StrCat("halftoned ", kVersion, "\n"); };
  absl::SetFlagsUsageConfig(usage);
  std::vector<std::string> arguments = WithUnderscores(argc, argv);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  const std::vector<char*> rest = absl::ParseCommandLine(argc, pointers.data());
  if (rest.size() > 1) LogError("unexpected argument").With("argument", rest[1]);
  if (absl::GetFlag(FLAGS_data).empty()) LogError("--data is missing: the folder for blobs and jobs");
  return rest.size() == 1 && !absl::GetFlag(FLAGS_data).empty();
}

std::string DefaultWorker() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  const std::filesystem::path in_build_tree = folder / "worker" / "halftone-worker";
  const std::filesystem::path beside = folder / "halftone-worker";
  return !std::filesystem::exists(beside, error) && std::filesystem::exists(in_build_tree, error) ? in_build_tree
                                                                                                  : beside;
}

int Run() {
  umask(S_IRWXG | S_IRWXO);  // data and socket are the owner's only
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);  // before any thread starts: only sigwait below gets them
  signal(SIGPIPE, SIG_IGN);

  Server::Options options;
  options.listen = absl::GetFlag(FLAGS_listen);
  options.metrics = absl::GetFlag(FLAGS_metrics);
  options.data = absl::GetFlag(FLAGS_data);
  options.ranges_cache = absl::GetFlag(FLAGS_ranges_cache);
  options.worker = absl::GetFlag(FLAGS_worker).empty() ? DefaultWorker() : absl::GetFlag(FLAGS_worker);
  options.max_blob_bytes = absl::GetFlag(FLAGS_max_blob_bytes);
  options.insecure = absl::GetFlag(FLAGS_insecure);
  const absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(options);
  if (!server.ok()) {
    LogError("cannot start").With("error", server.status().message());
    return absl::IsFailedPrecondition(server.status()) ? kDataInUse : kCannotStart;
  }
  const std::string port = (*server)->port() == 0 ? (*server)->address() : absl::StrCat((*server)->port());
  if (const std::string file = absl::GetFlag(FLAGS_print_port_file); !file.empty()) {
    if (const absl::Status written = WriteFileAtomically(file, port + "\n"); !written.ok()) {
      LogError("cannot write the port file").With("error", written.message());
      return kCannotStart;
    }
  }
  printf("halftoned listening on %s\n", (*server)->address().c_str());
  fflush(stdout);
  int signal_number = 0;
  sigwait(&stop, &signal_number);
  LogInfo("signal").With("signal", signal_number);
  (*server)->Shutdown();
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace halftone::server

int main(int argc, char** argv) {
  halftone::InitLogging();
  if (!halftone::server::ParseFlags(argc, argv)) return halftone::server::kCannotStart;
  return halftone::server::Run();
}

// SPDX-License-Identifier: Apache-2.0
// halftone health: whether a server serves. For container health checks.

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "client/cli/commands.h"
#include "client/cli/console.h"
#include "client/cli/flags.h"

namespace halftone::cli {
namespace {

constexpr char kExample[] = R"(Example:
  halftone health --timeout 2 && echo serving)";

constexpr char kDefaultServer[] = "127.0.0.1:50051";  // halftoned's default port
constexpr double kDefaultTimeout = 5;

struct Flags {
  std::string server = kDefaultServer;
  double timeout = kDefaultTimeout;
};

absl::Status Health(const Flags& flags, Interrupts& interrupts) {
  const absl::Time deadline = absl::Now() + absl::Seconds(flags.timeout);
  client::ClientOptions options;
  options.address = flags.server;
  options.connect_timeout = absl::Seconds(flags.timeout);
  options.cancellation = &interrupts.cancellation();
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<client::Client> client, client::Client::Connect(options));
  absl::Status status = client->CheckHealth(deadline - absl::Now());
  if (absl::IsDeadlineExceeded(status)) {
    status = absl::UnavailableError(absl::StrCat("no response from ", flags.server, " in ", flags.timeout, " s"));
  }
  HALFTONE_RETURN_IF_ERROR(status);
  return PrintResult("serving\n");
}

}  // namespace

void AddHealth(CLI::App& app, Action* action) {
  const auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand("health", "exit with 0 if a server serves, with 6 if not");
  command.footer(kExample);
  command.add_option("--server", flags->server, absl::StrCat("HOST:PORT or unix:PATH (default: ", kDefaultServer, ")"))
      ->envname("HALFTONE_SERVER")
      ->type_name("ADDR");
  command.add_option("--timeout", flags->timeout, "seconds to wait (default: 5)")
      ->check(CLI::Range(0.001, 3600.0))
      ->type_name("S");
  command.callback(
      [flags, action] { *action = [flags](Interrupts& interrupts) { return Health(*flags, interrupts); }; });
}

}  // namespace halftone::cli

// SPDX-License-Identifier: Apache-2.0
// Session: the server of a command, a running or a private one.
#ifndef HALFTONE_CLIENT_CLI_SESSION_H_
#define HALFTONE_CLIENT_CLI_SESSION_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/interrupts.h"
#include "client/cli/private_server.h"
#include "client/client.h"

namespace halftone::cli {

struct ServerFlags {
  std::string server;     // HOST:PORT or unix:PATH; empty: a private server
  std::string halftoned;  // program of the private server; empty: beside this program, else on PATH
  std::string worker;     // program of its children; empty: the private server's own choice
};

// Not thread-safe. The private server ends with the session.
class Session {
 public:
  // Must be called by the main thread, which the private server does not outlive.
  static absl::StatusOr<std::unique_ptr<Session>> Open(const ServerFlags& flags, Interrupts& interrupts);

  client::Client& client() { return *client_; }
  Interrupts& interrupts() { return interrupts_; }
  bool is_private() const { return server_ != nullptr; }
  const std::string& address() const { return client_->address(); }

  // Another client of the same server, which does not obey interrupts any more.
  absl::StatusOr<std::unique_ptr<client::Client>> ReconnectIgnoringInterrupts() const;

  // The end of the private server's log, for bug reports; "" of other servers.
  std::string ServerLog() const;

 private:
  Session(Interrupts& interrupts, std::unique_ptr<PrivateServer> server, std::unique_ptr<client::Client> client)
      : interrupts_(interrupts), server_(std::move(server)), client_(std::move(client)) {}

  Interrupts& interrupts_;
  std::unique_ptr<PrivateServer> server_;
  std::unique_ptr<client::Client> client_;
};

}  // namespace halftone::cli

#endif  // HALFTONE_CLIENT_CLI_SESSION_H_

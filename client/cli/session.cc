// SPDX-License-Identifier: Apache-2.0
#include "client/cli/session.h"

#include "base/status.h"
#include "client/cli/exit_codes.h"
#include "client/status.h"

namespace halftone::cli {
namespace {

// A private server that has gone does not come back.
constexpr absl::Duration kPrivatePatience = absl::Seconds(2);
constexpr absl::Duration kFarewellTimeout = absl::Seconds(5);

absl::Status Interrupted() { return client::WithReason(absl::CancelledError("interrupted"), kReasonInterrupted); }

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> Session::Open(const ServerFlags& flags, Interrupts& interrupts) {
  client::ClientOptions options;
  options.address = flags.server;
  options.cancellation = &interrupts.cancellation();
  std::unique_ptr<PrivateServer> server;
  if (flags.server.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(server, PrivateServer::Start(flags.halftoned, flags.worker, interrupts.cancellation()));
    options.address = server->address();
    options.retry.give_up_after = kPrivatePatience;
  }
  absl::StatusOr<std::unique_ptr<client::Client>> client = client::Client::Connect(options);
  if (absl::IsCancelled(client.status())) return Interrupted();
  if (!client.ok()) return client.status();
  return std::unique_ptr<Session>(new Session(interrupts, std::move(server), *std::move(client)));
}

absl::StatusOr<std::unique_ptr<client::Client>> Session::ReconnectIgnoringInterrupts() const {
  client::ClientOptions options;
  options.address = address();
  options.connect_timeout = kFarewellTimeout;
  options.call_timeout = kFarewellTimeout;
  options.retry.give_up_after = kFarewellTimeout;
  return client::Client::Connect(options);
}

std::string Session::ServerLog() const { return server_ == nullptr ? "" : server_->Log(); }

}  // namespace halftone::cli

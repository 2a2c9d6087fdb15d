// SPDX-License-Identifier: Apache-2.0
// Where a server may listen.

#ifndef HALFTONE_SERVER_RPC_ADDRESS_H_
#define HALFTONE_SERVER_RPC_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"

namespace halftone::server {

struct Address {
  bool is_unix = false;
  std::string path;  // of a Unix socket
  std::string host;  // as gRPC takes it: IPv6 in brackets
  int port = 0;

  // As gRPC takes it.
  std::string ToString() const;
  // Only programs of this machine can reach it.
  bool IsLocal() const;
};

// "host:port", "[v6]:port" or "unix:/path". INVALID_ARGUMENT says what is wrong.
absl::StatusOr<Address> ParseAddress(const std::string& text);

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_RPC_ADDRESS_H_

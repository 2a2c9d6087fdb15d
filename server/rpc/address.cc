// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/address.h"

#include <sys/un.h>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace halftone::server {
namespace {

constexpr int kMaxPort = 65535;
constexpr size_t kMaxUnixPath = sizeof(sockaddr_un::sun_path) - 1;

}  // namespace

std::string Address::ToString() const { return is_unix ? absl::StrCat("unix:", path) : absl::StrCat(host, ":", port); }

bool Address::IsLocal() const {
  return is_unix || host == "localhost" || host == "[::1]" || absl::StartsWith(host, "127.");
}

absl::StatusOr<Address> ParseAddress(const std::string& text) {
  Address address;
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "unix:")) {
    address.is_unix = true;
    address.path = std::string(rest);
    if (rest.empty() || rest.size() > kMaxUnixPath) {
      return absl::InvalidArgumentError(
          absl::StrCat("address '", text, "': the path of a Unix socket has 1 to ", kMaxUnixPath, " bytes"));
    }
    return address;
  }
  const size_t colon = rest.rfind(':');
  const bool has_port = colon != absl::string_view::npos && absl::SimpleAtoi(rest.substr(colon + 1), &address.port);
  address.host = std::string(rest.substr(0, has_port ? colon : 0));
  const bool bare_v6 = absl::StrContains(address.host, ":") && !absl::StartsWith(address.host, "[");
  if (!has_port || address.host.empty() || bare_v6 || address.port < 0 || address.port > kMaxPort) {
    return absl::InvalidArgumentError(
        absl::StrCat("address '", text, "': host:port, [v6]:port or unix:/path is expected"));
  }
  return address;
}

}  // namespace halftone::server

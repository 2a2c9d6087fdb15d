// SPDX-License-Identifier: Apache-2.0
// What a profile job made, printed: for `profile` and for `jobs watch`.
#ifndef HALFTONE_CLIENT_CLI_PROFILE_H_
#define HALFTONE_CLIENT_CLI_PROFILE_H_

#include "absl/status/status.h"
#include "client/cli/job.h"
#include "client/client.h"

namespace halftone::cli {

// The table with its first `top` steps (0: all), or exactly profile.json. Warnings go to stderr.
absl::Status PrintProfile(client::Client& client, const FinishedJob& finished, bool json, int top);

}  // namespace halftone::cli

#endif  // HALFTONE_CLIENT_CLI_PROFILE_H_

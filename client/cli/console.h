// SPDX-License-Identifier: Apache-2.0
// What the command says: results on stdout, everything else on stderr.
#ifndef HALFTONE_CLIENT_CLI_CONSOLE_H_
#define HALFTONE_CLIENT_CLI_CONSOLE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace halftone::cli {

// Writes to stdout and flushes.
absl::Status PrintResult(absl::string_view text);

// One line to stderr.
void Say(absl::string_view line);

// "WARNING: ..." on stderr, in color on a terminal unless NO_COLOR is set. Each once.
void PrintWarnings(const std::vector<std::string>& warnings);

// "halftone: error: ..." on stderr, with the reason and, for our bugs, what to do.
void PrintError(const absl::Status& status);

// Whether stderr is a terminal that can move its cursor.
bool StderrIsTerminal();

}  // namespace halftone::cli

#endif  // HALFTONE_CLIENT_CLI_CONSOLE_H_

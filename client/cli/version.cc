// SPDX-License-Identifier: Apache-2.0
// halftone version.

#include "base/version.h"

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/console.h"

namespace halftone::cli {

void AddVersion(CLI::App& app, Action* action) {
  CLI::App& command = *app.add_subcommand("version", "print the version of this program");
  command.footer("Example:\n  halftone version");
  command.callback(
      [action] { *action = [](Interrupts&) { return PrintResult(absl::StrCat("halftone ", kVersion, "\n")); }; });
}

}  // namespace halftone::cli

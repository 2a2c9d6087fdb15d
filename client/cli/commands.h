// SPDX-License-Identifier: Apache-2.0
// The subcommands of `halftone`, one file each. Each Add... declares its flags; when the command line names the
// subcommand, `*action` becomes what it does.
#ifndef HALFTONE_CLIENT_CLI_COMMANDS_H_
#define HALFTONE_CLIENT_CLI_COMMANDS_H_

#include <functional>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "client/cli/interrupts.h"

namespace halftone::cli {

using Action = std::function<absl::Status(Interrupts&)>;

void AddOptimize(CLI::App& app, Action* action);
void AddInspect(CLI::App& app, Action* action);
void AddRun(CLI::App& app, Action* action);
void AddBench(CLI::App& app, Action* action);
void AddCompare(CLI::App& app, Action* action);
void AddProfile(CLI::App& app, Action* action);
void AddCapabilities(CLI::App& app, Action* action);
void AddHealth(CLI::App& app, Action* action);
void AddJobs(CLI::App& app, Action* action);
void AddVersion(CLI::App& app, Action* action);

// All of them, in the order of the help.
void AddCommands(CLI::App& app, Action* action);

}  // namespace halftone::cli

#endif  // HALFTONE_CLIENT_CLI_COMMANDS_H_

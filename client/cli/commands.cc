// SPDX-License-Identifier: Apache-2.0
#include "client/cli/commands.h"

namespace halftone::cli {

void AddCommands(CLI::App& app, Action* action) {
  AddOptimize(app, action);
  AddInspect(app, action);
  AddRun(app, action);
  AddBench(app, action);
  AddCompare(app, action);
  AddProfile(app, action);
  AddCapabilities(app, action);
  AddHealth(app, action);
  AddJobs(app, action);
  AddVersion(app, action);
}

}  // namespace halftone::cli

// The command `halftone`: reads the command line, does one thing, says how it went by its exit code.

#include <exception>

#include "client/cli/commands.h"
#include "client/cli/console.h"
#include "client/cli/exit_codes.h"
#include "client/cli/interrupts.h"

namespace halftone::cli {
namespace {

constexpr char kFooter[] = R"(Exit codes:
  0 done                      4 a gate failed
  1 a bug of Halftone         5 the job's time was up
  2 wrong flags or policy     6 no server answers
  3 bad model, failed job     130 interrupted

Example:
  halftone optimize resnet50.onnx --eval samples/ --out build)";

ExitCode Main(int argc, char** argv) {
  CLI::App app("Halftone makes models for CPUs smaller and faster, and measures what that costs.", "halftone");
  app.require_subcommand(1);
  app.footer(kFooter);
  app.get_formatter()->column_width(36);
  Action action;
  AddCommands(app, &action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsage;  // prints the help that was asked for, or what is wrong
  }
  Interrupts interrupts;
  const absl::Status status = action(interrupts);
  if (!status.ok()) PrintError(status);
  return ExitCodeFor(status);
}

}  // namespace
}  // namespace halftone::cli

int main(int argc, char** argv) {
  try {
    return halftone::cli::Main(argc, argv);
  } catch (const std::exception& error) {
    halftone::cli::PrintError(absl::InternalError(error.what()));
    return halftone::cli::kBug;
  }
}

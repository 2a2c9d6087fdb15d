// The command `halftone`: reads the command line, does one thing, says how it went by its exit code.

#include <exception>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/console.h"
#include "client/cli/exit_codes.h"
#include "client/cli/interrupts.h"
#include "client/suggest.h"

namespace halftone::cli {
namespace {

constexpr char kFooter[] = R"(Exit codes:
  0 done                      4 a gate failed
  1 a bug of Halftone         5 the job's time was up
  2 wrong flags or policy     6 no server answers
  3 bad model, failed job     130 interrupted

Example:
  halftone optimize resnet50.onnx --eval samples/ --out build)";

// The parser would only say that a command is missing.
std::string UnknownCommand(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return "";
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == argv[1]) return "";
    known.push_back(command->get_name());
  }
  return absl::StrCat("halftone: no command '", argv[1], "'", client::DidYouMean(argv[1], known));
}

ExitCode Main(int argc, char** argv) {
  CLI::App app("Halftone makes models for CPUs smaller and faster, and measures what that costs.", "halftone");
  app.require_subcommand(1);
  app.footer(kFooter);
  app.get_formatter()->column_width(36);
  Action action;
  AddCommands(app, &action);
  if (const std::string wrong = UnknownCommand(app, argc, argv); !wrong.empty()) {
    Say(wrong);
    return kUsage;
  }
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

// SPDX-License-Identifier: Apache-2.0
// The command `halftone`: parses the command line, runs one subcommand, returns its exit code.

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
  0 done                          5 the job timed out
  1 a bug of Halftone             6 the server is unreachable
  2 wrong flags or policy         9 too noisy: a gate is undecided, or a benchmark INVALID
  3 bad model or samples          130 interrupted or cancelled
  4 a gate failed

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
  CLI::App app(
      "Halftone converts ONNX and TensorFlow models to bf16, fp16 and int8 for CPUs, and measures speed and accuracy.",
      "halftone");
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

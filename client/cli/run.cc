// SPDX-License-Identifier: Apache-2.0
// halftone run MODEL: one inference on given inputs.

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "client/cli/commands.h"
#include "client/cli/console.h"
#include "client/cli/flags.h"
#include "client/cli/inputs.h"
#include "client/cli/job.h"
#include "client/cli/results.h"
#include "client/cli/session.h"

namespace halftone::cli {
namespace {

constexpr char kExample[] = R"(Example:
  halftone run mnist.onnx --input Input3=digit.npy --out outputs
writes one .npy file per output into outputs/ and prints their paths.)";

struct Flags {
  ServerFlags server;
  ModelFlags model;
  BenchmarkFlags benchmark;
  std::vector<std::string> inputs;
  std::string out = ".";
  bool fuse = false;
  bool quiet = false;
  double timeout = 0;
};

absl::Status Run(const Flags& flags, Interrupts& interrupts) {
  Blobs blobs;
  v1::JobSpec spec;
  v1::RunSpec& run = *spec.mutable_run();
  HALFTONE_ASSIGN_OR_RETURN(*run.mutable_model(),
                            ResolveModel(flags.model.path, flags.model.format, &blobs, flags.model.signature));
  for (const std::string& input : flags.inputs) {
    HALFTONE_ASSIGN_OR_RETURN(*run.add_inputs(), ResolveInput(input, run.inputs_size(), &blobs));
  }
  run.set_fuse(flags.fuse);
  HALFTONE_ASSIGN_OR_RETURN(*run.mutable_benchmark(), ToBenchmarkSpec(flags.benchmark));
  for (const std::string& output : flags.model.outputs) run.add_outputs(output);
  SetTimeout(flags.timeout, &spec);

  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Open(flags.server, interrupts));
  HALFTONE_ASSIGN_OR_RETURN(const FinishedJob finished,
                            RunJob(*session, spec, blobs, flags.quiet, absl::StrCat(" --out ", ShellQuote(flags.out))));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<std::string> paths,
                            WriteFiles(session->client(), finished.job, flags.out, flags.quiet));
  PrintWarnings(finished.warnings);
  std::string text;
  for (const std::string& path : paths) absl::StrAppend(&text, path, "\n");
  return PrintResult(text);
}

}  // namespace

void AddRun(CLI::App& app, Action* action) {
  const auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand("run", "run a model once on given inputs");
  command.footer(kExample);
  AddModelFlags(command, &flags->model);
  command.add_option("--input", flags->inputs, "input of the model and its .npy file; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=FILE.npy");
  command.add_option("--out", flags->out, "folder for the outputs (default: .)")->type_name("DIR");
  AddModelFormatFlags(command, &flags->model);
  command.add_flag("--fuse", flags->fuse,
                   "optimize the graph first; without it the unmodified model runs, an int8 file in fp32");
  AddThreadsFlag(command, &flags->benchmark);
  command.option_defaults()->group(kDisplayGroup);
  command.add_flag("--quiet", flags->quiet, "no progress");
  AddTimeoutFlag(command, &flags->timeout);
  AddServerFlags(command, &flags->server);
  command.callback([flags, action] { *action = [flags](Interrupts& interrupts) { return Run(*flags, interrupts); }; });
}

}  // namespace halftone::cli

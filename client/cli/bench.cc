// halftone bench MODEL: how fast a model is as it came and fused.

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "client/cli/commands.h"
#include "client/cli/flags.h"
#include "client/cli/inputs.h"
#include "client/cli/job.h"
#include "client/cli/outcome.h"
#include "client/cli/results.h"
#include "client/cli/session.h"

namespace halftone::cli {
namespace {

constexpr char kExample[] = R"(Example:
  halftone bench model.onnx --threads 2 --rounds 10)";

struct Flags {
  ServerFlags server;
  ModelFlags model;
  BenchmarkFlags benchmark;
  std::string samples;
  std::string out;
  double timeout = 0;
  OutcomeFlags outcome;
};

absl::Status Bench(const Flags& flags, Interrupts& interrupts) {
  Blobs blobs;
  v1::JobSpec spec;
  v1::BenchSpec& bench = *spec.mutable_bench();
  HALFTONE_ASSIGN_OR_RETURN(*bench.mutable_model(), ResolveModel(flags.model.path, flags.model.format, &blobs));
  if (!flags.samples.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(*bench.mutable_samples(), ResolveSamples("--eval", flags.samples, &blobs));
  }
  *bench.mutable_benchmark() = ToBenchmarkSpec(flags.benchmark);
  for (const std::string& output : flags.model.outputs) bench.add_outputs(output);
  SetTimeout(flags.timeout, &spec);

  const bool quiet = flags.outcome.quiet;
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Open(flags.server, interrupts));
  HALFTONE_ASSIGN_OR_RETURN(const FinishedJob finished, RunJob(*session, spec, blobs, quiet, ""));
  absl::StatusOr<v1::Report> report =
      flags.out.empty() ? FetchReport(session->client(), finished.job)
                        : WriteReportAndFiles(session->client(), finished.job, flags.out, flags.model.path, quiet);
  HALFTONE_RETURN_IF_ERROR(report.status());
  return ShowOutcome(*report, finished.warnings, flags.outcome);
}

}  // namespace

void AddBench(CLI::App& app, Action* action) {
  const auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand("bench", "measure a model as it is and fused, without lowering it");
  command.footer(kExample);
  AddModelFlags(command, &flags->model);
  command.add_option("--eval", flags->samples, "samples to run on: an .npz or a folder of them (default: random)")
      ->type_name("PATH");
  AddBenchmarkFlags(command, &flags->benchmark);
  AddTimeoutFlag(command, &flags->timeout);
  command.add_option("--out", flags->out, "folder for report.json (default: not written)")->type_name("DIR");
  command.add_flag("--json", flags->outcome.json, "print exactly report.json on stdout, no table");
  command.add_flag("--quiet", flags->outcome.quiet, "no progress and no notes");
  command.add_option("--summary", flags->outcome.summary_file, "append a Markdown summary to this file")
      ->type_name("FILE.md");
  AddServerFlags(command, &flags->server);
  command.callback(
      [flags, action] { *action = [flags](Interrupts& interrupts) { return Bench(*flags, interrupts); }; });
}

}  // namespace halftone::cli

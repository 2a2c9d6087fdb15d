// SPDX-License-Identifier: Apache-2.0
// halftone profile MODEL: where the time of a model goes, step by step.
#include "client/cli/profile.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "client/cli/commands.h"
#include "client/cli/console.h"
#include "client/cli/flags.h"
#include "client/cli/inputs.h"
#include "client/cli/int8_flags.h"
#include "client/cli/job.h"
#include "client/cli/results.h"
#include "client/cli/session.h"
#include "report/json.h"
#include "report/profile.h"

namespace halftone::cli {
namespace {

constexpr char kExample[] = R"(Examples:
  halftone profile model.onnx                                   the 20 steps with the largest potential saving
  halftone profile model.onnx --precision bf16 --threads 2 --top 0
  halftone profile model.onnx --precision fp32,int8 --calibration samples/
  halftone profile model.onnx --onednn-verbose lines.txt        and oneDNN's verbose lines, with commands that repeat them)";

constexpr char kJsonName[] = "profile.json";
constexpr char kVerboseName[] = "onednn-verbose.txt";

struct Flags {
  ServerFlags server;
  ModelFlags model;
  PolicyFlags policy;
  BenchmarkFlags benchmark;
  Int8Flags int8;
  std::string samples;
  std::string verbose;
  int top = 20;
  bool json = false;
  bool quiet = false;
  double timeout = 0;
};

absl::Status Profile(const Flags& flags, Interrupts& interrupts) {
  Blobs blobs;
  v1::JobSpec spec;
  v1::ProfileSpec& profile = *spec.mutable_profile();
  HALFTONE_ASSIGN_OR_RETURN(*profile.mutable_policy(), ToPolicy(flags.policy));
  HALFTONE_RETURN_IF_ERROR(SetInt8(flags.int8, profile.mutable_policy()));
  HALFTONE_ASSIGN_OR_RETURN(*profile.mutable_model(),
                            ResolveModel(flags.model.path, flags.model.format, &blobs, flags.model.signature));
  HALFTONE_RETURN_IF_ERROR(ResolveCalibration(flags.int8, &profile, &blobs));
  if (!flags.samples.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(*profile.mutable_samples(), ResolveSamples("--eval", {flags.samples}, &blobs));
  }
  HALFTONE_ASSIGN_OR_RETURN(*profile.mutable_benchmark(), ToBenchmarkSpec(flags.benchmark));
  for (const std::string& output : flags.model.outputs) profile.add_outputs(output);
  profile.set_onednn_verbose(!flags.verbose.empty());
  spec.set_no_ranges_cache(flags.int8.no_ranges_cache);
  SetTimeout(flags.timeout, &spec);

  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Open(flags.server, interrupts));
  HALFTONE_ASSIGN_OR_RETURN(const FinishedJob finished, RunJob(*session, spec, blobs, flags.quiet, ""));
  if (!flags.verbose.empty()) {
    HALFTONE_RETURN_IF_ERROR(WriteFileAs(session->client(), finished.job, kVerboseName, flags.verbose));
  }
  return PrintProfile(session->client(), finished, flags.json, flags.top);
}

}  // namespace

absl::Status PrintProfile(client::Client& client, const FinishedJob& finished, bool json, int top) {
  HALFTONE_ASSIGN_OR_RETURN(const std::string text, FetchFile(client, finished.job, kJsonName));
  const absl::StatusOr<v1::Profile> profile = report::ProfileFromJson(text);
  if (!profile.ok()) return absl::InternalError(absl::StrCat(kJsonName, ": ", profile.status().message()));
  PrintWarnings(finished.warnings);
  PrintWarnings({profile->warnings().begin(), profile->warnings().end()});
  return PrintResult(json ? text : report::ProfileTable(*profile, top));
}

void AddProfile(CLI::App& app, Action* action) {
  const auto flags = std::make_shared<Flags>();
  CLI::App& command =
      *app.add_subcommand("profile", "show where the time of a model goes, step by step, and what could be saved");
  command.footer(kExample);
  AddModelFlags(command, &flags->model);
  AddShapeFlags(command, &flags->benchmark);
  AddModelFormatFlags(command, &flags->model);
  AddPrecisionFlags(command, "variants to profile (default: fp32,bf16)", &flags->policy);
  AddInt8Flags(command, &flags->int8);
  command.option_defaults()->group(kEvaluationGroup);
  command.add_option("--eval", flags->samples, "samples, of which the first is run: an .npz file or a folder of them")
      ->type_name("PATH");
  AddThreadsFlag(command, &flags->benchmark);
  command.add_option("--seed", flags->benchmark.seed, "of random inputs (default: 1)")->type_name("N");
  command.option_defaults()->group(kDisplayGroup);
  command.add_option("--top", flags->top, "steps in the table, 0 for all (default: 20)")
      ->check(CLI::Range(0, 1'000'000))
      ->type_name("N");
  command.add_option("--onednn-verbose", flags->verbose, "write oneDNN's verbose lines of one inference to this file")
      ->type_name("FILE");
  command.add_flag("--json", flags->json, "print exactly profile.json: halftone.v1.Profile, all steps");
  command.add_flag("--quiet", flags->quiet, "no progress");
  AddTimeoutFlag(command, &flags->timeout);
  AddServerFlags(command, &flags->server);
  AddPlannerFlags(command, &flags->policy);
  AddAdvancedInt8Flags(command, &flags->int8);
  command.callback(
      [flags, action] { *action = [flags](Interrupts& interrupts) { return Profile(*flags, interrupts); }; });
}

}  // namespace halftone::cli

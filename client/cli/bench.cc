// SPDX-License-Identifier: Apache-2.0
// halftone bench MODEL...: how fast models are unmodified, fused, and in other precisions.

#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "client/cli/commands.h"
#include "client/cli/console.h"
#include "client/cli/exit_codes.h"
#include "client/cli/exports.h"
#include "client/cli/flags.h"
#include "client/cli/inputs.h"
#include "client/cli/int8_flags.h"
#include "client/cli/job.h"
#include "client/cli/outcome.h"
#include "client/cli/results.h"
#include "client/cli/session.h"
#include "report/names.h"

namespace halftone::cli {
namespace {

constexpr char kExample[] = R"(Example:
  halftone bench model.onnx --precision bf16 --threads 2 --preset standard --out before
measures the unmodified model, fp32 and bf16, and writes before/report.json for `halftone compare`. The exit code is 9
when the machine is too noisy for a reliable result.)";

struct Flags {
  ServerFlags server;
  ModelFlags model;
  std::vector<std::string> models;
  PolicyFlags policy;
  BenchmarkFlags benchmark;
  Int8Flags int8;
  std::string samples;
  std::string out;
  std::vector<std::string> exports;
  bool allow_noisy = false;
  double timeout = 0;
  OutcomeFlags outcome;
};

// Folders for the reports of several models: their names below --out.
absl::StatusOr<std::map<std::string, std::string>> Folders(const Flags& flags) {
  std::map<std::string, std::string> folders;  // by model
  std::set<std::string> taken;
  for (const std::string& model : flags.models) {
    if (flags.out.empty() || flags.models.size() == 1) {
      folders[model] = flags.out;
      continue;
    }
    const std::filesystem::path folder = std::filesystem::path(flags.out) / std::filesystem::path(model).stem();
    if (!taken.insert(folder).second) {
      return UsageError(absl::StrCat("--out: two models would be reported in ", folder.string()));
    }
    folders[model] = folder;
  }
  return folders;
}

// Flags that can only speak of one model.
absl::Status CheckOneModel(const Flags& flags) {
  if (flags.models.size() == 1) return absl::OkStatus();
  if (flags.outcome.json) return UsageError("--json prints one report: give one model");
  if (!flags.exports.empty()) return UsageError("--export writes one report: give one model");
  return absl::OkStatus();
}

absl::StatusOr<v1::Report> BenchOne(const Flags& flags, const std::string& model, const std::string& out,
                                    Session& session, std::vector<std::string>* warnings) {
  Blobs blobs;
  v1::JobSpec spec;
  v1::BenchSpec& bench = *spec.mutable_bench();
  HALFTONE_ASSIGN_OR_RETURN(*bench.mutable_model(),
                            ResolveModel(model, flags.model.format, &blobs, flags.model.signature));
  if (!flags.samples.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(*bench.mutable_samples(), ResolveSamples("--eval", {flags.samples}, &blobs));
  }
  if (SaysAnything(flags.policy)) {
    HALFTONE_ASSIGN_OR_RETURN(*bench.mutable_policy(), ToPolicy(flags.policy));
  }
  HALFTONE_RETURN_IF_ERROR(SetInt8(flags.int8, bench.mutable_policy()));
  HALFTONE_RETURN_IF_ERROR(ResolveCalibration(flags.int8, &bench, &blobs));
  HALFTONE_ASSIGN_OR_RETURN(*bench.mutable_benchmark(), ToBenchmarkSpec(flags.benchmark));
  for (const std::string& output : flags.model.outputs) bench.add_outputs(output);
  spec.set_no_ranges_cache(flags.int8.no_ranges_cache);
  SetTimeout(flags.timeout, &spec);

  const bool quiet = flags.outcome.quiet;
  HALFTONE_ASSIGN_OR_RETURN(const FinishedJob finished, RunJob(session, spec, blobs, quiet, ""));
  *warnings = finished.warnings;
  return out.empty() ? FetchReport(session.client(), finished.job)
                     : WriteReportAndFiles(session.client(), finished.job, out, model, quiet);
}

// Over all models, of the medians; a variant that one of them lacks is left out.
std::string GeometricMeans(const std::vector<v1::Report>& reports) {
  std::map<v1::Precision, std::pair<double, size_t>> logs;
  for (const v1::Report& report : reports) {
    for (const v1::Variant& variant : report.variants()) {
      const double median = variant.benchmark().speedup().median();
      if (median <= 0 || variant.precision() == v1::PRECISION_FP32) continue;
      logs[variant.precision()].first += std::log(median);
      ++logs[variant.precision()].second;
    }
  }
  std::string text;
  for (const auto& [precision, sum] : logs) {
    if (sum.second != reports.size()) continue;
    absl::StrAppendFormat(&text, "geometric mean of the speed-ups of %d models, %s over fp32: %.3f\n", reports.size(),
                          report::PrecisionName(precision), std::exp(sum.first / static_cast<double>(sum.second)));
  }
  return text;
}

absl::Status Bench(const Flags& flags, Interrupts& interrupts) {
  HALFTONE_RETURN_IF_ERROR(CheckOneModel(flags));
  HALFTONE_ASSIGN_OR_RETURN(const Exports exports, ParseExports(flags.exports));
  HALFTONE_ASSIGN_OR_RETURN(const auto folders, Folders(flags));
  OutcomeFlags outcome = flags.outcome;
  outcome.must_be_valid = !flags.allow_noisy;
  outcome.printed_export = exports.printed;

  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Open(flags.server, interrupts));
  std::vector<v1::Report> reports;
  absl::Status noisy;
  for (const std::string& model : flags.models) {
    std::vector<std::string> warnings;
    HALFTONE_ASSIGN_OR_RETURN(reports.emplace_back(), BenchOne(flags, model, folders.at(model), *session, &warnings));
    HALFTONE_RETURN_IF_ERROR(WriteExports(exports, reports.back()));
    const absl::Status shown = ShowOutcome(reports.back(), warnings, outcome);
    if (ExitCodeFor(shown) != kDone && ExitCodeFor(shown) != kNoisy) return shown;
    if (!shown.ok()) noisy = shown;
  }
  if (reports.size() > 1) HALFTONE_RETURN_IF_ERROR(PrintResult(GeometricMeans(reports)));
  return noisy;
}

}  // namespace

void AddBench(CLI::App& app, Action* action) {
  const auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand("bench", "measure models: unmodified, fused, and in other precisions");
  command.footer(kExample);
  command.option_defaults()->group(kModelGroup);
  command.add_option("MODEL", flags->models, "models: .onnx, or .pb or .pbtxt of a TensorFlow GraphDef")
      ->required()
      ->type_name("");
  command
      .add_option("--out", flags->out, "folder for report.json; of several models for one folder each (default: none)")
      ->type_name("DIR");
  AddShapeFlags(command, &flags->benchmark);
  AddModelFormatFlags(command, &flags->model);
  AddPrecisionFlags(command, "variants to measure besides fp32 (default: none)", &flags->policy);
  AddInt8Flags(command, &flags->int8);
  command.option_defaults()->group(kEvaluationGroup);
  command.add_option("--eval", flags->samples, "samples to run on: an .npz file or a folder of them (default: random)")
      ->type_name("PATH");
  AddBenchmarkFlags(command, &flags->benchmark);
  command.add_flag("--allow-noisy", flags->allow_noisy, "no error when noise makes the benchmark INVALID");
  command.option_defaults()->group(kDisplayGroup);
  command
      .add_option("--export", flags->exports,
                  "print as json, csv, google-benchmark, text or prometheus, or with =FILE write it; may be repeated")
      ->allow_extra_args(false)
      ->type_name("FORMAT[=FILE]");
  AddDisplayFlags(command, &flags->outcome);
  AddTimeoutFlag(command, &flags->timeout);
  AddServerFlags(command, &flags->server);
  AddPlannerFlags(command, &flags->policy);
  AddRewriteFlags(command, &flags->policy);
  AddAdvancedInt8Flags(command, &flags->int8);
  command.callback(
      [flags, action] { *action = [flags](Interrupts& interrupts) { return Bench(*flags, interrupts); }; });
}

}  // namespace halftone::cli

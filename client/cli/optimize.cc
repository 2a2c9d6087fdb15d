// halftone optimize MODEL: lowers the precision of a model, measures what it brought, and judges it by gates.

#include <algorithm>
#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "client/cli/commands.h"
#include "client/cli/exit_codes.h"
#include "client/cli/flags.h"
#include "client/cli/inputs.h"
#include "client/cli/int8_flags.h"
#include "client/cli/job.h"
#include "client/cli/outcome.h"
#include "client/cli/results.h"
#include "client/cli/session.h"
#include "report/gates.h"
#include "report/names.h"

namespace halftone::cli {
namespace {

constexpr char kExample[] = R"(Examples:
  halftone optimize resnet50.onnx --precision int8 --calibration samples/ --eval labelled.npz --out build
  halftone optimize resnet50.onnx --eval samples/ --out build --min-speedup bf16=1.2
The last one writes build/resnet50.fp32.onnx, build/resnet50.bf16.onnx and build/report.json, prints the table, and exits
with 4 when bf16 is not at least 1.2 times as fast as fp32.)";

struct Flags {
  ServerFlags server;
  ModelFlags model;
  PolicyFlags policy;
  BenchmarkFlags benchmark;
  Int8Flags int8;
  std::string evaluation;
  std::vector<std::string> min_speedup;
  std::vector<std::string> min_top1_agreement;
  std::vector<std::string> min_sqnr;
  std::vector<std::string> max_top1_drop;
  std::string out = ".";
  double timeout = 0;
  OutcomeFlags outcome;
};

absl::Status AddGates(report::GateKind kind, const std::vector<std::string>& texts, std::vector<report::Gate>* gates) {
  for (const std::string& text : texts) {
    const absl::StatusOr<report::Gate> gate = report::ParseGate(kind, text);
    if (!gate.ok()) return UsageError(std::string(gate.status().message()));
    gates->push_back(*gate);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<report::Gate>> ToGates(const Flags& flags) {
  std::vector<report::Gate> gates;
  HALFTONE_RETURN_IF_ERROR(AddGates(report::GateKind::kMinSpeedup, flags.min_speedup, &gates));
  HALFTONE_RETURN_IF_ERROR(AddGates(report::GateKind::kMinTop1Agreement, flags.min_top1_agreement, &gates));
  HALFTONE_RETURN_IF_ERROR(AddGates(report::GateKind::kMinSqnr, flags.min_sqnr, &gates));
  HALFTONE_RETURN_IF_ERROR(AddGates(report::GateKind::kMaxTop1Drop, flags.max_top1_drop, &gates));
  return gates;
}

// Gates that this command line can never pass are its mistakes: better said now than after the work.
absl::Status CheckGates(const Flags& flags, const v1::Policy& policy, const std::vector<report::Gate>& gates) {
  for (const report::Gate& gate : gates) {
    const std::string name = absl::StrCat("--", std::string(report::GateName(gate.kind)));
    if (gate.kind == report::GateKind::kMinSpeedup && flags.benchmark.skip) {
      return UsageError(absl::StrCat(name, " needs a measurement: leave out --no-bench"));
    }
    if (gate.kind == report::GateKind::kMaxTop1Drop && flags.evaluation.empty()) {
      return UsageError(absl::StrCat(name, " needs labelled samples: give --eval"));
    }
    const auto& wanted = policy.precisions();
    const bool made = gate.precision == v1::ORIGINAL || gate.precision == v1::FP32 ||
                      (wanted.empty() && gate.precision == v1::BF16) ||
                      std::find(wanted.begin(), wanted.end(), gate.precision) != wanted.end();
    if (!made) {
      return UsageError(absl::StrCat(name, ": no ", report::PrecisionName(gate.precision), " variant is asked for"));
    }
  }
  return absl::OkStatus();
}

// A number without a precision is no gate but the goal of int8: takes it out of `texts`.
absl::Status TakeGoal(const char* flag, std::vector<std::string>* texts, std::string* goal) {
  const auto is_goal = [](const std::string& text) { return text.find('=') == std::string::npos; };
  for (const std::string& text : *texts) {
    if (!is_goal(text)) continue;
    if (!goal->empty()) return UsageError(absl::StrCat(flag, ": both ", *goal, " and ", text, " for int8"));
    *goal = text;
  }
  std::erase_if(*texts, is_goal);
  return absl::OkStatus();
}

absl::Status Optimize(Flags flags, Interrupts& interrupts) {
  OutcomeFlags outcome = flags.outcome;
  HALFTONE_RETURN_IF_ERROR(TakeGoal("--max-top1-drop", &flags.max_top1_drop, &flags.int8.max_top1_drop));
  HALFTONE_RETURN_IF_ERROR(TakeGoal("--min-sqnr", &flags.min_sqnr, &flags.int8.min_sqnr));
  if (outcome.explain && flags.int8.budget != 0) flags.int8.sensitivity = true;  // the budget is for that
  HALFTONE_ASSIGN_OR_RETURN(outcome.gates, ToGates(flags));
  v1::JobSpec spec;
  v1::OptimizeSpec& optimize = *spec.mutable_optimize();
  HALFTONE_ASSIGN_OR_RETURN(*optimize.mutable_policy(), ToPolicy(flags.policy));
  HALFTONE_RETURN_IF_ERROR(SetInt8(flags.int8, optimize.mutable_policy()));
  HALFTONE_RETURN_IF_ERROR(CheckGates(flags, optimize.policy(), outcome.gates));
  Blobs blobs;
  HALFTONE_ASSIGN_OR_RETURN(*optimize.mutable_model(),
                            ResolveModel(flags.model.path, flags.model.format, &blobs, flags.model.signature));
  HALFTONE_RETURN_IF_ERROR(ResolveCalibration(flags.int8, &optimize, &blobs));
  if (!flags.evaluation.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(*optimize.mutable_evaluation(), ResolveSamples("--eval", {flags.evaluation}, &blobs));
  }
  *optimize.mutable_benchmark() = ToBenchmarkSpec(flags.benchmark);
  for (const std::string& output : flags.model.outputs) optimize.add_outputs(output);
  optimize.set_explain(outcome.explain);
  spec.set_no_ranges_cache(flags.int8.no_ranges_cache);
  SetTimeout(flags.timeout, &spec);

  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Open(flags.server, interrupts));
  const bool quiet = outcome.quiet;
  const std::string out = std::filesystem::absolute(flags.out).lexically_normal().string();
  HALFTONE_ASSIGN_OR_RETURN(const FinishedJob finished,
                            RunJob(*session, spec, blobs, quiet, absl::StrCat(" --out ", ShellQuote(out)), flags.out));
  HALFTONE_ASSIGN_OR_RETURN(const v1::Report report,
                            WriteReportAndFiles(session->client(), finished.job, flags.out, flags.model.path, quiet));
  return ShowOutcome(report, finished.warnings, outcome);
}

void AddGateFlag(CLI::App& command, const std::string& name, std::vector<std::string>* values,
                 const std::string& help) {
  command.add_option(name, *values, help)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("PRECISION=NUMBER")
      ->group("Gates (exit code 4 when one fails)");
}

}  // namespace

void AddOptimize(CLI::App& app, Action* action) {
  const auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand("optimize", "lower a model's precision, measure it, and write the variants");
  command.footer(kExample);
  AddModelFlags(command, &flags->model);
  command.add_option("--policy", flags->policy.file, "YAML or JSON of halftone.v1.Policy")->type_name("FILE");
  command.add_option("--precision", flags->policy.precisions, "variants to make, over the policy file (default: bf16)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("fp32,bf16,fp16,int8");
  command.add_flag("--force", flags->policy.force, "lower the precision also where the CPU only emulates it");
  AddPlannerFlags(command, &flags->policy);
  AddRewriteFlags(command, &flags->policy);
  AddInt8Flags(command, &flags->int8);
  AddInt8GoalFlags(command, &flags->int8);
  command
      .add_option("--eval", flags->evaluation,
                  "samples for judging: an .npz or a folder of them; array \"labels\" if known")
      ->type_name("PATH");
  AddBenchmarkFlags(command, &flags->benchmark);
  command.add_flag("--no-bench", flags->benchmark.skip, "rewrite and compare answers only");
  AddTimeoutFlag(command, &flags->timeout);
  command.add_option("--out", flags->out, "folder for the variants and report.json (default: .)")->type_name("DIR");
  command.add_flag("--why", flags->outcome.why, "print what did not fuse, and the fact that stopped it");
  command.add_flag("--explain", flags->outcome.explain,
                   "print for every node its precision, the rule that decided and the fact with its values; of int8 also "
                 "its result's range and its SQNR alone, for which up to a minute is spent");
  command.add_flag("--json", flags->outcome.json, "print exactly report.json on stdout, no table");
  command.add_flag("--quiet", flags->outcome.quiet, "no progress and no notes");
  command
      .add_option("--summary", flags->outcome.summary_file,
                  "append a Markdown summary to this file, e.g. $GITHUB_STEP_SUMMARY")
      ->type_name("FILE.md");
  AddGateFlag(command, "--min-speedup", &flags->min_speedup, "low end of the speed-up's interval, e.g. bf16=1.2");
  AddGateFlag(command, "--min-top1-agreement", &flags->min_top1_agreement, "0..1, of the worst output, e.g. bf16=0.98");
  AddGateFlag(command, "--min-sqnr", &flags->min_sqnr,
              "dB, of the worst output, e.g. bf16=30; DB alone: the goal of int8");
  AddGateFlag(command, "--max-top1-drop", &flags->max_top1_drop,
              "of the accuracy on labelled samples, e.g. bf16=0.01; POINTS alone, e.g. 1: the goal of int8");
  AddServerFlags(command, &flags->server);
  command.callback(
      [flags, action] { *action = [flags](Interrupts& interrupts) { return Optimize(*flags, interrupts); }; });
}

}  // namespace halftone::cli

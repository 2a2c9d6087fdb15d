// SPDX-License-Identifier: Apache-2.0
// halftone optimize MODEL: converts a model to other precisions, evaluates and measures them, and checks gates.

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
  halftone optimize resnet50.onnx --precision int8 --calibration samples/ --accuracy-goal top1-drop=0.01
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

// Gates that this command line can never pass are errors before the job starts.
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
    const bool made = gate.precision == v1::PRECISION_ORIGINAL || gate.precision == v1::PRECISION_FP32 ||
                      (wanted.empty() && gate.precision == v1::PRECISION_BF16) ||
                      std::find(wanted.begin(), wanted.end(), gate.precision) != wanted.end();
    if (!made) {
      return UsageError(absl::StrCat(name, ": no ", report::PrecisionName(gate.precision), " variant is asked for"));
    }
  }
  return absl::OkStatus();
}

absl::Status Optimize(Flags flags, Interrupts& interrupts) {
  OutcomeFlags outcome = flags.outcome;
  if (outcome.explain_precision && flags.int8.budget != 0) flags.int8.sensitivity = true;  // the budget is for that
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
  HALFTONE_ASSIGN_OR_RETURN(*optimize.mutable_benchmark(), ToBenchmarkSpec(flags.benchmark));
  for (const std::string& output : flags.model.outputs) optimize.add_outputs(output);
  optimize.set_explain_precision(outcome.explain_precision);
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
  command.add_option(name, *values, help)->delimiter(',')->allow_extra_args(false)->type_name("PRECISION=NUMBER");
}

void AddGateFlags(CLI::App& command, Flags* flags) {
  command.option_defaults()->group(kGateGroup);
  AddGateFlag(command, "--min-speedup", &flags->min_speedup,
              "minimum speed-up over fp32, checked by its lower confidence bound, e.g. bf16=1.2");
  AddGateFlag(command, "--max-top1-drop", &flags->max_top1_drop,
              "maximum drop of the top-1 accuracy on labelled samples against fp32; a share, e.g. int8=0.01");
  AddGateFlag(command, "--min-top1-agreement", &flags->min_top1_agreement,
              "minimum top-1 agreement of the worst output with fp32; a share, e.g. bf16=0.98");
  AddGateFlag(command, "--min-sqnr", &flags->min_sqnr,
              "minimum SQNR of the worst output against fp32; dB, e.g. bf16=30");
  command.add_flag("--allow-noisy", flags->outcome.allow_noisy, "ignore noise: gates pass or fail, no exit code 9");
}

void AddOutputFlags(CLI::App& command, Flags* flags) {
  AddModelFlags(command, &flags->model);
  command.add_option("--out", flags->out, "folder for the variants and report.json (default: .)")->type_name("DIR");
  AddShapeFlags(command, &flags->benchmark);
  AddModelFormatFlags(command, &flags->model);
}

void AddEvaluationFlags(CLI::App& command, Flags* flags) {
  command.option_defaults()->group(kEvaluationGroup);
  command
      .add_option("--eval", flags->evaluation,
                  "evaluation samples: an .npz file or a folder of them; class labels in the array \"labels\"")
      ->type_name("PATH");
  command.add_flag("--no-bench", flags->benchmark.skip, "convert and evaluate only, measure nothing");
}

void AddReportFlags(CLI::App& command, Flags* flags) {
  AddDisplayFlags(command, &flags->outcome);
  command.add_flag("--explain-precision", flags->outcome.explain_precision,
                   "print the precision of every node with the rule and the reason; of int8 also range and "
                   "per-layer sensitivity, measured for up to a minute");
  command.add_flag("--explain-fusion", flags->outcome.explain_fusion,
                   "print which nodes were almost fused, and the condition that failed");
}

}  // namespace

void AddOptimize(CLI::App& app, Action* action) {
  const auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand(
      "optimize", "convert a model to bf16, fp16 or int8, evaluate, measure and write the variants");
  command.footer(kExample);
  AddOutputFlags(command, flags.get());
  AddPrecisionFlags(command, "variants besides fp32, overrides the policy file (default: bf16)", &flags->policy);
  AddInt8Flags(command, &flags->int8);
  AddInt8GoalFlags(command, &flags->int8);
  AddEvaluationFlags(command, flags.get());
  AddGateFlags(command, flags.get());
  AddBenchmarkFlags(command, &flags->benchmark);
  AddReportFlags(command, flags.get());
  AddTimeoutFlag(command, &flags->timeout);
  AddServerFlags(command, &flags->server);
  AddPlannerFlags(command, &flags->policy);
  AddRewriteFlags(command, &flags->policy);
  AddAdvancedInt8Flags(command, &flags->int8);
  command.callback(
      [flags, action] { *action = [flags](Interrupts& interrupts) { return Optimize(*flags, interrupts); }; });
}

}  // namespace halftone::cli

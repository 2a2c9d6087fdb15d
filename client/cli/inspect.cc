// SPDX-License-Identifier: Apache-2.0
// halftone inspect MODEL: what a model is made of, and what a planner would do with it.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "client/cli/commands.h"
#include "client/cli/console.h"
#include "client/cli/exit_codes.h"
#include "client/cli/flags.h"
#include "client/cli/inputs.h"
#include "client/cli/job.h"
#include "client/cli/results.h"
#include "client/cli/session.h"
#include "report/names.h"

namespace halftone::cli {
namespace {

constexpr char kExample[] = R"(Examples:
  halftone inspect model.onnx                          inputs, outputs, ops, what is not supported
  halftone inspect model.onnx --text > model.graph     the whole graph as text
  halftone inspect model.pb --precision-plan lists     the precision of each node, and why
  halftone inspect model.pb --precision-plan lists --lists-version tensorflow-2.4 --json
  halftone inspect model.onnx --precision-plan placement --keep-first --op-types conv2d,fc)";

constexpr char kPlanGroup[] = "With --precision-plan";

struct Flags {
  ServerFlags server;
  ModelFlags model;
  PolicyFlags policy;  // its planner is that of --precision-plan; empty: no plan
  std::vector<const CLI::Option*> of_plan;
  bool text = false;
  bool weights = false;
  bool json = false;
  bool quiet = false;
  double timeout = 0;
};

absl::Status Inspect(const Flags& flags, Interrupts& interrupts) {
  if (flags.weights && !flags.text) return UsageError("--weights needs --text");
  if (flags.policy.planner.empty()) {
    for (const CLI::Option* option : flags.of_plan) {
      if (option->count() > 0) return UsageError(absl::StrCat(option->get_name(), " needs --precision-plan"));
    }
  }
  Blobs blobs;
  v1::JobSpec spec;
  v1::InspectSpec& inspect = *spec.mutable_inspect();
  HALFTONE_ASSIGN_OR_RETURN(*inspect.mutable_policy(), ToPolicy(flags.policy));
  HALFTONE_ASSIGN_OR_RETURN(*inspect.mutable_model(),
                            ResolveModel(flags.model.path, flags.model.format, &blobs, flags.model.signature));
  inspect.set_text(flags.text);
  inspect.set_weights(flags.weights);
  inspect.set_json(flags.json);
  if (!flags.policy.planner.empty()) inspect.set_precision_plan(inspect.policy().planner());
  for (const std::string& output : flags.model.outputs) inspect.add_outputs(output);
  SetTimeout(flags.timeout, &spec);

  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Open(flags.server, interrupts));
  HALFTONE_ASSIGN_OR_RETURN(const FinishedJob finished, RunJob(*session, spec, blobs, flags.quiet, ""));
  PrintWarnings(finished.warnings);
  HALFTONE_ASSIGN_OR_RETURN(const std::string text,
                            FetchFile(session->client(), finished.job, flags.json ? "inspect.json" : "inspect.txt"));
  return PrintResult(text);
}

// The flags of `optimize` that change a plan, in a group of their own.
void AddFlagsOfPlan(CLI::App& command, Flags* flags) {
  const size_t others = command.get_options().size();
  command
      .add_option("--policy", flags->policy.file, "YAML or JSON file with all precision settings; flags override it")
      ->type_name("FILE");
  command.add_option("--precision", flags->policy.precisions, "plan for this type (default: bf16)")
      ->expected(1)
      ->check(CLI::IsMember({"bf16", "fp16"}))
      ->type_name("NAME");
  AddKeepFlags(command, &flags->policy);
  AddPlanFlags(command, &flags->policy);
  AddPassFlags(command, &flags->policy);
  const std::vector<CLI::Option*> all = command.get_options();
  for (size_t i = others; i < all.size(); ++i) {
    all[i]->group(kPlanGroup);
    flags->of_plan.push_back(all[i]);
  }
}

}  // namespace

void AddInspect(CLI::App& app, Action* action) {
  const auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand("inspect", "describe a model: inputs, outputs, ops; or its precision plan");
  command.footer(kExample);
  AddModelFlags(command, &flags->model);
  AddModelFormatFlags(command, &flags->model);
  command.option_defaults()->group(kDisplayGroup);
  CLI::Option* text = command.add_flag("--text", flags->text, "the graph's text form instead of the summary");
  command.add_flag("--weights", flags->weights, "with --text: all constants");
  command.add_option("--precision-plan", flags->policy.planner, "the decision of this planner for every node")
      ->check(CLI::IsMember(report::EnumNames(*v1::Planner_descriptor())))
      ->excludes(text);
  AddFlagsOfPlan(command, flags.get());
  command.option_defaults()->group(kDisplayGroup);
  command.add_flag("--json", flags->json, "the summary, or the plan, as JSON")->excludes(text);
  command.add_flag("--quiet", flags->quiet, "no progress");
  AddTimeoutFlag(command, &flags->timeout);
  AddServerFlags(command, &flags->server);
  command.callback(
      [flags, action] { *action = [flags](Interrupts& interrupts) { return Inspect(*flags, interrupts); }; });
}

}  // namespace halftone::cli

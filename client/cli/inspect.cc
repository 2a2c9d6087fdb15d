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
  halftone inspect model.pb --precision-plan lists     which node gets which precision, and why
  halftone inspect model.pb --precision-plan lists --lists tensorflow-2.4 --json
  halftone inspect model.onnx --precision-plan placement --keep-first --op-list conv2d,fc)";

constexpr char kPlanGroup[] = "With --precision-plan";

struct Flags {
  ServerFlags server;
  ModelFlags model;
  PolicyFlags policy;  // its planner: of --precision-plan; empty: no plan is wanted
  std::vector<const CLI::Option*> of_plan;
  bool text = false;
  bool weights = false;
  bool json = false;
  bool quiet = false;
  int batch = 0;
  double timeout = 0;
};

absl::Status Inspect(const Flags& flags, Interrupts& interrupts) {
  if (flags.weights && !flags.text) return UsageError("--weights goes with --text");
  if (flags.policy.planner.empty()) {
    for (const CLI::Option* option : flags.of_plan) {
      if (option->count() > 0) return UsageError(absl::StrCat(option->get_name(), " goes with --precision-plan"));
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
  inspect.set_batch(flags.batch);
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

// What changes a plan, as `optimize` has it, in a group of its own.
void AddFlagsOfPlan(CLI::App& command, Flags* flags) {
  const size_t others = command.get_options().size();
  command.add_option("--policy", flags->policy.file, "YAML or JSON of halftone.v1.Policy")->type_name("FILE");
  command.add_option("--precision", flags->policy.precisions, "plan for this type (default: bf16)")
      ->expected(1)
      ->check(CLI::IsMember({"bf16", "fp16"}))
      ->type_name("NAME");
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
  CLI::App& command = *app.add_subcommand("inspect", "say what a model is");
  command.footer(kExample);
  AddModelFlags(command, &flags->model);
  CLI::Option* text = command.add_flag("--text", flags->text, "the graph's text form instead of the summary");
  command.add_flag("--weights", flags->weights, "with --text: all constants");
  command.add_option("--precision-plan", flags->policy.planner, "what this planner would do, node by node")
      ->check(CLI::IsMember(report::EnumNames(*v1::Planner_descriptor())))
      ->excludes(text);
  AddFlagsOfPlan(command, flags.get());
  command.add_flag("--json", flags->json, "the summary, or the plan, as JSON")->excludes(text);
  command.add_flag("--quiet", flags->quiet, "no progress");
  command.add_option("--batch", flags->batch, "value of a free batch dimension (default: 1)")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  AddTimeoutFlag(command, &flags->timeout);
  AddServerFlags(command, &flags->server);
  command.callback(
      [flags, action] { *action = [flags](Interrupts& interrupts) { return Inspect(*flags, interrupts); }; });
}

}  // namespace halftone::cli

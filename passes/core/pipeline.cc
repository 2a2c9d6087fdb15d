#include "passes/core/pipeline.h"

#include "absl/status/statusor.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/verifier.h"
#include "passes/core/gate.h"
#include "passes/core/rule_pass.h"

namespace halftone {

void Pipeline::Add(std::unique_ptr<Pass> pass) {
  steps_.push_back({.name = "", .passes = {}, .repeat = false});
  steps_.back().passes.push_back(std::move(pass));
}

void Pipeline::AddFixedPoint(std::string name, Rules rules) {
  std::vector<std::unique_ptr<Pass>> passes;
  for (std::unique_ptr<RewriteRule>& rule : rules) passes.push_back(std::make_unique<RulePass>(std::move(rule)));
  AddFixedPoint(std::move(name), std::move(passes));
}

void Pipeline::AddFixedPoint(std::string name, std::vector<std::unique_ptr<Pass>> passes) {
  steps_.push_back({.name = std::move(name), .passes = std::move(passes), .repeat = true});
}

absl::Status Pipeline::RunFixedPoint(const Step& step, Graph& graph, PassContext& context) const {
  if (context.debug.Skips(step.name)) return absl::OkStatus();
  std::string last;
  for (int round = 0; round < kMaxRounds; ++round) {
    int64_t edits = 0;
    for (const std::unique_ptr<Pass>& pass : step.passes) {
      HALFTONE_ASSIGN_OR_RETURN(const int64_t made, RunThroughGate(*pass, name_, graph, context));
      edits += made;
      if (made > 0) last = pass->name();
    }
    if (edits == 0) return absl::OkStatus();
  }
  return absl::InternalError(
      Concat("'", step.name, "' did not settle within ", kMaxRounds, " rounds; '", last, "' was still editing"));
}

absl::Status Pipeline::Run(Graph& graph, PassContext& context) const {
  HALFTONE_RETURN_IF_ERROR(Annotate(VerifyGraph(graph), AbslView(Concat("before pipeline '", name_, "'"))));
  for (const Step& step : steps_) {
    if (step.repeat) {
      HALFTONE_RETURN_IF_ERROR(RunFixedPoint(step, graph, context));
    } else {
      HALFTONE_RETURN_IF_ERROR(RunThroughGate(*step.passes.front(), name_, graph, context).status());
    }
  }
  return absl::OkStatus();
}

std::vector<std::string> Pipeline::StepNames() const {
  std::vector<std::string> names;
  for (const Step& step : steps_) {
    for (const std::unique_ptr<Pass>& pass : step.passes) {
      names.push_back(step.repeat ? Concat(step.name, "/", pass->name()) : std::string(pass->name()));
    }
  }
  return names;
}

}  // namespace halftone

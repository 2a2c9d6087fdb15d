// SPDX-License-Identifier: Apache-2.0
#include "passes/core/pipeline.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <random>

#include "absl/status/statusor.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/verifier.h"
#include "passes/core/gate.h"
#include "passes/core/memo_target.h"
#include "passes/core/rule_pass.h"
#include "passes/core/rule_schedule.h"

namespace halftone {
namespace {

std::vector<int> Order(size_t count, const std::optional<uint64_t>& shuffle) {
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  if (shuffle.has_value()) std::shuffle(order.begin(), order.end(), std::mt19937_64(*shuffle));
  return order;
}

}  // namespace

void Pipeline::Add(std::unique_ptr<Pass> pass) {
  steps_.push_back({});
  steps_.back().passes.push_back(std::move(pass));
}

void Pipeline::AddFixedPoint(std::string name, Rules rules) {
  Step step{.name = std::move(name), .passes = {}, .rules = {}, .repeat = true};
  for (std::unique_ptr<RewriteRule>& rule : rules) {
    step.rules.push_back(rule.get());
    step.passes.push_back(std::make_unique<RulePass>(std::move(rule)));
  }
  steps_.push_back(std::move(step));
}

void Pipeline::AddFixedPoint(std::string name, std::vector<std::unique_ptr<Pass>> passes) {
  steps_.push_back({.name = std::move(name), .passes = std::move(passes), .rules = {}, .repeat = true});
}

void Pipeline::Append(Pipeline other) {
  std::move(other.steps_.begin(), other.steps_.end(), std::back_inserter(steps_));
}

// Returns the number of edits; sets `last` to the name of the last pass that edited.
absl::StatusOr<int64_t> Pipeline::RunRound(const Step& step, Graph& graph, PassContext& context, std::string& last,
                                           bool first_round) const {
  int64_t edits = 0;
  for (const int i : Order(step.passes.size(), context.shuffle)) {
    const Pass& pass = *step.passes[i];
    context.rule = i;
    const OpSet roots = step.rules.empty() ? OpSet::All() : step.rules[i]->root();
    context.roots = &roots;
    HALFTONE_ASSIGN_OR_RETURN(const int64_t made, RunThroughGate(pass, name_, graph, context));
    context.roots = nullptr;
    edits += made;
    if (made == 0) continue;
    last = pass.name();
    if (!first_round || !context.after_pass) continue;
    HALFTONE_RETURN_IF_ERROR(context.after_pass(graph));
    if (context.schedule != nullptr) *context.schedule = RuleSchedule(graph);
  }
  return edits;
}

absl::Status Pipeline::Settle(const Step& step, Graph& graph, PassContext& context) const {
  std::string last;
  for (int round = 0; round < kMaxRounds; ++round) {
    HALFTONE_ASSIGN_OR_RETURN(const int64_t edits, RunRound(step, graph, context, last, /*first_round=*/round == 0));
    // The round after the last change visits all nodes and logs why rules keep them.
    if (edits == 0 && (context.schedule == nullptr || context.explains)) return absl::OkStatus();
    if (context.schedule == nullptr) continue;
    context.explains = edits == 0;
    context.schedule->BeginRound(graph, /*everything=*/context.explains);
  }
  return absl::InternalError(
      Concat("'", step.name, "' did not settle within ", kMaxRounds, " rounds; '", last, "' was still editing"));
}

absl::Status Pipeline::RunFixedPoint(const Step& step, Graph& graph, PassContext& context) const {
  if (context.debug.Skips(step.name)) return absl::OkStatus();
  if (step.rules.empty()) return Settle(step, graph, context);
  RuleSchedule schedule(graph);
  const MemoTarget memo(context.target);
  context.schedule = &schedule;
  context.memo = &memo;
  context.explains = false;
  const absl::Status status = Settle(step, graph, context);
  context.schedule = nullptr;
  context.memo = nullptr;
  context.explains = true;
  return status;
}

absl::Status Pipeline::RunSteps(Graph& graph, PassContext& context) const {
  for (const Step& step : steps_) {
    if (step.repeat) {
      HALFTONE_RETURN_IF_ERROR(RunFixedPoint(step, graph, context));
    } else {
      HALFTONE_RETURN_IF_ERROR(RunThroughGate(*step.passes.front(), name_, graph, context).status());
    }
    if (context.after_pass) HALFTONE_RETURN_IF_ERROR(context.after_pass(graph));
  }
  return absl::OkStatus();
}

absl::Status Pipeline::Run(Graph& graph, PassContext& context) const {
  HALFTONE_RETURN_IF_ERROR(Annotate(VerifyGraph(graph), AbslView(Concat("before pipeline '", name_, "'"))));
  context.in_pipeline = true;
  context.half_verified = false;
  const absl::Status status = RunSteps(graph, context);
  context.in_pipeline = false;
  if (!status.ok() || !context.half_verified) return status;
  const absl::Status bad = VerifyGraph(graph);
  if (bad.ok()) return status;
  return absl::InternalError(Concat("pipeline '", name_, "' made a graph that is not valid: ", bad.message(),
                                    " (HALFTONE_DEBUG=verify=full names the pass)"));
}

std::vector<const RewriteRule*> Pipeline::rules() const {
  std::vector<const RewriteRule*> rules;
  for (const Step& step : steps_) rules.insert(rules.end(), step.rules.begin(), step.rules.end());
  return rules;
}

}  // namespace halftone

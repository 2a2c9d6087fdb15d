// SPDX-License-Identifier: Apache-2.0
// An ordered list of passes. The gate (gate.h) runs each: it verifies, times, dumps, skips, logs and checks outputs.
//
//   Pipeline p("optimize");
//   p.Add<InferShapesPass>();
//   p.AddFixedPoint("simplify", SimplifyRules());
//   PassContext context{.target = target, .log = &log};
//   HALFTONE_RETURN_IF_ERROR(p.Run(graph, context));
#ifndef HALFTONE_PASSES_CORE_PIPELINE_H_
#define HALFTONE_PASSES_CORE_PIPELINE_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "ir/graph.h"
#include "passes/core/pass.h"
#include "passes/core/rewrite_rule.h"

namespace halftone {

// Immutable once built; several threads may call Run with separate graphs and contexts.
class Pipeline {
 public:
  explicit Pipeline(std::string name) : name_(std::move(name)) {}

  template <typename P, typename... Args>
  void Add(Args&&... args) {
    steps_.push_back({});
    steps_.back().passes.push_back(std::make_unique<P>(std::forward<Args>(args)...));
  }
  void Add(std::unique_ptr<Pass> pass);
  // Runs the rules in order, each over its roots in topological order, in rounds until no rule edits. The first and the
  // last round visit the whole graph, the others only what changed (rule_schedule.h). If the fixed point is not reached
  // within kMaxRounds rounds, the error names the rule that was still editing.
  void AddFixedPoint(std::string name, Rules rules);
  // The same with passes, which visit the whole graph in every round.
  void AddFixedPoint(std::string name, std::vector<std::unique_ptr<Pass>> passes);
  // The steps of another pipeline.
  void Append(Pipeline other);

  // After an error the graph is in the state that the failed pass left, and must not be used. INTERNAL if a pass made
  // the graph invalid or changed its outputs (then the message names the pass, and debug.dump_dir has failure.graph);
  // else the error of the pass, or the status of context.interrupted. INVALID_ARGUMENT if the graph is invalid at the
  // start.
  absl::Status Run(Graph& graph, PassContext& context) const;

  const std::string& name() const { return name_; }

  // The rules of all fixed points, in order.
  std::vector<const RewriteRule*> rules() const;

  static constexpr int kMaxRounds = 64;

 private:
  struct Step {
    std::string name;  // of a fixed point
    std::vector<std::unique_ptr<Pass>> passes;
    std::vector<const RewriteRule*> rules;  // of a fixed point of rules: its rules
    bool repeat = false;
  };
  absl::StatusOr<int64_t> RunRound(const Step& step, Graph& graph, PassContext& context, std::string& last,
                                   bool first_round) const;
  absl::Status RunSteps(Graph& graph, PassContext& context) const;
  absl::Status RunFixedPoint(const Step& step, Graph& graph, PassContext& context) const;
  absl::Status Settle(const Step& step, Graph& graph, PassContext& context) const;

  std::string name_;
  std::vector<Step> steps_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_PIPELINE_H_

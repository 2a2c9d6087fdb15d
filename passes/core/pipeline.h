// An ordered list of passes, each run through one gate that verifies, times, dumps, skips, logs and checks answers.
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

// Immutable once built; Run may be called from many threads with graphs and contexts of their own.
class Pipeline {
 public:
  explicit Pipeline(std::string name) : name_(std::move(name)) {}

  template <typename P, typename... Args>
  void Add(Args&&... args) {
    steps_.push_back({});
    steps_.back().passes.push_back(std::make_unique<P>(std::forward<Args>(args)...));
  }
  void Add(std::unique_ptr<Pass> pass);
  // The rules one after the other, each over its roots in topological order, again and again until none of them edits.
  // In the first round and the last they look at the whole graph, in those between at what changed (rule_schedule.h).
  // Not settling within kMaxRounds rounds is an error that names the rule which was still editing.
  void AddFixedPoint(std::string name, Rules rules);
  // The same of passes, which look at the whole graph in every round.
  void AddFixedPoint(std::string name, std::vector<std::unique_ptr<Pass>> passes);

  // On an error the graph is what the failed pass left: throw it away. INTERNAL if a pass made a graph that does not
  // verify or whose answers moved (then the message names the pass, and debug.dump_dir has failure.graph); else the
  // pass's own error, or what context.interrupted said. A graph that does not verify at the start is INVALID_ARGUMENT.
  absl::Status Run(Graph& graph, PassContext& context) const;

  const std::string& name() const { return name_; }
  // Names of the steps in order; those of fixed points as "simplify/remove-identity".
  std::vector<std::string> StepNames() const;

  // The rules of its fixed points, in order.
  std::vector<const RewriteRule*> rules() const;

  static constexpr int kMaxRounds = 64;

 private:
  struct Step {
    std::string name;  // of a fixed point
    std::vector<std::unique_ptr<Pass>> passes;
    std::vector<const RewriteRule*> rules;  // of a fixed point of rules: theirs
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

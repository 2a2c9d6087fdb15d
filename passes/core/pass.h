// What a pass is, and what it is given.
#ifndef HALFTONE_PASSES_CORE_PASS_H_
#define HALFTONE_PASSES_CORE_PASS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/debug.h"
#include "ir/editor.h"
#include "ir/file_dialect.h"
#include "ir/graph.h"
#include "ir/ops.h"
#include "ir/precision_plan.h"
#include "ir/target.h"

namespace halftone {

class OpSet;
class RuleSchedule;

// --- Declared exactness: how far a pass may move answers, as a part of an output's largest magnitude.
inline constexpr float kBitExact = 0;      // every answer stays the same number, in every type
inline constexpr float kRounding = 1e-4f;  // sums in another order, numbers rounded elsewhere. Where a graph has types
                                           // below f32: by as much as these round (equivalence.h)

// What happened to one node, or why it did not. Lives as long as its log, which keeps the texts.
struct RewriteLogEntry {
  const std::string& pass;  // name of the pass or rule
  std::string node;         // Graph::Label
  NodeId origin;            // the node of the imported graph
  bool applied = false;
  const std::string& text;  // applied: the equation; else the reason of the refusal
  bool remark =
      false;  // applied: no change of its own, but what else the one before did ("control input '^x' moved to 'y'")
};

// The reasons of a run, in order; each refusal once. Not thread-safe.
class RewriteLog {
 public:
  RewriteLog() = default;
  RewriteLog(const RewriteLog&) = delete;
  RewriteLog& operator=(const RewriteLog&) = delete;

  void Applied(std::string_view pass, const Graph& graph, NodeId node, std::string_view equation);
  void Applied(std::string_view pass, std::string label, NodeId origin, std::string_view equation);
  void Remark(std::string_view pass, std::string label, NodeId origin, std::string_view sentence);
  void Refused(std::string_view pass, const Graph& graph, NodeId node, std::string_view reason);
  // What happened in a graph that node `origin` of the outermost graph holds; `where` goes before the nodes' names.
  void TakeNested(const RewriteLog& nested, std::string_view where, NodeId origin);
  const std::vector<RewriteLogEntry>& entries() const { return entries_; }

 private:
  const std::string& Shared(std::string_view text);
  void Refuse(std::string_view pass, std::string label, NodeId origin, std::string_view reason);

  std::vector<RewriteLogEntry> entries_;
  std::set<std::string, std::less<>> texts_;  // many entries have the same pass and text
  std::set<std::tuple<const std::string*, const std::string*, size_t>> refused_;  // pass, text, hash of the node's name
};

// One execution of one pass.
struct PassRun {
  std::string name;
  int64_t edits = 0;
  int64_t matches = 0;  // of rules
  double milliseconds = 0;
};

// The equivalence check: the graph before and after every pass that edits is run on seeded inputs.
struct EquivalenceOptions {
  bool enabled = false;
  uint64_t seed = 1;
};

// Everything a pass may ask for, and what it leaves behind. One per pipeline run; not thread-safe. Only `target` is
// needed.
struct PassContext {
  const Target& target;
  const PrecisionPlan* plan = nullptr;  // where it is set, nothing of different planned precision is fused
  // Of the file that the graph will be written to, for passes that are run by their names (passes/transforms) before the
  // export pipeline; nullptr: no file is known, and whatever ops and devices say is kept.
  const FileDialect* file = nullptr;
  RewriteLog* log = nullptr;
  DebugOptions debug = {};
  EquivalenceOptions equivalence = {};
  // Asked between passes: a status that is not OK (CANCELLED, DEADLINE_EXCEEDED) ends the run with it.
  std::function<absl::Status()> interrupted = nullptr;
  // For tests: the order of the rules inside fixed points is shuffled from this seed.
  std::optional<uint64_t> shuffle = std::nullopt;
  // For tests: called after every pass, fixed point that has settled, and pass that edited in a fixed point's first
  // round; may put another graph in its place. Not in later rounds: files say a fused op by its parts, which would be
  // fused for ever.
  std::function<absl::Status(Graph&)> after_pass = nullptr;

  // --- Left behind.
  std::vector<PassRun> runs = {};
  // Sentences for the report: "equivalence of 'fuse' was not checked: the graph has opaque nodes".
  std::vector<std::string> notes = {};
  // After a failure of the framework's checks: the text for graph_opt --reproduce (reproducer.h).
  std::string reproducer = {};

  // --- The framework's own state.
  int step = 0;         // numbers the dumps
  int64_t matches = 0;  // of the running pass
  std::map<std::string, int64_t, std::less<>> fuel_used = {};
  const std::vector<NodeId>* touched = nullptr;  // by the running pass, so far
  const Target* memo = nullptr;                  // remembers what `target` said, for the running fixed point
  RuleSchedule* schedule = nullptr;              // of the running fixed point of rules; without one a rule looks at all
  int rule = 0;                                  // the running rule's number in it, and
  const OpSet* roots = nullptr;                  // its roots
  bool in_pipeline = false;                      // which verifies the whole graph at its end where
  bool half_verified = false;                    // a pass was verified by what it touched
  bool explains = true;                          // refusals go to the log: only of what is left when all has settled
};

// Stateless between runs. A pass says nothing about having changed the graph: the editor counts.
class Pass {
 public:
  virtual ~Pass() = default;
  virtual std::string_view name() const = 0;
  // OK also where there was nothing to do. Errors name the node.
  virtual absl::Status Run(GraphEditor& edit, PassContext& context) const = 0;
  // How far answers may move. Only the precision passes change numbers on purpose.
  virtual float tolerance() const { return kRounding; }
  // Whether it runs on nested graphs too. Not where it goes there itself, or needs what only the outermost graph has.
  virtual bool enters_nested() const { return true; }
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_PASS_H_

// What a pass is, and what it is given.
#ifndef HALFTONE_PASSES_CORE_PASS_H_
#define HALFTONE_PASSES_CORE_PASS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/debug.h"
#include "ir/editor.h"
#include "ir/graph.h"
#include "ir/ops.h"
#include "ir/precision_plan.h"
#include "ir/target.h"

namespace halftone {

// What happened to one node, or why it did not.
struct RewriteLogEntry {
  std::string pass;  // name of the pass or rule
  std::string node;  // Graph::Label
  NodeId origin;     // the node of the imported graph
  bool applied = false;
  std::string text;  // applied: the equation; else the reason of the refusal
};

// The reasons of a run, in order; each refusal once. Not thread-safe.
class RewriteLog {
 public:
  void Applied(std::string_view pass, const Graph& graph, NodeId node, std::string_view equation);
  void Refused(std::string_view pass, const Graph& graph, NodeId node, std::string_view reason);
  // What happened in a graph that node `origin` of the outermost graph holds; `where` goes before the nodes' names.
  void TakeNested(const RewriteLog& nested, std::string_view where, NodeId origin);
  const std::vector<RewriteLogEntry>& entries() const { return entries_; }

 private:
  std::vector<RewriteLogEntry> entries_;
  std::set<std::pair<std::string, std::string>> refused_;  // (pass, node + reason)
};

// One execution of one pass.
struct PassRun {
  std::string name;
  int64_t edits = 0;
  int64_t matches = 0;  // of rules
  double milliseconds = 0;
};

// The equivalence check: every pass that edits is run before and after on seeded inputs.
struct EquivalenceOptions {
  bool enabled = false;
  uint64_t seed = 1;
};

// Everything a pass may ask for, and what it leaves behind. One per pipeline run; not thread-safe. Only `target` is
// needed.
struct PassContext {
  const Target& target;
  const PrecisionPlan* plan = nullptr;  // where it is set, nothing of different planned precision is fused
  RewriteLog* log = nullptr;
  DebugOptions debug = {};
  EquivalenceOptions equivalence = {};
  // Asked between passes: a status that is not OK (CANCELLED, DEADLINE_EXCEEDED) ends the run with it.
  std::function<absl::Status()> interrupted = nullptr;

  // --- Left behind.
  std::vector<PassRun> runs = {};
  // Sentences for the report: "equivalence of 'fuse' was not checked: the graph has opaque nodes".
  std::vector<std::string> notes = {};

  // --- The framework's own state.
  int step = 0;         // numbers the dumps
  int64_t matches = 0;  // of the running pass
  std::map<std::string, int64_t, std::less<>> fuel_used = {};
};

// Stateless between runs. A pass says nothing about having changed the graph: the editor counts.
class Pass {
 public:
  virtual ~Pass() = default;
  virtual std::string_view name() const = 0;
  // OK also where there was nothing to do. Errors name the node.
  virtual absl::Status Run(GraphEditor& edit, PassContext& context) const = 0;
  // How far answers may move, as parts of an output's largest magnitude. Only the precision passes change numbers on
  // purpose.
  virtual float tolerance() const { return 1e-4f; }
  // Whether it runs on nested graphs too. Not where it goes there itself, or needs what only the outermost graph has.
  virtual bool enters_nested() const { return true; }
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_PASS_H_

// SPDX-License-Identifier: Apache-2.0
// The interface of a pass, and its context.
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

// --- Declared exactness: how much a pass may change outputs, relative to the largest magnitude of an output.
inline constexpr float kBitExact = 0;      // every output is the same number, in every type
inline constexpr float kRounding = 1e-4f;  // different order of sums or roundings. If a graph has types
                                           // below f32: the rounding of these types (equivalence.h)

// What a pass did to one node, or why it did nothing. Lives as long as its log, which keeps the texts.
struct RewriteLogEntry {
  const std::string& pass;  // name of the pass or rule
  std::string node;         // Graph::Label
  NodeId origin;            // the node of the imported graph
  bool applied = false;
  const std::string& text;  // applied: the equation; else the reason of the refusal
  bool remark = false;      // applied: a side effect of the previous entry ("control input '^x' moved to 'y'")
};

// The entries of a run, in order; each refusal once. Not thread-safe.
class RewriteLog {
 public:
  RewriteLog() = default;
  RewriteLog(const RewriteLog&) = delete;
  RewriteLog& operator=(const RewriteLog&) = delete;

  void Applied(std::string_view pass, const Graph& graph, NodeId node, std::string_view equation);
  void Applied(std::string_view pass, std::string label, NodeId origin, std::string_view equation);
  void Remark(std::string_view pass, std::string label, NodeId origin, std::string_view sentence);
  void Refused(std::string_view pass, const Graph& graph, NodeId node, std::string_view reason);
  // Adds the entries of a graph that node `origin` of the outermost graph holds; `where` is prepended to the nodes'
  // names.
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

// The equivalence check: runs the graph before and after every pass that edits on seeded inputs.
struct EquivalenceOptions {
  bool enabled = false;
  uint64_t seed = 1;
};

// The inputs and side results of a run of a pipeline. One per run; not thread-safe. Only `target` is required.
struct PassContext {
  const Target& target;
  const PrecisionPlan* plan = nullptr;  // where it is set, nothing of different planned precision is fused
  // The dialect of the file to which the graph will be written, for passes that run by name (passes/transforms) before
  // the export pipeline. nullptr: the file is unknown; ops and devices are kept.
  const FileDialect* file = nullptr;
  RewriteLog* log = nullptr;
  DebugOptions debug = {};
  EquivalenceOptions equivalence = {};
  // Called between passes: a status that is not OK (CANCELLED, DEADLINE_EXCEEDED) ends the run with that status.
  std::function<absl::Status()> interrupted = nullptr;
  // For tests: the order of the rules inside fixed points is shuffled from this seed.
  std::optional<uint64_t> shuffle = std::nullopt;
  // For tests: called after every pass, after every fixed point, and after every pass that edited in the first round of
  // a fixed point; it may replace the graph. Not in later rounds: files spell a fused op by its parts, which would be
  // fused again in every round.
  std::function<absl::Status(Graph&)> after_pass = nullptr;

  // --- Results.
  std::vector<PassRun> runs = {};
  // Notes for the report: "outputs were not checked: node 'f' (opaque) cannot be run".
  std::vector<std::string> notes = {};
  // The text for graph_opt --reproduce (reproducer.h), after a failure of the framework's checks.
  std::string reproducer = {};

  // --- Internal state of the framework.
  int step = 0;         // numbers the dumps
  int64_t matches = 0;  // of the running pass
  std::map<std::string, int64_t, std::less<>> fuel_used = {};
  const std::vector<NodeId>* touched = nullptr;  // nodes edited by the running pass so far
  const Target* memo = nullptr;                  // caches the replies of `target` during the running fixed point
  RuleSchedule* schedule = nullptr;  // of the running fixed point of rules; without one a rule visits all nodes
  int rule = 0;                      // the running rule's number in it, and
  const OpSet* roots = nullptr;      // its roots
  bool in_pipeline = false;          // a pipeline, which verifies the whole graph at its end if
  bool half_verified = false;        // a pass was verified only by the nodes that it edited
  bool explains = true;              // log refusals: only in the last round of a fixed point
};

// Stateless between runs. A pass does not report whether it changed the graph: the editor counts the edits.
class Pass {
 public:
  virtual ~Pass() = default;
  virtual std::string_view name() const = 0;
  // OK also if there was nothing to do. Errors name the node.
  virtual absl::Status Run(GraphEditor& edit, PassContext& context) const = 0;
  // How much outputs may change. Only the precision passes change numbers on purpose.
  virtual float tolerance() const { return kRounding; }
  // Whether it also runs on nested graphs. False for passes that visit them on their own, or that need data of the
  // outermost graph.
  virtual bool enters_nested() const { return true; }
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_PASS_H_

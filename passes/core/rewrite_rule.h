// A rewrite rule: one equation, found by looking and applied by editing.
//
//   class FuseMatMulBias final : public RewriteRule {
//     std::string_view name() const override { return "fuse-matmul-bias"; }
//     std::string_view equation() const override { return "matmul(x, w) + b => matmul(x, w, b)"; }
//     OpSet root() const override { return OpKind::kAdd; }
//     FindResult Find(const Graph& g, NodeId add, const Target& target) const override;   // looks
//     absl::Status Apply(const Match& m, GraphEditor& edit) const override;               // changes
//   };
//
// What every rule needs is the driver's (rule_pass.h), not the rule's: intermediate values with one user that are no
// outputs, control edges, one device, one planned precision; fuel, log, removal of what died.
#ifndef HALFTONE_PASSES_CORE_REWRITE_RULE_H_
#define HALFTONE_PASSES_CORE_REWRITE_RULE_H_

#include <algorithm>
#include <array>
#include <bitset>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "ir/editor.h"
#include "ir/graph.h"
#include "ir/target.h"
#include "passes/core/pass.h"

namespace halftone {

// A set of ops. A single op is one too.
class OpSet {
 public:
  OpSet(OpKind op) { bits_.set(static_cast<size_t>(op)); }  // NOLINT(runtime/explicit)
  OpSet(std::initializer_list<OpKind> ops) {
    for (const OpKind op : ops) bits_.set(static_cast<size_t>(op));
  }
  static OpSet All() {
    OpSet all(std::initializer_list<OpKind>{});
    all.bits_.set();
    return all;
  }
  void Add(OpKind op) { bits_.set(static_cast<size_t>(op)); }
  bool has(OpKind op) const { return bits_.test(static_cast<size_t>(op)); }

 private:
  std::bitset<kNumOps> bits_;
};

// The nodes that a rule found, and the values that it wants to remember. nodes()[0] is the root: the last node of the
// pattern, whose value the rest of the graph reads. Constants that are only read do not belong in nodes(). A pattern
// with several results (a recurrent cell: output and state) has its further ones as the next nodes: `results` in all.
class Match {
 public:
  explicit Match(std::vector<NodeId> nodes, std::vector<ValueId> values = {}, int results = 1)
      : nodes_(std::move(nodes)), values_(std::move(values)), results_(results) {}

  const std::vector<NodeId>& nodes() const { return nodes_; }
  NodeId root() const { return nodes_[0]; }
  // Whether Apply gives the node's readers another value to read.
  bool IsResult(NodeId id) const {
    return std::find(nodes_.begin(), nodes_.begin() + results_, id) != nodes_.begin() + results_;
  }
  template <int N>
  std::array<NodeId, N> nodes() const {
    std::array<NodeId, N> result;
    for (int i = 0; i < N; ++i) result[i] = nodes_[i];
    return result;
  }
  ValueId value(int i) const { return values_[i]; }

 private:
  std::vector<NodeId> nodes_;
  std::vector<ValueId> values_;
  int results_ = 1;
};

// Why a rule leaves a node alone.
struct Refusal {
  std::string reason;
  // true: the pattern is here, but changing it would be wrong or useless (goes to the report). false: another pattern
  // (printed only by HALFTONE_DEBUG=why).
  bool matched = false;
};
inline Refusal No(std::string reason) { return {std::move(reason), /*matched=*/false}; }
inline Refusal Kept(std::string reason) { return {std::move(reason), /*matched=*/true}; }

using FindResult = std::variant<Match, Refusal>;

// Apply of rules of the form op(x) => x: whoever reads the root's first output reads `x` from now on, and the output's
// name is given up. Find has made sure that nobody needs that name.
inline absl::Status Bypass(const Match& match, ValueId x, GraphEditor& edit) {
  const ValueId y = edit.graph().output(match.root());
  edit.SetValueName(y, "");
  edit.ReplaceUses(y, x);
  return absl::OkStatus();
}

// Stateless and thread-safe.
class RewriteRule {
 public:
  virtual ~RewriteRule() = default;

  // Kebab-case, a verb first; also the name of its golden file.
  virtual std::string_view name() const = 0;
  // One line for people: what becomes what.
  virtual std::string_view equation() const = 0;
  // How far answers may move (kBitExact, kRounding): what --verify-passes and the tests hold the rule to.
  virtual float tolerance() const { return kRounding; }
  // Whether Apply puts one new node in the root's place that does the work of all matched nodes (ReplaceNode). Then
  // control edges of matched nodes may move to it, and do where that is safe (control_edges.h); else a node with
  // control edges is left alone.
  virtual bool makes_one_node() const { return false; }
  // Ops of the last node of the pattern.
  virtual OpSet root() const = 0;
  // Cheap checks first. REQUIRES: root().has(g.op(root))
  virtual FindResult Find(const Graph& g, NodeId root, const Target& target) const = 0;
  // Changes the graph so that the match is replaced. An error is a failure of the whole pipeline: what may not apply is
  // refused by Find. Nodes that nobody needs afterwards are removed by the driver.
  virtual absl::Status Apply(const Match& match, GraphEditor& edit) const = 0;
};

using Rules = std::vector<std::unique_ptr<RewriteRule>>;

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_REWRITE_RULE_H_

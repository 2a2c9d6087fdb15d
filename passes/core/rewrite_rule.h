// SPDX-License-Identifier: Apache-2.0
// A rewrite rule: one equation, with one function that finds matches and one that applies them.
//
//   class FuseMatMulBias final : public RewriteRule {
//     std::string_view name() const override { return "fuse-matmul-bias"; }
//     std::string_view equation() const override { return "matmul(x, w) + b => matmul(x, w, b)"; }
//     OpSet root() const override { return OpKind::kAdd; }
//     FindResult Find(const Graph& g, NodeId add, const Target& target) const override;   // finds
//     absl::Status Apply(const Match& m, GraphEditor& edit) const override;               // applies
//   };
//
// The driver (rule_pass.h), not the rule, does what every rule needs. It checks that intermediate values have one
// consumer and are not outputs, control edges, device and planned precision. It handles fuel and log, and removes dead
// nodes.
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

// A set of ops. A single op converts to it.
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

// The nodes that a rule found, and the values that Apply needs. nodes()[0] is the root: the last node of the pattern,
// whose value the rest of the graph reads. Constants that are only read do not belong in nodes(). A pattern with
// several results (a recurrent cell: output and state) has the nodes of the further results next; `results` is their
// total number.
class Match {
 public:
  explicit Match(std::vector<NodeId> nodes, std::vector<ValueId> values = {}, int results = 1)
      : nodes_(std::move(nodes)), values_(std::move(values)), results_(results) {}

  const std::vector<NodeId>& nodes() const { return nodes_; }
  NodeId root() const { return nodes_[0]; }
  // Whether Apply replaces the value of the node for its consumers.
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

// Why a rule does not change a node.
struct Refusal {
  std::string reason;
  // true: the pattern matches, but the rewrite is not legal or has no kernel (goes to the report). false: no match
  // (printed only by HALFTONE_DEBUG=why).
  bool matched = false;
};
inline Refusal No(std::string reason) { return {std::move(reason), /*matched=*/false}; }
inline Refusal Kept(std::string reason) { return {std::move(reason), /*matched=*/true}; }

using FindResult = std::variant<Match, Refusal>;

// Apply for rules of the form op(x) => x: all consumers of the root's first output read `x` instead, and the name of
// the output is lost. Find has checked that the name is not needed.
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

  // Kebab-case, beginning with a verb; also the name of its golden file.
  virtual std::string_view name() const = 0;
  // The rewrite in one line, for messages.
  virtual std::string_view equation() const = 0;
  // How much outputs may change (kBitExact, kRounding); --verify-passes and the tests check it.
  virtual float tolerance() const { return kRounding; }
  // Whether Apply replaces the root with one new node that computes what all matched nodes did (ReplaceNode). Then
  // control edges of matched nodes move to it if that is safe (control_edges.h). Otherwise nodes with control edges are
  // not matched.
  virtual bool makes_one_node() const { return false; }
  // Ops of the last node of the pattern.
  virtual OpSet root() const = 0;
  // Cheap checks first. REQUIRES: root().has(g.op(root))
  virtual FindResult Find(const Graph& g, NodeId root, const Target& target) const = 0;
  // Replaces the match. An error fails the whole pipeline: Find must refuse what Apply cannot replace. The driver
  // removes dead nodes afterwards.
  virtual absl::Status Apply(const Match& match, GraphEditor& edit) const = 0;
};

using Rules = std::vector<std::unique_ptr<RewriteRule>>;

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_REWRITE_RULE_H_

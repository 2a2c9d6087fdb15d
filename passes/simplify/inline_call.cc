// SPDX-License-Identifier: Apache-2.0
// call(x...) {body}  =>  the nodes of the body
//
// Legal where nothing inside the body reads values by name. Exact.

#include <memory>
#include <vector>

#include "ir/nested.h"
#include "passes/simplify/inline_graph.h"
#include "passes/simplify/rules.h"

namespace halftone {
namespace {

class InlineCall final : public RewriteRule {
 public:
  std::string_view name() const override { return "inline-call"; }
  std::string_view equation() const override { return "call(x) => body(x)"; }
  float tolerance() const override { return kBitExact; }
  OpSet root() const override { return OpKind::kCall; }

  FindResult Find(const Graph& g, NodeId id, const Target&) const override {
    const std::shared_ptr<const Graph> body = NestedGraph(g.node(id), "body");
    if (std::string obstacle = ObstacleToInlining(g, id, *body); !obstacle.empty()) return Kept(std::move(obstacle));
    return Match({id});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Node& node = edit.graph().node(m.root());
    const std::shared_ptr<const Graph> body = NestedGraph(node, "body");
    InlineGraph(edit, m.root(), *body, std::vector<ValueId>(node.inputs));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeInlineCall() { return std::make_unique<InlineCall>(); }

}  // namespace halftone

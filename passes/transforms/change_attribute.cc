// SPDX-License-Identifier: Apache-2.0
// Removes an attribute of the nodes of one op ("*": all ops), which restores its default, or renames it.
//
// Applies to attributes of the op table and to additional ones of the file ("_class", "T"). INVALID_ARGUMENT if the op
// has no attribute with the new name, or the node already has one.

#include <limits>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "ir/verifier.h"
#include "passes/transforms/op_names.h"
#include "passes/transforms/passes.h"

namespace halftone {
namespace {

class ChangeAttribute final : public Pass {
 public:
  // `new_name` "": the attribute is removed.
  ChangeAttribute(std::string old_name, std::string new_name, std::string op)
      : old_(std::move(old_name)), new_(std::move(new_name)), op_(std::move(op)) {}
  std::string_view name() const override { return new_.empty() ? "remove_attribute" : "rename_attribute"; }
  float tolerance() const override { return std::numeric_limits<float>::infinity(); }

  absl::Status Run(GraphEditor& edit, PassContext&) const override {
    const Graph& g = edit.graph();
    const int64_t before = edit.edits();
    for (const NodeId id : g.nodes()) {
      if (!IsOpNamed(g, id, op_)) continue;
      if (!new_.empty() && (g.node(id).attributes.has(old_) || g.node(id).extra.has(old_)) &&
          (g.node(id).attributes.has(new_) || g.node(id).extra.has(new_))) {
        return absl::InvalidArgumentError(Concat("node '", g.Label(id), "' already has an attribute '", new_, "'"));
      }
      if (const AttributeValue* value = g.node(id).attributes.find(old_); value != nullptr) {
        if (!new_.empty()) edit.SetAttribute(id, new_, AttributeValue(*value));
        edit.EraseAttribute(id, old_);
      }
      if (const AttributeValue* value = g.node(id).extra.find(old_); value != nullptr) {
        if (!new_.empty()) edit.SetExtra(id, new_, AttributeValue(*value));
        edit.EraseExtra(id, old_);
      }
    }
    return edit.edits() == before ? absl::OkStatus() : VerifyGraph(g);
  }

 private:
  std::string old_, new_, op_;
};

}  // namespace

std::unique_ptr<Pass> MakeRemoveAttribute(std::string name, std::string op) {
  return std::make_unique<ChangeAttribute>(std::move(name), "", std::move(op));
}

std::unique_ptr<Pass> MakeRenameAttribute(std::string old_name, std::string name, std::string op) {
  return std::make_unique<ChangeAttribute>(std::move(old_name), std::move(name), std::move(op));
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// The lists of TensorFlow's auto_mixed_precision for bfloat16 on CPUs, as data in three versions, and their edits by
// users.
#ifndef HALFTONE_PASSES_PRECISION_OP_LISTS_H_
#define HALFTONE_PASSES_PRECISION_OP_LISTS_H_

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/file_dialect.h"
#include "ir/graph.h"
#include "ir/precision_plan.h"
#include "passes/precision/lists_options.h"

namespace halftone {

// One op that is on a list of some version.
struct OpListRow {
  std::string_view op;
  ListKind tensorflow;      // newest
  ListKind tensorflow_2_4;  // as of 2.4: Mean and Sum denied, some ops not yet known
  ListKind itex;            // Intel's extension, CPU
  std::string_view reason;
  bool own = false;  // our name for an op that TensorFlow does not have; not used for GraphDefs as spelled
  ListKind Of(ListsVersion version) const;
};
std::span<const OpListRow> OpListRows();
// nullptr if the op is on no list of any version.
const OpListRow* FindOpListRow(std::string_view op);

// "allow", "infer", "deny", "clear"; "" for kNone.
std::string_view ListKindName(ListKind list);

// The lists of one version after the level's change and the users' edits. Immutable, thread-safe.
class OpLists {
 public:
  // For each ListEdits: first removes ops, then adds ops. An op that one list both adds and removes is removed, as in
  // TensorFlow. Edits without effect or with a conflict are warnings. `with_own`: includes the rows with `own`.
  OpLists(const PlannerOptions& options, bool with_own, std::vector<std::string>& warnings);
  ListKind ListOf(std::string_view op) const;

 private:
  void Apply(const ListEdits& edits, std::vector<std::string>& warnings);
  void ApplyLevel(const PlannerOptions& options, std::vector<std::string>& warnings);
  std::map<std::string, ListKind, std::less<>> list_of_;
};

// The TensorFlow op of a node: its spelling if the graph was imported from a TensorFlow file
// (PlannerOptions::imported_from), else the op that corresponds to the canonical op. "" for opaque nodes of other
// formats. A fused op of a dialect counts as its first op.
std::string_view TensorFlowOp(const Graph& graph, NodeId node, const FileDialect* imported_from = nullptr);

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_OP_LISTS_H_

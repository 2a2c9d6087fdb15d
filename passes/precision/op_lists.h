// TensorFlow's lists of its auto_mixed_precision for bfloat16 on CPUs, as data, and the edits that users make to them.
#ifndef HALFTONE_PASSES_PRECISION_OP_LISTS_H_
#define HALFTONE_PASSES_PRECISION_OP_LISTS_H_

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/precision_plan.h"
#include "passes/precision/lists_planner.h"

namespace halftone {

// What is known of one TensorFlow op.
struct OpListRow {
  std::string_view op;
  Colour list;
  std::string_view type_attribute;  // the one that may be painted
  bool bf16;                        // the registry allows bfloat16 for it (and ties the output to it)
  std::string_view reason;          // why it is on this list
};
std::span<const OpListRow> OpListRows();
// nullptr if the op is in no row.
const OpListRow* FindOpListRow(std::string_view op);

// "allow", "infer", "deny", "clear"; "" for kNone.
std::string_view ColourName(Colour colour);

// The lists after the users' edits. Immutable, thread-safe.
class OpLists {
 public:
  // Per ListEdits: first what is removed, then what is added (an op that one list both adds and removes is removed, as
  // in TensorFlow). Everything odd is a warning.
  OpLists(std::span<const ListEdits> edits, std::vector<std::string>& warnings);
  Colour ListOf(std::string_view op) const;

 private:
  void Apply(const ListEdits& edits, std::vector<std::string>& warnings);
  std::map<std::string, Colour, std::less<>> list_of_;
};

// The TensorFlow op that a node means: its spelling in a GraphDef, else that of the canonical op. "" for opaque nodes
// of other formats.
std::string_view TensorFlowOp(const Graph& graph, NodeId node);

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_OP_LISTS_H_

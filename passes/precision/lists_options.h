// What the planner "lists" may be told: which lists, and edits of them.
#ifndef HALFTONE_PASSES_PRECISION_LISTS_OPTIONS_H_
#define HALFTONE_PASSES_PRECISION_LISTS_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/file_dialect.h"
#include "ir/types.h"

namespace halftone {

// Whose lists.
enum class ListsVariant : uint8_t {
  kTensorFlow,    // the newest
  kTensorFlow24,  // TensorFlow 2.4: Mean and Sum denied, fewer ops
  kItex,          // Intel's extension: plans the fused graph, whose fused ops are on its lists
};

// "tensorflow", "tensorflow-2.4", "itex".
std::string_view ListsVariantName(ListsVariant variant);
std::optional<ListsVariant> ListsVariantFromName(std::string_view name);
// Whether the graph that is planned is the fused one; else it is the graph as imported.
inline bool PlansFusedGraph(ListsVariant variant) { return variant == ListsVariant::kItex; }

// Names of TensorFlow ops to put on a list or take off it.
struct ListEdit {
  std::vector<std::string> add;
  std::vector<std::string> remove;
};
struct ListEdits {
  ListEdit allow, infer, deny, clear;
};

struct PlannerOptions {
  // Applied in order, e.g. those of the environment, then those of the policy. An op that is added to a list leaves the
  // list on which it stood, with a warning (TensorFlow would refuse to run).
  std::vector<ListEdits> edits;
  // The dialect of the TensorFlow file that the graph was imported from: node.spelling is a TensorFlow op then, inputs
  // and constants with names are nodes, outputs are known by the names of their nodes. nullptr: it comes from elsewhere.
  const FileDialect* imported_from = nullptr;
  // A variant that plans the fused graph: the dialect whose fused ops are on its lists.
  const FileDialect* fused_as = nullptr;
  // Nodes that make outputs of the graph are not processed. Default: where outputs are known by the names of their nodes
  // (imported_from); else a cast can take over the output's name.
  std::optional<bool> keep_output_nodes;
  // Also paint infer ops behind marked ones, not only those between them. Fewer casts, and results of infer ops round.
  // Default: false, but for Intel's extension, which always does it. (TensorFlow learnt it late.)
  std::optional<bool> mark_infer_after_allow;
  ListsVariant lists_variant = ListsVariant::kTensorFlow;
  // TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_LEVEL: "TREAT_INFER_AS_DENY" (newest lists only), or "". What TensorFlow has
  // for GPUs only or refuses on CPUs is a warning, and changes nothing.
  std::string level;
  DataType target_type = DataType::kBFloat16;  // or kFloat16
};

// Edits of the environment. TensorFlow's lists:
// TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_{ALLOWLIST,INFERLIST,DENYLIST,CLEARLIST}_{ADD,REMOVE}, comma-separated, and the
// older names WHITELIST, GRAYLIST and BLACKLIST. Intel's: ITEX_AUTO_MIXED_PRECISION_{ALLOWLIST,...}_{ADD,REMOVE}.
// `lookup` is getenv, or a test's.
using VariableLookup = std::function<std::optional<std::string>(const std::string&)>;
ListEdits ListEditsFromEnvironment(const VariableLookup& lookup, ListsVariant variant = ListsVariant::kTensorFlow);
ListEdits ListEditsFromEnvironment(ListsVariant variant = ListsVariant::kTensorFlow);
// The value of PlannerOptions::level.
std::string LevelFromEnvironment(const VariableLookup& lookup);

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_LISTS_OPTIONS_H_

// SPDX-License-Identifier: Apache-2.0
// Options of the planner "lists": which lists, and edits of them.
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

// Where the lists come from.
enum class ListsVersion : uint8_t {
  kTensorFlow,    // the newest
  kTensorFlow24,  // TensorFlow 2.4: Mean and Sum denied, fewer ops
  kItex,          // Intel's extension: plans the fused graph, whose fused ops are on its lists
};

// "tensorflow", "tensorflow-2.4", "itex".
std::string_view ListsVersionName(ListsVersion version);
std::optional<ListsVersion> ListsVersionFromName(std::string_view name);
// Whether the fused graph is planned; otherwise the imported graph is.
inline bool PlansFusedGraph(ListsVersion version) { return version == ListsVersion::kItex; }

// Names of TensorFlow ops to put on a list or take off it.
struct ListEdit {
  std::vector<std::string> add;
  std::vector<std::string> remove;
};
struct ListEdits {
  ListEdit allow, infer, deny, clear;
};

struct PlannerOptions {
  // Applied in order, e.g. those of the environment, then those of the policy. An op that is added to a list is removed
  // from its old list, with a warning (TensorFlow would fail).
  std::vector<ListEdits> edits;
  // The dialect of the TensorFlow file from which the graph was imported: then node.spelling is a TensorFlow op, inputs
  // and constants with names are nodes, and outputs have the names of their nodes. nullptr: the graph was not imported
  // from TensorFlow.
  const FileDialect* imported_from = nullptr;
  // For a version that plans the fused graph: the dialect whose fused ops are on its lists.
  const FileDialect* fused_as = nullptr;
  // Nodes that produce outputs of the graph are not processed. Default: true if outputs have the names of their nodes
  // (imported_from); otherwise a cast can take over the name of the output.
  std::optional<bool> keep_output_nodes;
  // Also mark infer ops that follow marked ops, not only those between them: fewer casts, but results of infer ops are
  // rounded. Default: true for Intel's extension, which always does this, else false. (TensorFlow added it in a later
  // version.)
  std::optional<bool> mark_infer_after_allow;
  ListsVersion lists_version = ListsVersion::kTensorFlow;
  // TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_LEVEL: "TREAT_INFER_AS_DENY" (newest lists only), or "". A level that
  // TensorFlow has only for GPUs, or refuses on CPUs, gives a warning and changes nothing.
  std::string level;
  DataType target_type = DataType::kBFloat16;  // or kFloat16
};

// List edits from the environment. TensorFlow's lists:
// TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_{ALLOWLIST,INFERLIST,DENYLIST,CLEARLIST}_{ADD,REMOVE}, comma-separated, and the
// older names WHITELIST, GRAYLIST and BLACKLIST. Intel's: ITEX_AUTO_MIXED_PRECISION_{ALLOWLIST,...}_{ADD,REMOVE}.
// `lookup` is getenv, or a fake in tests.
using VariableLookup = std::function<std::optional<std::string>(const std::string&)>;
ListEdits ListEditsFromEnvironment(const VariableLookup& lookup, ListsVersion version = ListsVersion::kTensorFlow);
ListEdits ListEditsFromEnvironment(ListsVersion version = ListsVersion::kTensorFlow);
// The value of PlannerOptions::level.
std::string LevelFromEnvironment(const VariableLookup& lookup);

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_LISTS_OPTIONS_H_

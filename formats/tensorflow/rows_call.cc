// SPDX-License-Identifier: Apache-2.0
// Calls of functions: the body is a nested graph.

#include <algorithm>
#include <string>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/extra.h"
#include "formats/tensorflow/function_library.h"
#include "formats/tensorflow/node_import.h"
#include "formats/tensorflow/row_parts.h"
#include "formats/tensorflow/write_node.h"
#include "ir/nested.h"

namespace halftone::graphdef {
namespace {

using enum OpKind;
using enum AttrForm;

// Which attribute of TensorFlow names the function of which nested graph.
struct Branch {
  OpKind kind;
  std::string_view nested;
  std::string_view attribute;
};
constexpr Branch kBranches[] = {{kCall, "body", "f"},
                                {kWhile, "condition", "cond"},
                                {kWhile, "body", "body"},
                                {kIf, "then", "then_branch"},
                                {kIf, "else", "else_branch"}};

// The library is not ours to interpret where a function is not there, or was made for several types.
absl::StatusOr<bool> ReadCall(const RuleInput& input, ConvertedNode& result) {
  for (const Branch& branch : kBranches) {
    if (branch.kind != input.row.kind) continue;
    const tf::AttrValue& function = *input.Find(branch.attribute);
    if (!function.has_func()) {
      return absl::InvalidArgumentError(Concat("attribute '", branch.attribute, "' must name a function"));
    }
    if (function.func().attr_size() > 0 || !input.context.function) return false;
    HALFTONE_ASSIGN_OR_RETURN(const std::shared_ptr<const Graph> graph, input.context.function(function.func().name()));
    if (graph == nullptr) return false;
    const size_t own = branch.kind == kIf ? 1 : 0;
    const size_t results = branch.nested == "condition" ? 1 : result.outputs.size();
    if (graph->inputs().size() + own != result.inputs.size() || graph->outputs().size() != results) {
      return absl::InvalidArgumentError(Concat("function '", function.func().name(), "' has ", graph->inputs().size(),
                                               " arguments and ", graph->outputs().size(), " results; the call gives ",
                                               result.inputs.size() - own, " and takes ", results));
    }
    for (size_t i = own; i < result.inputs.size(); ++i) {
      const DataType type = graph->type(graph->output(graph->inputs()[i - own]));
      if (type != result.input_types[i]) {
        return absl::InvalidArgumentError(Concat("argument ", i - own, " of function '", function.func().name(),
                                                 "' is ", DataTypeName(type), ", the call gives ",
                                                 DataTypeName(result.input_types[i])));
      }
    }
    result.node.attributes.Set(std::string(branch.nested), graph);
    result.node.extra.Set(Concat(kExtraFunctionHash, branch.nested), NestedGraphHash(*graph));
  }
  return true;
}

// A function that is what it was keeps its name; others become new functions.
absl::Status WriteCall(GraphWriter& out, NodeId id, const OpRow& row) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  AttrValues functions;
  for (const Branch& branch : kBranches) {
    if (branch.kind != node.op) continue;
    const std::shared_ptr<const Graph> nested = NestedGraph(node, branch.nested);
    if (nested == nullptr) return absl::InternalError(Concat("no nested graph '", branch.nested, "'"));
    const std::string known = node.extra.String(Concat(kExtraFunctionHash, branch.nested), "");
    const bool is_kept = node.extra.has(branch.attribute) && !known.empty() && NestedGraphHash(*nested) == known;
    if (is_kept) continue;
    HALFTONE_ASSIGN_OR_RETURN(const std::string name,
                              out.AddFunction(*nested, Concat(out.NameOf(id), "_", branch.nested)));
    functions[std::string(branch.attribute)].mutable_func()->set_name(name);
  }
  std::vector<Source> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) inputs.push_back(out.Input(id, static_cast<int>(i)));
  return out.AddCall(id, row, inputs, std::move(functions));
}

constexpr TypeRow kCallTypes[] = {{"Tin"}, {"Tout"}};
constexpr TypeRow kIfTypes[] = {{"Tcond"}, {"Tin"}, {"Tout"}};
constexpr AttrRow kCallAttrs[] = {{.name = "f", .form = kKeep, .required = true}};
constexpr AttrRow kIfAttrs[] = {{.name = "then_branch", .form = kKeep, .required = true},
                                {.name = "else_branch", .form = kKeep, .required = true}};
constexpr AttrRow kWhileAttrs[] = {{.name = "cond", .form = kKeep, .required = true},
                                   {.name = "body", .form = kKeep, .required = true}};

constexpr OpRow kRows[] = {
    {"PartitionedCall", kCall, "Tin[]", "Tout[]", kCallTypes, kCallAttrs, "", 0, ReadCall, WriteCall},
    {"StatefulPartitionedCall", kCall, "Tin[]", "Tout[]", kCallTypes, kCallAttrs, "", 0, ReadCall, WriteCall},
    {"StatelessWhile", kWhile, "T[]", "T[]", kT, kWhileAttrs, "", 0, ReadCall, WriteCall},
    {"While", kWhile, "T[]", "T[]", kT, kWhileAttrs, "", 0, ReadCall, WriteCall},
    {"StatelessIf", kIf, "Tcond,Tin[]", "Tout[]", kIfTypes, kIfAttrs, "", 0, ReadCall, WriteCall},
    {"If", kIf, "Tcond,Tin[]", "Tout[]", kIfTypes, kIfAttrs, "", 0, ReadCall, WriteCall},
};

}  // namespace

std::span<const OpRow> CallRows() { return kRows; }

}  // namespace halftone::graphdef

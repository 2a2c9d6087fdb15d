#include <string>

#include "base/strings.h"
#include "passes/simplify/passes.h"

namespace halftone {
namespace {

// No format's symbol begins like this.
constexpr std::string_view kPrefix = "?";

}  // namespace

absl::Status NameDimensions::Run(GraphEditor& edit, PassContext&) const {
  const Graph& graph = edit.graph();
  for (const NodeId id : graph.inputs()) {
    const ValueId value = graph.output(id);
    Shape shape = graph.shape(value);
    if (!shape.has_rank()) continue;
    for (int i = 0; i < shape.rank(); ++i) {
      Dim& dim = shape.mutable_dim(i);
      if (!dim.known() && dim.symbol.empty()) dim.symbol = Concat(kPrefix, value.index, ".", i);
    }
    edit.SetShape(value, std::move(shape));
  }
  return absl::OkStatus();
}

absl::Status ForgetDimensionNames::Run(GraphEditor& edit, PassContext&) const {
  const Graph& graph = edit.graph();
  for (int v = 0; v < graph.num_values(); ++v) {
    Shape shape = graph.shape(ValueId{v});
    if (!shape.has_rank()) continue;
    bool changed = false;
    for (int i = 0; i < shape.rank(); ++i) {
      Dim& dim = shape.mutable_dim(i);
      if (dim.symbol.find(kPrefix) == std::string::npos) continue;  // also in what inference made of it
      dim.symbol.clear();
      changed = true;
    }
    if (changed) edit.SetShape(ValueId{v}, std::move(shape));
  }
  return absl::OkStatus();
}

}  // namespace halftone

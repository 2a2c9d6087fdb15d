// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "base/strings.h"
#include "passes/simplify/passes.h"

namespace halftone {
namespace {

// No symbol of a file begins like this, nor do the temporary ones of ir/shape_values.h.
constexpr std::string_view kPrefix = "$?";

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
  const auto is_ours = [](const Dim& dim) {
    return dim.symbol.find(kPrefix) != std::string::npos;  // also inside symbols that inference derived from it
  };
  for (int v = 0; v < graph.num_values(); ++v) {
    const Shape& named = graph.shape(ValueId{v});
    if (!named.has_rank() || std::none_of(named.dims().begin(), named.dims().end(), is_ours)) continue;
    Shape shape = named;
    for (int i = 0; i < shape.rank(); ++i) {
      if (is_ours(shape.dim(i))) shape.mutable_dim(i).symbol.clear();
    }
    edit.SetShape(ValueId{v}, std::move(shape));
  }
  return absl::OkStatus();
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
#include "passes/core/bind_inputs.h"

#include <map>
#include <string>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "ir/shape_inference.h"

namespace halftone {
namespace {

// Numbers for the dynamic dimensions after the first: first all different, so that no two match by accident; then all
// equal, because unnamed dimensions may have to be equal.
struct Choice {
  int64_t number;
  int64_t step;
};
constexpr Choice kChoices[] = {{3, 1}, {2, 0}, {4, 0}, {8, 0}, {1, 0}, {16, 0}, {32, 0}, {64, 0}, {224, 0}};

std::vector<Shape> Choose(const Graph& graph, int64_t batch, const Choice& choice) {
  std::map<std::string, int64_t> symbols;
  for (const NodeId id : graph.inputs()) {
    const Shape& shape = graph.shape(graph.output(id));
    if (shape.rank() > 0 && !shape.dim(0).known() && !shape.dim(0).symbol.empty()) symbols[shape.dim(0).symbol] = batch;
  }
  int64_t next = choice.number;
  std::vector<Shape> shapes;
  for (const NodeId id : graph.inputs()) {
    Shape shape = graph.shape(graph.output(id));
    for (int i = 0; i < shape.rank(); ++i) {
      Dim& dim = shape.mutable_dim(i);
      if (dim.known()) continue;
      int64_t number = i == 0 ? batch : next;
      if (!dim.symbol.empty()) {
        const auto [it, added] = symbols.emplace(dim.symbol, number);
        number = it->second;
        if (added) next += choice.step;
      } else if (i > 0) {
        next += choice.step;
      }
      dim = Dim::Of(number);
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

}  // namespace

bool HasFreeInputs(const Graph& graph) {
  for (const NodeId id : graph.inputs()) {
    if (!graph.shape(graph.output(id)).fully_known()) return true;
  }
  return false;
}

absl::StatusOr<std::vector<Shape>> ChooseInputShapes(const Graph& graph, int64_t batch) {
  for (const NodeId id : graph.inputs()) {
    if (graph.shape(graph.output(id)).has_rank()) continue;
    return absl::InvalidArgumentError(Concat("the rank of input '", graph.Label(id), "' is not known"));
  }
  absl::Status last;
  for (const Choice& choice : kChoices) {
    std::vector<Shape> shapes = Choose(graph, batch, choice);
    last = WithInputShapes(graph, shapes).status();
    if (last.ok()) return shapes;
  }
  return Annotate(last, "no numbers match the dynamic dimensions of its inputs");
}

absl::StatusOr<Graph> WithInputShapes(const Graph& graph, const std::vector<Shape>& shapes) {
  if (shapes.size() != graph.inputs().size()) {
    return absl::InvalidArgumentError(Concat("it has ", graph.inputs().size(), " inputs instead of ", shapes.size()));
  }
  Graph bound = graph;
  GraphEditor edit(bound);
  std::map<std::string, int64_t> symbols;  // for nodes without inferred shapes
  for (size_t i = 0; i < shapes.size(); ++i) {
    const ValueId value = graph.output(graph.inputs()[i]);
    const Shape& free = graph.shape(value);
    for (int d = 0; free.has_rank() && d < free.rank() && d < shapes[i].rank(); ++d) {
      if (!free.dim(d).known() && !free.dim(d).symbol.empty())
        symbols.emplace(free.dim(d).symbol, shapes[i].dim(d).value);
    }
    edit.SetShape(value, shapes[i]);
  }
  HALFTONE_RETURN_IF_ERROR(Specialize(edit, symbols, /*batch=*/-1));
  return bound;
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
#include "optimizer/prepare.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/editor.h"
#include "ir/shape_inference.h"
#include "optimizer/work_counts.h"

namespace halftone {
namespace {

// The array that is given for an input, if its rank is one that can be cut into inputs.
const std::vector<int64_t>* ArrayFor(const Graph& graph, NodeId input, const InputDims& samples) {
  const auto it = samples.find(graph.Label(input));
  if (it == samples.end()) return nullptr;
  const Shape& shape = graph.shape(graph.output(input));
  const int rank = static_cast<int>(it->second.size());
  return !shape.has_rank() || rank == shape.rank() || rank == shape.rank() + 1 ? &it->second : nullptr;
}

bool HasFreeBatch(const Shape& shape) { return !shape.has_rank() || (shape.rank() > 0 && !shape.dim(0).known()); }

// The number of samples, by the first input with a free first dimension; -1: unknown.
int64_t CountSamples(const Graph& graph, const InputDims& samples) {
  for (const NodeId id : graph.inputs()) {
    const Shape& shape = graph.shape(graph.output(id));
    const std::vector<int64_t>* array = ArrayFor(graph, id, samples);
    if (array == nullptr || array->empty() || !HasFreeBatch(shape)) continue;
    if (!shape.has_rank() || shape.rank() == static_cast<int>(array->size())) return (*array)[0];
  }
  return -1;
}

// One input with its dynamic dimensions bound as far as they are known.
struct BoundInput {
  Shape shape;
  bool has_batch = false;  // the first dimension became the batch
};

BoundInput BindInput(const Shape& declared, const DimSizes& sizes, int64_t count, const std::vector<int64_t>* array) {
  BoundInput input{.shape = declared};
  Shape& shape = input.shape;
  if (!shape.has_rank()) {
    if (array == nullptr) return input;
    shape = Shape::UnknownOfRank(static_cast<int>(array->size()));
  }
  const size_t skipped = array != nullptr && array->size() > static_cast<size_t>(shape.rank()) ? 1 : 0;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape.dim(i).known()) continue;
    const int64_t given = array == nullptr ? -1 : (*array)[i + skipped];
    const auto named = sizes.named.find(shape.dim(i).symbol);
    const bool is_batch = i == 0 && skipped == 0 && (given < 0 || given == count);
    if (named != sizes.named.end()) {
      shape.mutable_dim(i) = Dim::Of(named->second);
    } else if (is_batch) {
      shape.mutable_dim(i) = Dim::Of(sizes.batch_or_one());
      input.has_batch = true;
    } else if (given >= 0) {
      shape.mutable_dim(i) = Dim::Of(given);
    }
  }
  return input;
}

// A name that no input has is a mistake.
absl::Status CheckNames(const Graph& graph, const DimSizes& sizes) {
  std::set<std::string> known;
  for (const NodeId id : graph.inputs()) {
    const Shape& shape = graph.shape(graph.output(id));
    for (int i = 0; shape.has_rank() && i < shape.rank(); ++i) {
      if (!shape.dim(i).known() && !shape.dim(i).symbol.empty()) known.insert(shape.dim(i).symbol);
    }
  }
  for (const auto& [name, size] : sizes.named) {
    if (known.contains(name)) continue;
    return absl::InvalidArgumentError(
        Concat("no input has a dynamic dimension '", name, "'; ",
               known.empty() ? "there are none with a name" : Concat("there are ", absl::StrJoin(known, ", "))));
  }
  return absl::OkStatus();
}

// A batch that was given must be that of some input, dynamic or static.
absl::Status CheckBatch(const Graph& graph, int64_t batch) {
  std::vector<std::string> others;
  for (const NodeId id : graph.inputs()) {
    const Shape& shape = graph.shape(graph.output(id));
    if (!shape.has_rank() || shape.rank() == 0 || !shape.dim(0).known()) continue;
    if (shape.dim(0).value == batch) return absl::OkStatus();
    others.push_back(Concat("'", graph.Label(id), "' ", shape.ToString()));
  }
  if (others.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(Concat("batch ", batch, ": the first dimension of input ",
                                           absl::StrJoin(others, ", "),
                                           " is static; leave out --batch, or export the model with "
                                           "a dynamic batch dimension"));
}

// Infers shapes where some dimensions of inputs stay free.
absl::Status InferWithFreeInputs(GraphEditor& edit) {
  const Graph& graph = edit.graph();
  for (const NodeId id : graph.nodes()) {
    const OpGroup group = Info(graph.op(id)).group;
    if (group == OpGroup::kSource || group == OpGroup::kOpaque || group == OpGroup::kStructural) continue;
    for (const ValueId output : graph.node(id).outputs) {
      if (output.valid() && !graph.shape(output).fully_known()) edit.SetShape(output, Shape());
    }
  }
  return InferShapes(edit);
}

}  // namespace

absl::Status BindShapes(Graph& graph, const DimSizes& sizes, const InputDims& samples) {
  HALFTONE_RETURN_IF_ERROR(CheckNames(graph, sizes));
  GraphEditor edit(graph);
  const int64_t count = CountSamples(graph, samples);
  std::vector<std::string> dynamic;
  bool all_known = true, has_batch = false;
  for (const NodeId id : graph.inputs()) {
    const ValueId value = graph.output(id);
    const std::vector<int64_t>* array = ArrayFor(graph, id, samples);
    const BoundInput input = BindInput(graph.shape(value), sizes, count, array);
    edit.SetShape(value, input.shape);
    has_batch = has_batch || input.has_batch;
    if (input.shape.fully_known()) continue;
    all_known = false;
    if (array == nullptr) dynamic.push_back(Concat("'", graph.Label(id), "' ", input.shape.ToString()));
  }
  if (!dynamic.empty()) {
    return absl::InvalidArgumentError(
        Concat("the shape of input ", absl::StrJoin(dynamic, ", "),
               " is dynamic: give samples (--eval) or sizes of the dimensions (--dim NAME=N)"));
  }
  if (sizes.batch > 0 && !has_batch) HALFTONE_RETURN_IF_ERROR(CheckBatch(graph, sizes.batch));
  return all_known ? Specialize(edit, {}, sizes.batch_or_one()) : InferWithFreeInputs(edit);
}

absl::Status PrepareToRun(Graph& graph, const DimSizes& sizes, const InputDims& samples, Preparation preparation,
                          const Target& target) {
  HALFTONE_RETURN_IF_ERROR(BindShapes(graph, sizes, samples));
  PassContext context{.target = target};
  HALFTONE_ASSIGN_OR_RETURN(context.debug, DebugOptionsFromEnvironment());
  if (preparation == Preparation::kOptimize) CountOptimization();
  return MakePreparePipeline(preparation).Run(graph, context);
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
#include "optimizer/run.h"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/editor.h"
#include "ir/nested.h"
#include "optimizer/prepare.h"
#include "runtime/cpu/target.h"
#include "runtime/engine.h"

namespace halftone {
namespace {

// Whether a tensor of these dimensions may be fed where `declared` is wanted.
bool Fits(const Shape& declared, const std::vector<int64_t>& dims) {
  if (!declared.has_rank()) return true;
  if (declared.rank() != static_cast<int>(dims.size())) return false;
  for (int i = 0; i < declared.rank(); ++i) {
    if (declared.dim(i).known() && declared.dim(i).value != dims[i]) return false;
  }
  return true;
}

// Of real numbers; the ranges that a run finds itself are quantized by other ops.
int64_t CountQuantizations(const Graph& graph) {
  int64_t count = 0;
  for (const Graph* part : WithNested(graph)) {
    const std::vector<NodeId> nodes = part->nodes();
    count +=
        std::count_if(nodes.begin(), nodes.end(), [&](NodeId id) { return part->op(id) == OpKind::kQuantizeLinear; });
  }
  return count;
}

absl::StatusOr<RunResult> Run(const ModelSource& model, const std::map<std::string, Tensor>& inputs, bool fuse,
                              int threads) {
  HALFTONE_ASSIGN_OR_RETURN(Graph graph, LoadModel(model));
  GraphEditor edit(graph);
  std::vector<std::string> problems;
  std::vector<Tensor> feeds;
  std::map<std::string, Tensor> left = inputs;
  for (const NodeId id : graph.inputs()) {
    const std::string name = graph.Label(id);
    const ValueId value = graph.output(id);
    const auto it = left.find(name);
    const std::string wanted = Concat(DataTypeName(graph.type(value)), graph.shape(value).ToString());
    if (it == left.end()) {
      problems.push_back(Concat("input '", name, "' (", wanted, ") is missing"));
      continue;
    }
    const Tensor& tensor = it->second;
    if (tensor.type() != graph.type(value) || !Fits(graph.shape(value), tensor.dims())) {
      problems.push_back(Concat("input '", name, "' must be ", wanted, ", not ", DataTypeName(tensor.type()),
                                tensor.shape().ToString()));
    } else {
      edit.SetShape(value, tensor.shape());
    }
    feeds.push_back(tensor);
    left.erase(it);
  }
  for (const auto& [name, tensor] : left) problems.push_back(Concat("the model has no input '", name, "'"));
  if (!problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(problems, "; "));

  RunResult result;
  if (const int64_t count = fuse ? 0 : CountQuantizations(graph); count > 0) {
    result.warnings.push_back(Concat("int8: in the unmodified file, ops compute in f32 between ", count,
                                     count == 1 ? " quantization" : " quantizations",
                                     "; fused (--fuse) they compute in integers where there are kernels"));
  }
  const std::unique_ptr<Target> target = MakeCpuTarget();
  HALFTONE_RETURN_IF_ERROR(
      PrepareToRun(graph, DimSizes(), {}, fuse ? Preparation::kOptimize : Preparation::kPlain, *target));
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Plan> plan, CompilePlan(graph, {.threads = threads}));
  HALFTONE_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, plan->Run(feeds));
  for (size_t i = 0; i < outputs.size(); ++i) {
    result.outputs.push_back({graph.outputs()[i].name, std::move(outputs[i])});
  }
  return result;
}

}  // namespace

absl::StatusOr<RunResult> RunModel(const ModelSource& model, const std::map<std::string, Tensor>& inputs, bool fuse,
                                   int threads) {
  absl::StatusOr<RunResult> result = Run(model, inputs, fuse, threads);
  if (!result.ok()) return NameModel(result.status(), model);
  return result;
}

}  // namespace halftone

#include "optimizer/run.h"

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/editor.h"
#include "runtime/engine.h"
#include "runtime/onednn/target.h"

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

absl::StatusOr<std::vector<NamedTensor>> Run(const ModelSource& model, const std::map<std::string, Tensor>& inputs,
                                             bool fuse, int threads) {
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

  const std::unique_ptr<Target> target = MakeOneDnnTarget();
  HALFTONE_RETURN_IF_ERROR(PrepareToRun(graph, /*batch=*/1, {}, fuse, *target));
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Plan> plan, CompilePlan(graph, {.threads = threads}));
  HALFTONE_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, plan->Run(feeds));
  std::vector<NamedTensor> result;
  for (size_t i = 0; i < outputs.size(); ++i) result.push_back({graph.outputs()[i].name, std::move(outputs[i])});
  return result;
}

}  // namespace

absl::StatusOr<std::vector<NamedTensor>> RunModel(const ModelSource& model, const std::map<std::string, Tensor>& inputs,
                                                  bool fuse, int threads) {
  absl::StatusOr<std::vector<NamedTensor>> result = Run(model, inputs, fuse, threads);
  if (!result.ok()) return NameModel(result.status(), model);
  return result;
}

}  // namespace halftone

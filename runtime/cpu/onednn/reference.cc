// SPDX-License-Identifier: Apache-2.0
// The last resort: the op's reference function over plain memory. Slow; reports show it as "reference".
#include "ir/reference/reference.h"

#include <cstring>

#include "base/status.h"
#include "base/strings.h"
#include "runtime/cpu/onednn/kernels.h"

namespace halftone::onednn {
namespace {

class ReferenceStep final : public Step {
 public:
  explicit ReferenceStep(const NodeContext& context) : graph_(context.graph()), node_(context.id()) {
    int need = 0;
    for (int i = 0; i < context.num_inputs(); ++i) {
      Input input;
      if (context.HasInput(i)) {
        if (const Tensor* constant = context.Constant(i); constant != nullptr) {
          input.tensor = *constant;
        } else {
          input.need = need++;
          input.type = context.InputType(i);
          input.dims = context.InputDims(i);
        }
      }
      inputs_.push_back(std::move(input));
    }
  }

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) override {
    for (Input& input : inputs_) {
      if (input.need < 0) continue;
      size_t bytes = ElementSize(input.type);
      for (const int64_t dim : input.dims) bytes *= static_cast<size_t>(dim);
      input.tensor = Tensor(input.type, input.dims, Buffer::View(inputs[input.need], bytes, nullptr));
    }
    outputs_.assign(outputs.begin(), outputs.end());
  }

  absl::Status Run() override {
    std::vector<Tensor> tensors;
    for (const Input& input : inputs_) tensors.push_back(input.tensor);
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<Tensor> results, reference::EvaluateNode(graph_, node_, tensors));
    for (size_t i = 0; i < outputs_.size() && i < results.size(); ++i) {
      if (outputs_[i] == nullptr || results[i].type() == DataType::kUnknown) continue;
      const ValueId value = graph_.output(node_, static_cast<int>(i));
      if (results[i].dims() != graph_.shape(value).values() || results[i].type() != graph_.type(value)) {
        return absl::InvalidArgumentError(Concat("output ", i, " has shape ", results[i].shape().ToString(), ", not ",
                                                 graph_.shape(value).ToString()));
      }
      if (results[i].byte_size() > 0) std::memcpy(outputs_[i], results[i].raw(), results[i].byte_size());
    }
    return absl::OkStatus();
  }

 private:
  struct Input {
    int need = -1;  // -1: constant or absent
    DataType type = DataType::kUnknown;
    std::vector<int64_t> dims;
    Tensor tensor;
  };
  const Graph& graph_;
  const NodeId node_;
  std::vector<Input> inputs_;
  std::vector<std::byte*> outputs_;
};

class ReferenceKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    if (!reference::HasReference(context.node().op)) return absl::UnimplementedError("no reference function");
    if (const absl::Status types = reference::CheckTypes(context.graph(), context.id()); !types.ok()) {
      return absl::UnimplementedError(Concat("reference: ", types.message()));
    }
    Prepared prepared;
    prepared.kernel = {"reference", /*slow=*/true};
    prepared.step = std::make_unique<ReferenceStep>(context);
    for (int i = 0; i < context.num_inputs(); ++i) {
      if (!context.HasInput(i) || context.Constant(i) != nullptr) continue;
      if (ElementSize(context.InputType(i)) == 0) {
        return absl::UnimplementedError(Concat("type ", DataTypeName(context.InputType(i))));
      }
      prepared.inputs.push_back({i, Placement{context.InputType(i)}});
    }
    const Node& node = context.node();
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      prepared.outputs.push_back(
          Placement{node.outputs[i].valid() ? context.OutputType(static_cast<int>(i)) : DataType::kUnknown});
    }
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeReferenceKernel() { return std::make_unique<ReferenceKernel>(); }

}  // namespace halftone::onednn

// SPDX-License-Identifier: Apache-2.0
// A node of control flow as a step of a plan whose shapes are all known.
#include <cstring>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "runtime/plan/control.h"
#include "runtime/plan/runnable.h"

namespace halftone {
namespace {

class ControlStep final : public Step {
 public:
  ControlStep(const NodeContext& context, std::unique_ptr<ControlFlow> control) : control_(std::move(control)) {
    for (int i = 0; i < context.num_inputs(); ++i) {
      Input input;
      if (context.HasInput(i)) {
        const Tensor* constant = context.Constant(i);
        input.is_constant = constant != nullptr;
        input.type = context.InputType(i);
        input.dims = context.InputDims(i);
        tensors_.push_back(constant != nullptr ? *constant : Tensor());
      } else {
        input.is_constant = true;
        tensors_.emplace_back();
      }
      inputs_.push_back(std::move(input));
    }
    const Node& node = context.node();
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const bool read = context.OutputUsed(static_cast<int>(i));
      output_dims_.push_back(read ? context.OutputDims(static_cast<int>(i)) : std::vector<int64_t>());
      output_types_.push_back(read ? context.OutputType(static_cast<int>(i)) : DataType::kUnknown);
    }
  }

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) override {
    size_t need = 0;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i].is_constant) continue;
      size_t bytes = ElementSize(inputs_[i].type);
      for (const int64_t dim : inputs_[i].dims) bytes *= static_cast<size_t>(dim);
      tensors_[i] = Tensor(inputs_[i].type, inputs_[i].dims, Buffer::View(inputs[need++], bytes, nullptr));
    }
    outputs_.assign(outputs.begin(), outputs.end());
  }

  absl::Status Run() override {
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<Tensor> results, control_->Run(tensors_));
    for (size_t i = 0; i < outputs_.size() && i < results.size(); ++i) {
      if (output_types_[i] == DataType::kUnknown) continue;
      if (results[i].dims() != output_dims_[i] || results[i].type() != output_types_[i]) {
        return absl::InvalidArgumentError(
            Concat("output ", i, " is ", DataTypeName(results[i].type()), results[i].shape().ToString(), ", not ",
                   DataTypeName(output_types_[i]), Shape::Of(output_dims_[i]).ToString()));
      }
      if (outputs_[i] != nullptr && results[i].byte_size() > 0)
        std::memcpy(outputs_[i], results[i].raw(), results[i].byte_size());
    }
    return absl::OkStatus();
  }

  NestedPlans* nested() override { return control_.get(); }

 private:
  struct Input {
    bool is_constant = false;  // or absent
    DataType type = DataType::kUnknown;
    std::vector<int64_t> dims;
  };
  const std::unique_ptr<ControlFlow> control_;
  std::vector<Input> inputs_;
  std::vector<Tensor> tensors_;
  std::vector<DataType> output_types_;  // kUnknown: not used
  std::vector<std::vector<int64_t>> output_dims_;
  std::vector<std::byte*> outputs_;
};

// A tensor of which only type and dimensions are looked at, or a small one of zeros.
Tensor Like(DataType type, const std::vector<int64_t>& dims, size_t bytes) {
  constexpr size_t kSmall = 256;
  if (bytes <= kSmall) return Tensor(type, dims);
  return Tensor(type, dims, Buffer::View(nullptr, bytes, nullptr));
}

}  // namespace

absl::StatusOr<Prepared> PrepareControl(const NodeContext& context, const PlanRequest& request) {
  Prepared prepared;
  prepared.kernel = "nested";
  std::vector<Tensor> like;  // for the shapes
  for (int i = 0; i < context.num_inputs(); ++i) {
    if (!context.HasInput(i)) {
      like.emplace_back();
    } else if (const Tensor* constant = context.Constant(i); constant != nullptr) {
      like.push_back(*constant);
    } else {
      prepared.inputs.push_back({i, Placement{context.InputType(i)}});
      HALFTONE_RETURN_IF_ERROR(
          CheckSize(context.graph(), context.node().inputs[i], context.InputDims(i), request.most_value_bytes));
      like.push_back(Like(context.InputType(i), context.InputDims(i),
                          request.backend.Bytes(context.InputDims(i), Placement{context.InputType(i)})));
    }
  }
  HALFTONE_ASSIGN_OR_RETURN(
      std::unique_ptr<ControlFlow> control,
      ControlFlow::Make(context.graph(), context.id(), [&](int i) { return context.Constant(i); }, request));
  control->Prepare(like);
  for (int i = 0; i < static_cast<int>(context.node().outputs.size()); ++i)
    prepared.outputs.push_back(Placement{context.OutputUsed(i) ? context.OutputType(i) : DataType::kUnknown});
  prepared.step = std::make_unique<ControlStep>(context, std::move(control));
  return prepared;
}

}  // namespace halftone

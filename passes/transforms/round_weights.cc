// SPDX-License-Identifier: Apache-2.0
// Rounds f32 weights to at most num_steps evenly spaced values; they stay f32, and the file compresses better.
//
// Applies to every f32 constant with at least minimum_size elements that are all finite. Each has a separate grid that
// includes 0. Outputs change by the rounding of the weights.

#include <limits>
#include <utility>

#include "base/strings.h"
#include "passes/transforms/passes.h"
#include "passes/transforms/weight_grid.h"

namespace halftone {
namespace {

class RoundWeights final : public Pass {
 public:
  RoundWeights(int64_t num_steps, int64_t minimum_size) : steps_(num_steps), minimum_(minimum_size) {}
  std::string_view name() const override { return "round_weights"; }
  float tolerance() const override { return std::numeric_limits<float>::infinity(); }

  absl::Status Run(GraphEditor& edit, PassContext& context) const override {
    const Graph& g = edit.graph();
    for (const NodeId id : g.nodes()) {
      const Tensor* tensor = g.op(id) == OpKind::kConstant ? g.ConstantTensor(g.output(id)) : nullptr;
      if (tensor == nullptr || tensor->type() != DataType::kFloat32 || tensor->num_elements() < minimum_) continue;
      const std::optional<WeightGrid> grid = GridOver(tensor->data<float>(), steps_);
      if (!grid.has_value()) continue;
      Tensor rounded(DataType::kFloat32, tensor->dims());
      const std::span<const float> from = tensor->data<float>();
      const std::span<float> to = rounded.mutable_data<float>();
      for (size_t i = 0; i < from.size(); ++i) to[i] = grid->ValueOf(grid->StepOf(from[i]));
      if (rounded.SameBytes(*tensor)) continue;
      if (context.log != nullptr) context.log->Applied(name(), g, id, Concat("w => w of ", steps_, " values"));
      edit.SetAttribute(id, "value", std::move(rounded));
    }
    return absl::OkStatus();
  }

 private:
  int64_t steps_, minimum_;
};

}  // namespace

std::unique_ptr<Pass> MakeRoundWeights(int64_t num_steps, int64_t minimum_size) {
  return std::make_unique<RoundWeights>(num_steps, minimum_size);
}

}  // namespace halftone

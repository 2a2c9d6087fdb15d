#include "runtime/onednn/dense_step.h"

#include <utility>

#include "base/status.h"
#include "runtime/host/parallel.h"

namespace halftone::onednn {
namespace {

using Tag = dnnl::memory::format_tag;

constexpr int64_t kMostRows = 256;
constexpr int64_t kFewestBytes = 512 << 10;  // of weights: half of a level 2 cache

class DenseStep final : public Step {
 public:
  DenseStep(const host::DenseTask& task, host::DenseFunction function, FixedMemory weights, std::vector<float> bias,
            int residual)
      : task_(task), function_(function), weights_(std::move(weights)), bias_(std::move(bias)), residual_(residual) {
    task_.weights = weights_.pages->data();
    if (!bias_.empty()) task_.bias = bias_.data();
  }

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) override {
    task_.x = inputs[0];
    task_.residual = residual_ < 0 ? nullptr : inputs[residual_];
    task_.y = outputs[0];
  }
  absl::Status Run() override {
    RunDense(task_, function_);
    return absl::OkStatus();
  }
  StepFacts facts() const override {
    StepFacts facts;
    facts.fixed = {{weights_.pages->data(), weights_.pages->size()}, {bias_.data(), bias_.size() * sizeof(float)}};
    return facts;
  }

 private:
  host::DenseTask task_;
  const host::DenseFunction function_;
  const FixedMemory weights_;
  const std::vector<float> bias_;
  const int residual_;
};

}  // namespace

Desc PanelsOf(DataType type, host::DenseTask& task) {
  const Desc panels({task.depth, task.columns}, *DnnlType(type),
                    type == DataType::kFloat32 ? Tag::BA16a64b : Tag::BA16a64b2a, /*allow_empty=*/true);
  if (!IsEmpty(panels)) {
    task.panel_bytes =
        static_cast<int64_t>(panels.get_size()) / (panels.get_padded_dims()[1] / host::kPanelColumns);
  }
  return panels;
}

void RunDense(const host::DenseTask& task, host::DenseFunction function) {
  const int64_t panels = (task.columns + host::kPanelColumns - 1) / host::kPanelColumns;
  host::ParallelFor(panels, 1, [&](int64_t first, int64_t last) { function(task, first, last); });
}

absl::Status IsWorthIt(const host::DenseTask& task, DataType type) {
  const int64_t bytes = task.depth * task.columns * static_cast<int64_t>(ElementSize(type));
  if (task.rows > kMostRows || bytes < kFewestBytes) return absl::UnimplementedError("many rows, or small weights");
  if (type == DataType::kBFloat16 && task.depth % 2 != 0) return absl::UnimplementedError("an odd depth");
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Step>> MakeDenseStep(host::DenseTask task, host::DenseFunction function, DataType type,
                                                    const Tensor& weights, const Desc& from, std::vector<float> bias,
                                                    int residual) {
  const Desc to = PanelsOf(type, task);
  if (IsEmpty(from) || IsEmpty(to)) return absl::UnimplementedError("no such layout");
  HALFTONE_ASSIGN_OR_RETURN(FixedMemory packed, Pack(weights, from, to));
  return std::make_unique<DenseStep>(task, function, std::move(packed), std::move(bias), residual);
}

}  // namespace halftone::onednn

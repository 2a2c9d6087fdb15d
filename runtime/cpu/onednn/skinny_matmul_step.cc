// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/onednn/skinny_matmul_step.h"

#include <utility>

#include "base/status.h"
#include "runtime/cpu/onednn/isa.h"
#include "runtime/cpu/simd/parallel.h"

namespace halftone::onednn {
namespace {

using Tag = dnnl::memory::format_tag;

constexpr int64_t kMostRows = 256;
// Beside tiles (AMX), in bf16 and int8: as many rows as vectors multiply while their weights come from memory.
constexpr int64_t kMostRowsBesideTiles = 8;
constexpr int64_t kFewestBytes = 512 << 10;  // of weights: half of a level 2 cache

// Elements of a row of x that one instruction multiplies, and the panels that fit.
int64_t DepthOfStep(DataType type) { return 4 / static_cast<int64_t>(ElementSize(type)); }
Tag TagOf(DataType type) {
  switch (DepthOfStep(type)) {
    case 1:
      return Tag::BA16a64b;
    case 2:
      return Tag::BA16a64b2a;
    default:
      return Tag::BA16a64b4a;
  }
}

class SkinnyMatMulStep final : public Step {
 public:
  SkinnyMatMulStep(const simd::SkinnyMatMulTask& task, simd::SkinnyMatMulFunction function, PrepackedMemory weights,
                   SkinnyMatMulExtras extras)
      : task_(task), function_(function), weights_(std::move(weights)), extras_(std::move(extras)) {
    task_.weights = weights_.pages->data();
    if (!extras_.bias.empty()) task_.bias = extras_.bias.data();
    if (extras_.requantization.has_value()) task_.requantization = &*extras_.requantization;
  }

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) override {
    task_.x = inputs[0];
    task_.residual = extras_.residual < 0 ? nullptr : inputs[extras_.residual];
    task_.y = outputs[0];
  }
  absl::Status Run() override {
    RunSkinnyMatMul(task_, function_);
    return absl::OkStatus();
  }
  StepFacts facts() const override {
    StepFacts facts;
    facts.constants = {{weights_.pages->data(), weights_.pages->size()}};
    const auto add = [&](const auto& numbers) { facts.constants.push_back({numbers.data(), numbers.size() * 4}); };
    add(extras_.bias);
    if (!extras_.requantization.has_value()) return facts;
    add(extras_.requantization->starts);
    add(extras_.requantization->factors);
    add(extras_.requantization->offsets);
    return facts;
  }

 private:
  simd::SkinnyMatMulTask task_;
  const simd::SkinnyMatMulFunction function_;
  const PrepackedMemory weights_;
  const SkinnyMatMulExtras extras_;
};

}  // namespace

Desc PanelsOf(DataType type, simd::SkinnyMatMulTask& task) {
  const Desc panels({task.depth, task.columns}, *DnnlType(type), TagOf(type), /*allow_empty=*/true);
  if (!IsEmpty(panels)) {
    task.panel_bytes = static_cast<int64_t>(panels.get_size()) / (panels.get_padded_dims()[1] / simd::kPanelColumns);
  }
  return panels;
}

void RunSkinnyMatMul(const simd::SkinnyMatMulTask& task, simd::SkinnyMatMulFunction function) {
  const int64_t panels = simd::PanelCount(task.columns);
  simd::ParallelFor(panels, 1, [&](int64_t first, int64_t last) { function(task, first, last); });
}

absl::Status IsWorthIt(const simd::SkinnyMatMulTask& task, DataType type) {
  const int64_t bytes = task.depth * task.columns * static_cast<int64_t>(ElementSize(type));
  const bool has_tiles = HasTiles() && type != DataType::kFloat32;
  if (task.rows > (has_tiles ? kMostRowsBesideTiles : kMostRows) || bytes < kFewestBytes)
    return absl::UnimplementedError("many rows, or small weights");
  if (task.depth % DepthOfStep(type) != 0) return absl::UnimplementedError("a depth that fills no steps");
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Step>> MakeSkinnyMatMulStep(simd::SkinnyMatMulTask task,
                                                           simd::SkinnyMatMulFunction function, DataType type,
                                                           const Tensor& weights, const Desc& from,
                                                           SkinnyMatMulExtras extras) {
  const Desc to = PanelsOf(type, task);
  if (IsEmpty(from) || IsEmpty(to)) return absl::UnimplementedError("no such layout");
  HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed, Pack(weights, from, to));
  return std::make_unique<SkinnyMatMulStep>(task, function, std::move(packed), std::move(extras));
}

}  // namespace halftone::onednn

// SPDX-License-Identifier: Apache-2.0
// A Step that is one function over memory, and what kernels of this folder ask first.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_LOOP_STEP_H_
#define HALFTONE_RUNTIME_CPU_SIMD_LOOP_STEP_H_

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/plan/kernel.h"

namespace halftone::simd {

// Where the arguments of one step are, in the order of Prepared::inputs and of the node's outputs (null: not wanted).
struct Memory {
  std::vector<std::byte*> inputs, outputs;
  std::byte* scratch = nullptr;

  template <typename T>
  const T* in(size_t i) const {
    return reinterpret_cast<const T*>(inputs[i]);
  }
  template <typename T>
  T* out(size_t i) const {
    return reinterpret_cast<T*>(outputs[i]);
  }
};

class LoopStep final : public Step {
 public:
  using Body = std::function<absl::Status(const Memory&)>;
  explicit LoopStep(Body body) : body_(std::move(body)) {}

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte* scratch) override {
    memory_ = {{inputs.begin(), inputs.end()}, {outputs.begin(), outputs.end()}, scratch};
  }
  absl::Status Run() override { return body_(memory_); }

 private:
  const Body body_;
  Memory memory_;
};

// The type in which loops compute a value of this type: f32 and bf16 as they are, f16 as f32; nullopt for the rest.
inline std::optional<DataType> ComputedType(DataType type) {
  if (type == DataType::kFloat32 || type == DataType::kBFloat16) return type;
  return type == DataType::kFloat16 ? std::optional(DataType::kFloat32) : std::nullopt;
}

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_LOOP_STEP_H_

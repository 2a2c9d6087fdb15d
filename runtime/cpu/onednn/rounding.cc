// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/onednn/rounding.h"

#include <memory>

#include "runtime/cpu/onednn/support.h"
#include "runtime/cpu/simd/round_floats.h"

namespace halftone::onednn {
namespace {

class Rounding final : public Step {
 public:
  Rounding(int64_t count, DataType to) : count_(count), to_(to) {}

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) override {
    x_ = reinterpret_cast<const float*>(inputs[0]);
    y_ = reinterpret_cast<uint16_t*>(outputs[0]);
  }
  absl::Status Run() override {
    simd::RoundFloats(x_, count_, to_, y_);
    return absl::OkStatus();
  }

 private:
  const int64_t count_;
  const DataType to_;
  const float* x_ = nullptr;
  uint16_t* y_ = nullptr;
};

}  // namespace

std::optional<Prepared> MakeRounding(std::span<const int64_t> dims, const Placement& from, const Placement& to) {
  const bool narrow = to.type == DataType::kBFloat16 || to.type == DataType::kFloat16;
  if (from.type != DataType::kFloat32 || !narrow) return std::nullopt;
  const Desc source = DescOf(dims, from);
  if (!LieAlike(source, DescOf(dims, to)) || source.get_submemory_offset() != 0) return std::nullopt;
  Prepared prepared{.inputs = {{0, from}}, .outputs = {to}, .kernel = "round"};
  // Padding of blocks included.
  prepared.step = std::make_unique<Rounding>(static_cast<int64_t>(source.get_size() / sizeof(float)), to.type);
  return prepared;
}

}  // namespace halftone::onednn

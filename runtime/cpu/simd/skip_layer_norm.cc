// SPDX-License-Identifier: Apache-2.0
// skip_layer_norm: layer_norm of a sum, in one pass over each row while it is in cache.
#include <cmath>
#include <cstring>

#include "base/status.h"
#include "runtime/cpu/simd/gates.h"
#include "runtime/cpu/simd/kernels.h"
#include "runtime/cpu/simd/parallel.h"

namespace halftone::simd {
namespace {

constexpr int64_t kGrainElements = 1 << 14;
constexpr int kVectors[] = {2, 3, 4};  // scale, offset, bias

struct Problem {
  DataType type = DataType::kFloat32;
  int64_t rows = 0, size = 0, skip_rows = 0;  // skip repeats after its rows
  float epsilon = 0;
  int x = -1, skip = -1, vectors[3] = {-1, -1, -1};  // among Prepared::inputs
};

class SkipLayerNormStep final : public Step {
 public:
  explicit SkipLayerNormStep(const Problem& problem) : p_(problem) {}

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) override {
    x_ = inputs[p_.x];
    skip_ = inputs[p_.skip];
    for (int i = 0; i < 3; ++i) {
      vectors_[i] = p_.vectors[i] < 0 ? nullptr : reinterpret_cast<const float*>(inputs[p_.vectors[i]]);
    }
    for (size_t i = 0; i < 4; ++i) outputs_[i] = i < outputs.size() ? outputs[i] : nullptr;
  }

  absl::Status Run() override {
    ParallelFor(p_.rows, std::max<int64_t>(1, kGrainElements / p_.size), [&](int64_t begin, int64_t end) {
      std::vector<float> sum(p_.size), other(p_.size);
      for (int64_t row = begin; row < end; ++row) Row(row, sum.data(), other.data());
    });
    return absl::OkStatus();
  }

 private:
  void Load(const std::byte* from, int64_t row, float* to) const {
    if (p_.type == DataType::kFloat32) {
      std::memcpy(to, reinterpret_cast<const float*>(from) + row * p_.size, p_.size * sizeof(float));
    } else {
      functions_.from_bf16(reinterpret_cast<const uint16_t*>(from) + row * p_.size, to, p_.size);
    }
  }
  void Store(const float* from, std::byte* to, int64_t row) const {
    if (p_.type == DataType::kFloat32) {
      std::memcpy(reinterpret_cast<float*>(to) + row * p_.size, from, p_.size * sizeof(float));
    } else {
      functions_.to_bf16(from, reinterpret_cast<uint16_t*>(to) + row * p_.size, p_.size);
    }
  }

  void Row(int64_t row, float* sum, float* other) const {
    const int64_t n = p_.size;
    const float *scale = vectors_[0], *offset = vectors_[1], *bias = vectors_[2];
    Load(x_, row, sum);
    Load(skip_, row % p_.skip_rows, other);
    for (int64_t i = 0; i < n; ++i) sum[i] += other[i];
    if (bias != nullptr) {
      for (int64_t i = 0; i < n; ++i) sum[i] += bias[i];
    }
    if (outputs_[3] != nullptr) Store(sum, outputs_[3], row);
    float mean = 0, variance = 0;
#pragma omp simd reduction(+ : mean)
    for (int64_t i = 0; i < n; ++i) mean += sum[i];
    mean /= static_cast<float>(n);
#pragma omp simd reduction(+ : variance)
    for (int64_t i = 0; i < n; ++i) variance += (sum[i] - mean) * (sum[i] - mean);
    const float inverse = 1.0f / std::sqrt(variance / static_cast<float>(n) + p_.epsilon);
    if (outputs_[1] != nullptr) reinterpret_cast<float*>(outputs_[1])[row] = mean;
    if (outputs_[2] != nullptr) reinterpret_cast<float*>(outputs_[2])[row] = inverse;
    if (outputs_[0] == nullptr) return;
    for (int64_t i = 0; i < n; ++i) sum[i] = (sum[i] - mean) * inverse * scale[i];
    if (offset != nullptr) {
      for (int64_t i = 0; i < n; ++i) sum[i] += offset[i];
    }
    Store(sum, outputs_[0], row);
  }

  const Problem p_;
  const GateFunctions& functions_ = GateFunctionsForThisCpu();
  const std::byte* x_ = nullptr;
  const std::byte* skip_ = nullptr;
  const float* vectors_[3] = {};
  std::byte* outputs_[4] = {};
};

class SkipLayerNormKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    Problem p;
    if (context.InputType(0) == DataType::kBFloat16) p.type = DataType::kBFloat16;
    const std::vector<int64_t> dims = context.InputDims(0), skip = context.InputDims(1);
    p.size = dims.empty() ? 0 : dims.back();
    if (p.size == 0) return absl::UnimplementedError("rows of nothing");
    p.rows = p.skip_rows = 1;
    for (size_t i = 0; i + 1 < dims.size(); ++i) p.rows *= dims[i];
    // skip is x's last dimensions, and ones before.
    if (skip.empty() || skip.size() > dims.size()) return absl::UnimplementedError("skip of another rank");
    const size_t missing = dims.size() - skip.size();
    bool begun = false;
    for (size_t i = 0; i < skip.size(); ++i) {
      begun |= skip[i] != 1 || i + 1 == skip.size();
      if (begun && skip[i] != dims[i + missing])
        return absl::UnimplementedError("skip repeats within a row or a block");
      if (i + 1 < skip.size()) p.skip_rows *= skip[i];
    }
    if (p.rows == 0) return absl::UnimplementedError("no rows");
    p.epsilon = context.node().attributes.Float("epsilon", 1e-12f);
    Prepared prepared{.kernel = "loop"};
    const auto need = [&](int index, DataType type) {
      if (!context.HasInput(index)) return -1;
      prepared.inputs.push_back({index, Placement{type}});
      return static_cast<int>(prepared.inputs.size()) - 1;
    };
    p.x = need(0, p.type);
    p.skip = need(1, p.type);
    for (int i = 0; i < 3; ++i) p.vectors[i] = need(kVectors[i], DataType::kFloat32);
    for (size_t i = 0; i < context.node().outputs.size(); ++i) {
      prepared.outputs.push_back(Placement{i == 1 || i == 2 ? DataType::kFloat32 : p.type});
    }
    prepared.step = std::make_unique<SkipLayerNormStep>(p);
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeSkipLayerNormKernel() { return std::make_unique<SkipLayerNormKernel>(); }

}  // namespace halftone::simd

// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/elementwise.h"

#include <utility>

#include "runtime/cpu/simd/parallel.h"

namespace halftone::simd {
namespace {

constexpr int64_t kGrain = 8192;  // elements that are worth a thread of their own

class ElementwiseStep final : public Step {
 public:
  ElementwiseStep(Row row, std::vector<int64_t> dims, size_t element_bytes, const std::vector<Operand>& operands,
                  double p, double q)
      : row_(row), dims_(std::move(dims)), bytes_(static_cast<int64_t>(element_bytes)) {
    parameters_.p = p;
    parameters_.q = q;
    if (dims_.empty()) dims_ = {1};
    for (const Operand& operand : operands) {
      operand_bytes_.push_back(static_cast<int64_t>(operand.element_bytes));
      strides_.push_back(BroadcastStrides(operand.dims));
    }
    for (size_t i = dims_.size(); i-- > 0 && dims_.size() > 1;) {
      if (dims_[i] == 1) Remove(i);
    }
    for (size_t i = dims_.size(); i-- > 1;) {  // rows as long as possible
      if (CanMerge(i)) Merge(i);
    }
  }

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) override {
    from_.assign(inputs.begin(), inputs.begin() + static_cast<int64_t>(strides_.size()));
    y_ = outputs[0];
  }

  absl::Status Run() override {
    const int64_t count = dims_.back();
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < dims_.size(); ++i) rows *= dims_[i];
    if (rows == 1) {
      ParallelFor(count, kGrain, [&](int64_t first, int64_t last) { RunRow(0, first, last); });
    } else if (count > 0) {
      ParallelFor(rows, (kGrain + count - 1) / count, [&](int64_t first, int64_t last) {
        for (int64_t row = first; row < last; ++row) RunRow(row, 0, count);
      });
    }
    return absl::OkStatus();
  }

 private:
  // Strides of an operand over the result's dimensions: 0 where it is broadcast.
  std::vector<int64_t> BroadcastStrides(const std::vector<int64_t>& dims) const {
    std::vector<int64_t> strides(dims_.size(), 0);
    const size_t shift = dims_.size() - dims.size();
    int64_t stride = 1;
    for (size_t i = dims.size(); i-- > 0; stride *= dims[i]) strides[shift + i] = dims[i] == 1 ? 0 : stride;
    return strides;
  }

  bool CanMerge(size_t i) const {
    for (const std::vector<int64_t>& strides : strides_) {
      if (strides[i - 1] != strides[i] * dims_[i]) return false;
    }
    return true;
  }
  void Merge(size_t i) {
    dims_[i - 1] *= dims_[i];
    for (std::vector<int64_t>& strides : strides_) strides[i - 1] = strides[i];
    Remove(i);
  }
  void Remove(size_t i) {
    dims_.erase(dims_.begin() + static_cast<int64_t>(i));
    for (std::vector<int64_t>& strides : strides_) strides.erase(strides.begin() + static_cast<int64_t>(i));
  }

  void RunRow(int64_t row, int64_t first, int64_t last) const {
    Operands operands = parameters_;
    for (size_t k = 0; k < strides_.size(); ++k) {
      const std::vector<int64_t>& strides = strides_[k];
      int64_t offset = first * strides.back(), rest = row;
      for (size_t i = dims_.size() - 1; i-- > 0;) {
        offset += rest % dims_[i] * strides[i];
        rest /= dims_[i];
      }
      operands.from[k] = from_[k] + offset * operand_bytes_[k];
      operands.step[k] = strides.back();
    }
    row_(operands, y_ + (row * dims_.back() + first) * bytes_, last - first);
  }

  const Row row_;
  std::vector<int64_t> dims_;
  const int64_t bytes_;
  Operands parameters_;
  std::vector<int64_t> operand_bytes_;
  std::vector<std::vector<int64_t>> strides_;
  std::vector<const std::byte*> from_;
  std::byte* y_ = nullptr;
};

}  // namespace

std::unique_ptr<Step> MakeElementwiseStep(Row row, std::vector<int64_t> dims, size_t element_bytes,
                                          const std::vector<Operand>& operands, double p, double q) {
  return std::make_unique<ElementwiseStep>(row, std::move(dims), element_bytes, operands, p, q);
}

}  // namespace halftone::simd

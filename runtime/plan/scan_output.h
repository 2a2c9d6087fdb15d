// SPDX-License-Identifier: Apache-2.0
// Slices of the sequences that a scan reads, and the collection of what each run of a body gives. Private to
// runtime/plan.
#ifndef HALFTONE_RUNTIME_PLAN_SCAN_OUTPUT_H_
#define HALFTONE_RUNTIME_PLAN_SCAN_OUTPUT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/tensor.h"

namespace halftone {

// Copies slice `index` along `axis` of the tensor to `to`.
void CopySlice(const Tensor& tensor, int axis, int64_t index, std::byte* to);

// One value a run, all of the same type and dimensions.
class ScanOutput {
 public:
  explicit ScanOutput(DataType type) : type_(type) {}

  // Errors: INVALID_ARGUMENT (other dimensions than before), RESOURCE_EXHAUSTED (more than the machine can hold).
  absl::Status Add(const std::vector<int64_t>& dims, const std::byte* data);
  int64_t size() const { return count_; }
  // The values along a new dimension `axis` (negative: from the end), the last one first if `reversed`. `dims`: of one
  // value where there was none. The object is empty afterwards.
  absl::StatusOr<Tensor> Finish(int64_t axis, bool reversed, std::vector<int64_t> dims_if_none);

 private:
  DataType type_;
  std::vector<int64_t> dims_;
  size_t value_bytes_ = 0;
  int64_t count_ = 0;
  std::vector<std::byte> bytes_;
};

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_SCAN_OUTPUT_H_

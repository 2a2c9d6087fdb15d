// SPDX-License-Identifier: Apache-2.0
// A backend that is another one but for what a subclass says: for tests and benchmarks that fix a kernel, a layout or a
// price.
#ifndef HALFTONE_RUNTIME_PLAN_BACKEND_WRAPPER_H_
#define HALFTONE_RUNTIME_PLAN_BACKEND_WRAPPER_H_

#include "runtime/plan/kernel.h"

namespace halftone {

// Offers no choice of layouts, unlike the one inside, unless the subclass does.
class BackendWrapper : public Backend {
 public:
  // `inside` must outlive it.
  explicit BackendWrapper(const Backend& inside) : inside_(inside) {}

  std::span<const KernelRow> Kernels(OpKind op) const override { return inside_.Kernels(op); }
  absl::StatusOr<Prepared> Convert(std::span<const int64_t> dims, const Placement& from,
                                   const Placement& to) const final {
    return inside_.Convert(dims, from, to);
  }
  bool Same(std::span<const int64_t> dims, const Placement& a, const Placement& b) const final {
    return inside_.Same(dims, a, b);
  }
  size_t Bytes(std::span<const int64_t> dims, const Placement& placement) const final {
    return inside_.Bytes(dims, placement);
  }
  Placement WithType(std::span<const int64_t> dims, const Placement& placement, DataType type) const final {
    return inside_.WithType(dims, placement, type);
  }
  void UseThreads(int threads) const final { inside_.UseThreads(threads); }

 protected:
  const Backend& inside() const { return inside_; }

 private:
  const Backend& inside_;
};

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_BACKEND_WRAPPER_H_

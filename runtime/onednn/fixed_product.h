// A matrix product with constant weights, executed with any memory: the work of recurrent.cc.
#ifndef HALFTONE_RUNTIME_ONEDNN_FIXED_PRODUCT_H_
#define HALFTONE_RUNTIME_ONEDNN_FIXED_PRODUCT_H_

#include <memory>
#include <string>
#include <unordered_map>

#include "absl/status/statusor.h"
#include "runtime/onednn/support.h"

namespace halftone::onednn {

// y [M, N] f32, rows `row_stride` apart, = or += x [M, K] * weights + bias. Not thread-safe.
class FixedProduct {
 public:
  struct Form {
    int64_t m, k, n, row_stride;
    DataType type = DataType::kFloat32;  // of x and weights
    bool add = false;                    // to what y has
  };

  // `weights` [N, K] plain, of form.type; null: those of `same`, as they are packed, with its bias. `bias` [N] or none.
  static absl::StatusOr<FixedProduct> Make(const Form& form, const Tensor* weights, const Tensor* bias,
                                           const FixedProduct* same);

  FixedProduct() = default;  // REQUIRES: never run
  const std::string& name() const { return name_; }
  StepFacts facts() const;

  // Throws what oneDNN throws.
  void Run(const void* x, float* y) const;

 private:
  std::string name_;
  dnnl::matmul primitive_;
  dnnl::stream stream_;
  mutable dnnl::memory x_, y_;  // handles on what Run is given
  std::shared_ptr<FixedMemory> weights_, bias_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_ONEDNN_FIXED_PRODUCT_H_

// SPDX-License-Identifier: Apache-2.0
// A matmul with prepacked constant weights that a step runs many times, on any memory: the gates of lstm, gru and rnn
// (recurrent.cc).
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_PREPACKED_MATMUL_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_PREPACKED_MATMUL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/cpu/onednn/support.h"
#include "runtime/cpu/simd/skinny_matmul.h"

namespace halftone::onednn {

// y [M, N] f32, rows `row_stride` apart, = or += x [M, K] * weights + bias. Not thread-safe.
class PrepackedMatMul {
 public:
  struct Form {
    int64_t m, k, n, row_stride;
    DataType type = DataType::kFloat32;  // of x and weights; of x of u8 or s8 the weights are s8
    bool add = false;                    // to what y has
    std::vector<float> scales = {};      // of int8: factors of the sums, one per column
  };

  // Rows [first, first + n) of `weights`, plain and seen as a matrix of k columns, of any float type, or s8; packed
  // once in a process. `bias` [n] or null. `like`: the same product of another number of rows, whose packed weights are
  // read where oneDNN takes them; may be null.
  static absl::StatusOr<PrepackedMatMul> Make(const Form& form, const Tensor& weights, int64_t first,
                                              const Tensor* bias, const PrepackedMatMul* like = nullptr);

  PrepackedMatMul() = default;  // REQUIRES: never run
  const Implementation& implementation() const { return implementation_; }
  size_t scratch_bytes() const { return scratch_bytes_; }
  StepFacts facts() const;

  // Throws what oneDNN throws.
  void Run(const void* x, float* y, std::byte* scratch) const;

 private:
  // Chooses the implementation; `weights` may be `any`.
  absl::StatusOr<dnnl::matmul::primitive_desc> Choose(const Desc& weights, bool has_bias);
  absl::Status Finish(const dnnl::matmul::primitive_desc& chosen);
  void ChooseSkinnyMatMul();

  Form form_;
  Implementation implementation_;
  size_t scratch_bytes_ = 0;
  dnnl::matmul primitive_;
  dnnl::stream stream_;
  mutable dnnl::memory x_, y_, scratch_;  // handles on what Run is given
  std::shared_ptr<const PrepackedMemory> weights_, bias_, scales_;
  std::vector<dnnl_exec_arg_t> arguments_;
  simd::SkinnyMatMulFunction skinny_ = nullptr;  // instead of the primitive, on the same weights
  simd::SkinnyMatMulTask task_;
};

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_PREPACKED_MATMUL_H_

// SPDX-License-Identifier: Apache-2.0
// matmul_integer with constant weights: dnnl::matmul of 8-bit integers without zero points, then what those add:
//   (a - za)(b - zb) = a b - za sums of b's columns - zb (sums of a's rows - k za)
// Only where the CPU multiplies 8-bit integers exactly: without VNNI pairs of products saturate at 16 bits.
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "runtime/cpu/onednn/isa.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/matmul_integer_weights.h"
#include "runtime/cpu/onednn/support.h"
#include "runtime/cpu/simd/parallel.h"

namespace halftone::onednn {
namespace {

// Of the columns.
std::vector<int32_t> SumsOf(const Tensor& weights) {
  const std::span<const int8_t> bytes = weights.data<int8_t>();
  const size_t n = static_cast<size_t>(weights.dims()[1]);
  std::vector<int32_t> sums(n, 0);
  for (size_t i = 0; i < bytes.size(); ++i) sums[i % n] += bytes[i];
  return sums;
}

// Runs the matmul, then corrects each row.
class CorrectedMatMul final : public Step {
 public:
  CorrectedMatMul(std::unique_ptr<Step> matmul, const IntegerWeights& weights, int64_t rows, DataType a_type,
                  int64_t a_zeros)
      : matmul_(std::move(matmul)),
        zero_points_(weights.zero_points),
        sums_(SumsOf(weights.tensor)),
        rows_(rows),
        k_(weights.rows()),
        n_(weights.columns()),
        a_type_(a_type),
        a_zeros_(a_zeros),
        corrects_rows_(!weights.symmetric()) {}

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte* scratch) override {
    a_ = inputs[0];
    zero_ = a_zeros_ > 0 ? inputs[1] : nullptr;
    y_ = reinterpret_cast<int32_t*>(outputs[0]);
    matmul_->Bind(inputs, outputs, scratch);
  }
  StepFacts facts() const override { return matmul_->facts(); }

  absl::Status Run() override {
    HALFTONE_RETURN_IF_ERROR(matmul_->Run());
    simd::ParallelFor(rows_, 16384 / (n_ + 1) + 1, [this](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) Correct(row);
    });
    return absl::OkStatus();
  }

 private:
  int32_t At(const std::byte* from, int64_t i) const {
    return a_type_ == DataType::kUInt8 ? static_cast<int32_t>(reinterpret_cast<const uint8_t*>(from)[i])
                                       : static_cast<int32_t>(reinterpret_cast<const int8_t*>(from)[i]);
  }
  void Correct(int64_t row) const {
    const int32_t zero = zero_ == nullptr ? 0 : At(zero_, a_zeros_ == 1 ? 0 : row);
    int32_t rest = 0;
    if (corrects_rows_) {
      for (int64_t i = 0; i < k_; ++i) rest += At(a_, row * k_ + i);
      rest -= static_cast<int32_t>(k_) * zero;
    }
    if (zero == 0 && rest == 0) return;
    int32_t* const y = y_ + row * n_;
    for (int64_t j = 0; j < n_; ++j) y[j] -= zero * sums_[j] + rest * zero_points_[j];
  }

  const std::unique_ptr<Step> matmul_;
  const std::vector<int32_t> zero_points_, sums_;  // of the weights' columns
  const int64_t rows_, k_, n_;
  const DataType a_type_;
  const int64_t a_zeros_;  // 0: no zero point; else 1 or one per row
  const bool corrects_rows_;
  const std::byte* a_ = nullptr;
  const std::byte* zero_ = nullptr;
  int32_t* y_ = nullptr;
};

class MatMulIntegerKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    HALFTONE_ASSIGN_OR_RETURN(const IntegerWeights weights, ReadIntegerWeights(context, 3));
    HALFTONE_ASSIGN_OR_RETURN(const int64_t rows, RowsOfIntegers(context, weights));
    const DataType type = context.InputType(0);
    const Dims a = context.InputDims(0);
    const int64_t k = weights.rows(), n = weights.columns();
    int64_t a_zeros = 0;
    if (context.HasInput(2)) {
      a_zeros = 1;
      for (const int64_t dim : context.InputDims(2)) a_zeros *= dim;
      if (a_zeros != 1 && (a_zeros != rows || a.size() != 2)) {
        return absl::UnimplementedError("zero points of a that are neither one nor one a row");
      }
    }
    const Dims src_dims = {rows, k}, dst_dims = {rows, n};
    const Desc src = PlainDesc(src_dims, type);
    const Desc dst = PlainDesc(dst_dims, DataType::kInt32);
    const dnnl::matmul::primitive_desc primitive(CpuEngine(), src, AnyDesc(weights.tensor.dims(), DataType::kInt8), dst,
                                                 UserScratch(), /*allow_empty=*/true);
    if (!primitive || IsSlow(primitive)) {
      return absl::UnimplementedError("oneDNN has no fast matmul of these integers");
    }
    auto matmul = std::make_unique<PrimitiveStep>();
    HALFTONE_RETURN_IF_ERROR(Guard([&] { matmul->AddCall(dnnl::matmul(primitive)); }));
    matmul->AddInput(DNNL_ARG_SRC, src, 0);
    matmul->AddOutput(DNNL_ARG_DST, dst);
    matmul->AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), 0);
    HALFTONE_ASSIGN_OR_RETURN(
        PrepackedMemory packed,
        Pack(weights.tensor, PlainDesc(weights.tensor.dims(), DataType::kInt8), primitive.weights_desc()));
    matmul->AddPrepacked(DNNL_ARG_WEIGHTS, std::move(packed));

    Prepared prepared{.inputs = {{0, Placement{type}}},
                      .outputs = {Placement{DataType::kInt32}},
                      .scratch_bytes = primitive.scratchpad_desc().get_size(),
                      .kernel = ImplementationOf(primitive)};
    if (a_zeros > 0) prepared.inputs.push_back({2, Placement{context.InputType(2)}});
    prepared.step = std::make_unique<CorrectedMatMul>(std::move(matmul), weights, rows, type, a_zeros);
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeMatMulIntegerKernel() { return std::make_unique<MatMulIntegerKernel>(); }

}  // namespace halftone::onednn

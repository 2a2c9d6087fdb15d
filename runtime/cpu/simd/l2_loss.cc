// SPDX-License-Identifier: Apache-2.0
// l2_loss: half the sum of the squares of all elements of all inputs, in one pass. Blocks are summed in f32, their sums
// in f64.
#include <omp.h>

#include <algorithm>
#include <vector>

#include "runtime/cpu/simd/kernels.h"
#include "runtime/cpu/simd/loop_step.h"
#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/simd.h"

namespace halftone::simd {
namespace {

constexpr int64_t kBlock = 4096;
constexpr int64_t kGrainBlocks = 8;

template <typename T>
HALFTONE_INLINE float SquaresOf(const T* x, int64_t count) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) {
    const float number = Load(x + i);
    sum += number * number;
  }
  return sum;
}
HALFTONE_SIMD float SquaresF32(const float* x, int64_t count) { return SquaresOf(x, count); }
HALFTONE_SIMD float SquaresBf16(const uint16_t* x, int64_t count) { return SquaresOf(x, count); }

double SumOf(DataType type, const std::byte* x, int64_t count) {
  const int64_t blocks = (count + kBlock - 1) / kBlock;
  std::vector<double> sums(static_cast<size_t>(omp_get_max_threads()), 0.0);
  ParallelFor(blocks, kGrainBlocks, [&](int64_t first, int64_t last) {
    double sum = 0;
    for (int64_t block = first; block < last; ++block) {
      const int64_t begin = block * kBlock, size = std::min(kBlock, count - begin);
      sum += static_cast<double>(type == DataType::kFloat32
                                     ? SquaresF32(reinterpret_cast<const float*>(x) + begin, size)
                                     : SquaresBf16(reinterpret_cast<const uint16_t*>(x) + begin, size));
    }
    sums[omp_get_thread_num()] += sum;
  });
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

class L2LossKernel final : public Kernel {
 public:
  absl::Status SupportsInputs(const Graph& graph, std::span<const ValueId> inputs) const override {
    return CheckFloatInputs(graph, inputs);
  }
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const std::optional<DataType> type = ComputedType(context.InputType(0));
    if (!type.has_value()) return absl::UnimplementedError("for f32, bf16 and f16");
    Prepared prepared{.outputs = {Placement{DataType::kFloat32}}, .kernel = "loop"};
    std::vector<int64_t> counts;
    for (int i = 0; i < context.num_inputs(); ++i) {
      int64_t& count = counts.emplace_back(1);
      for (const int64_t dim : context.InputDims(i)) count *= dim;
      prepared.inputs.push_back({i, Placement{*type}});
    }
    prepared.step = std::make_unique<LoopStep>([type = *type, counts](const Memory& m) {
      double sum = 0;
      for (size_t i = 0; i < counts.size(); ++i) sum += SumOf(type, m.inputs[i], counts[i]);
      *m.out<float>(0) = static_cast<float>(sum / 2);
      return absl::OkStatus();
    });
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeL2LossKernel() { return std::make_unique<L2LossKernel>(); }

}  // namespace halftone::simd

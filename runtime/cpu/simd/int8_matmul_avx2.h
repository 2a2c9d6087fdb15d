// SPDX-License-Identifier: Apache-2.0
// Int8 matmuls that are exact on every CPU with AVX2: elements are widened to 16 bits without their zero points
// (int8_panels.h), and pairs of products are added in 32 bits (VPMADDWD). For CPUs without VNNI, where the int8
// instruction (VPMADDUBSW) adds pairs in 16 bits, which saturate; there both instructions multiply as much in a cycle.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_INT8_MATMUL_AVX2_H_
#define HALFTONE_RUNTIME_CPU_SIMD_INT8_MATMUL_AVX2_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/cpu/simd/int8_finish.h"
#include "runtime/cpu/simd/int8_panels.h"

namespace halftone::simd {

// What is added to the result after its bias: f32, or int8 with a scale. Strides are 0 where it is broadcast.
struct Int8MatMulAddend {
  DataType type = DataType::kFloat32;
  float scale = 1;
  int32_t zero_point = 0;
  int64_t row_stride = 0, column_stride = 0;  // elements; the latter is 0 or 1
};

// One of the matrices of the result: where its operands begin, in elements.
struct Int8MatMulMatrix {
  int64_t a = 0, addend = 0;
  int64_t b = 0;  // an index of Int8MatMulTask::b_places
};

// y = finish((sums of (a - za) (b - zb)) * factor + offset + addend), row-major matrices one after the other.
struct Int8MatMulTask {
  int64_t rows = 1, depth = 1, columns = 1;
  Int8Operand a, b;
  std::optional<ConvWindows> windows;  // rows are windows of images, of one matrix; else a's own
  std::vector<Int8MatMulMatrix> matrices;
  std::vector<int64_t> b_places = {0};  // where the right operands begin, each of them once
  std::vector<float> factors, offsets;  // one per column
  bool has_addend = false;
  Int8MatMulAddend addend;
  Int8Finish finish;
};

// Immutable; thread-safe.
class Int8MatMul {
 public:
  virtual ~Int8MatMul() = default;
  virtual size_t scratch_bytes(int threads) const = 0;
  // On the threads of the plan. `addend` where the task has one, `b` where MakeInt8MatMul had none.
  virtual void Run(const std::byte* a, const std::byte* b, const std::byte* addend, std::byte* y,
                   std::byte* scratch) const = 0;
};

// `b`: right operands that never change, widened here; null: each run brings and widens them. UNIMPLEMENTED with the
// reason: this CPU has no AVX2, sums may leave 32 bits, factors are beyond f32.
absl::StatusOr<std::unique_ptr<Int8MatMul>> MakeInt8MatMul(Int8MatMulTask task, const std::byte* b);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_INT8_MATMUL_AVX2_H_

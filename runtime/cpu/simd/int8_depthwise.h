// SPDX-License-Identifier: Apache-2.0
// Int8 depthwise convolution: images with channels last, windows of 3 x 3 or 5 x 5, stride 1 or
// 2, a channel of the result for each of the image. With AVX-512 VNNI: four rows of the image lie interleaved, so that
// one instruction multiplies a column of the window for 16 channels; two rows of the result share them. With AVX2: two
// taps of 16 channels, interleaved in 16 bits. Sums are exact.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_INT8_DEPTHWISE_H_
#define HALFTONE_RUNTIME_CPU_SIMD_INT8_DEPTHWISE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/cpu/simd/int8_finish.h"

namespace halftone::simd {

struct DepthwiseAxis {
  int64_t in = 1, out = 1;
  int64_t pad_begin = 0;
};

struct DepthwiseTask {
  int64_t images = 1, channels = 1;
  int64_t kernel = 3, stride = 1;  // of rows and of columns
  DepthwiseAxis rows, columns;
  DataType src = DataType::kUInt8;  // u8 or s8
  int32_t src_zero = 0;             // what lies in the padding, too
  // One of each a channel. Weights: [kernel * kernel][channels]. y = factor * sum of (x - src_zero) * w + offset in
  // real numbers.
  std::vector<int8_t> weights;
  std::vector<float> factors, offsets;
  Int8Finish finish;
};

// The kinds of CPU that there is a loop for.
enum class DepthwiseCpu { kAvx512Vbmi, kAvx512Vnni, kAvx2, kAny };
std::string_view NameOf(DepthwiseCpu cpu);  // "avx512_vbmi"
int VectorBits(DepthwiseCpu cpu);           // 0: those of the compiler's target

// Weights as a kind of CPU wants them. Immutable; thread-safe.
class DepthwiseLoop {
 public:
  virtual ~DepthwiseLoop() = default;
  virtual DepthwiseCpu cpu() const = 0;  // what its instructions are
  virtual size_t scratch_bytes(int threads) const = 0;
  // On the threads of the plan. x and y are dense and do not overlap.
  virtual void Run(const std::byte* x, std::byte* y, std::byte* scratch) const = 0;
};

// The kinds that this CPU is, the fastest first.
std::span<const DepthwiseCpu> DepthwiseCpus();

// UNIMPLEMENTED with the reason for a task that is not as said above, or whose results are not within an int32.
// Fewer than 16 channels have no loop for kAvx2 and get that for kAny.
absl::StatusOr<std::unique_ptr<DepthwiseLoop>> MakeDepthwise(const DepthwiseTask& task, DepthwiseCpu cpu);
absl::StatusOr<std::unique_ptr<DepthwiseLoop>> MakeDepthwise(const DepthwiseTask& task);  // for the fastest

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_INT8_DEPTHWISE_H_

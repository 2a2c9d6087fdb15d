// SPDX-License-Identifier: Apache-2.0
// What int8_depthwise.cc hands to the loops for AVX-512 and AVX2.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_INT8_DEPTHWISE_KINDS_H_
#define HALFTONE_RUNTIME_CPU_SIMD_INT8_DEPTHWISE_KINDS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/cpu/simd/int8_depthwise.h"

namespace halftone::simd {

// Channels that are worked on at once: two vectors of 16 sums. Vector 0 has channels 0 to 3, 8 to 11, 16 to 19, 24 to
// 27, vector 1 the others: then vpackssdw brings them into order.
inline constexpr int64_t kDepthwiseChannels = 32;
inline constexpr int kMostDepthwiseRows = 8;  // of the image, for one band

// Some rows of the result (a band) of 32 channels.
struct DepthwiseBand {
  int64_t kernel = 3, stride = 1;
  // Each row of the image from column 0 on, and the bytes from pixel to pixel; rows in the padding and those that the
  // band does not need have a step of 0.
  const uint8_t* x[kMostDepthwiseRows] = {};
  int64_t x_step[kMostDepthwiseRows] = {};
  int64_t in_columns = 0, out_columns = 0, pad_columns = 0;
  int64_t channels = kDepthwiseChannels;  // that exist, 1 to 32
  uint8_t zero = 0;                       // what lies in the padding, as u8
  bool is_signed = false;                 // x has s8
  // [rows of the band][kernel][groups of four rows][2 vectors][16 channels][4 rows]
  const int8_t* weights = nullptr;
  // Of 32 channels, by vectors: what the sums begin with, then y = sum * factor + offset.
  const int32_t* begins = nullptr;
  const float* factors = nullptr;
  const float* offsets = nullptr;
  // Rows of the result: bytes of 32 (or `channels`) channels, or `numbers` [row][column][32] in f32.
  std::byte* y[2] = {};
  int64_t y_step[2] = {};  // from pixel to pixel
  bool y_signed = false;
  int16_t zero_point = 0, low = 0, high = 0;
  float* numbers = nullptr;
  std::byte* line = nullptr;  // scratch: LineBytes, aligned to 64
};

// Rows of the result in a band, and how many groups of four rows of the image it reads.
constexpr int64_t BandRows(int64_t stride) { return stride == 1 ? 2 : 1; }
constexpr int64_t BandGroups(int64_t kernel, int64_t stride) {
  return ((BandRows(stride) - 1) * stride + kernel + 3) / 4;
}
constexpr int64_t LineBytes(int64_t kernel, int64_t stride, int64_t out_columns) {
  return ((out_columns - 1) * stride + kernel) * BandGroups(kernel, stride) * 128;
}

// REQUIRES: a CPU that has the instructions; kernel 3 or 5, stride 1 or 2
void DepthwiseVnni(const DepthwiseBand& band);  // int8_depthwise_vnni.cc
void DepthwiseVbmi(const DepthwiseBand& band);  // int8_depthwise_vbmi.cc

// Of each channel: result = sum * factor + offset, in units of finish.scale where results are integers that are only
// clamped (BoundsOf).
struct DepthwiseFactors {
  std::vector<float> factors, offsets;
};

// int8_depthwise_avx2.cc. REQUIRES: a CPU with AVX2; at least this many channels
inline constexpr int64_t kAvx2DepthwiseChannels = 16;
std::unique_ptr<DepthwiseLoop> MakeAvx2Depthwise(DepthwiseTask task, const DepthwiseFactors& factors,
                                                 std::optional<IntegerBounds> bounds);

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_INT8_DEPTHWISE_KINDS_H_

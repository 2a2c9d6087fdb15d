// SPDX-License-Identifier: Apache-2.0
// The saturation check of a quantized graph: for each int8 contraction with constant weights, whether sums of pairs of
// products fit into 16 bits, in which CPUs without VNNI compute them (ir/pair_sums.h). CPUs with VNNI add in 32 bits.
#ifndef HALFTONE_PASSES_QUANTIZE_SATURATION_H_
#define HALFTONE_PASSES_QUANTIZE_SATURATION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace halftone {

// How a contraction is computed on AVX2 and on AVX-512 without VNNI.
enum class Saturation : uint8_t {
  kCannot,       // no two weights make a sum that leaves 16 bits
  kSevenBits,    // cannot, as no weight is beyond 63
  kSixteenBits,  // a sum could: a native kernel widens the integers and adds in 32 bits
  kMay,          // a sum could, and no native kernel supports the node: it runs in f32
  // Activations of s8 of a recurrent layer or of matmul_integer and its like: oneDNN halves the weights there; runs in
  // f32. Others read them as u8 of 128 more.
  kHalvesWeights
};
// "safe", "7 bits", "16 bits", "may saturate", "s8 activations"
std::string_view SaturationName(Saturation saturation);

struct SaturationCheck {
  std::string node;  // Graph::Label
  Saturation saturation = Saturation::kCannot;
  // The largest and smallest sum that a pair could make; 0 where nothing is added in pairs (depthwise).
  int32_t most = 0;
  int32_t least = 0;
};

// Of a graph as files hold it, in topological order: of each conv, conv_transpose, matmul, gemm and recurrent layer whose
// data is u8 or s8 before a dequantize_linear and whose weights are a constant of s8 before one; and of each
// matmul_integer, matmul_integer_to_float and conv_integer with constant weights.
std::vector<SaturationCheck> CheckSaturation(const Graph& graph);

}  // namespace halftone

#endif  // HALFTONE_PASSES_QUANTIZE_SATURATION_H_

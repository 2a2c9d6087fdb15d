// SPDX-License-Identifier: Apache-2.0
// Which quantizations of a graph a GraphDef expresses by ranges: pairs as FakeQuantWithMinMax*, constants as
// Dequantize.
#ifndef HALFTONE_FORMATS_TENSORFLOW_WRITTEN_RANGES_H_
#define HALFTONE_FORMATS_TENSORFLOW_WRITTEN_RANGES_H_

#include <optional>
#include <vector>

#include "formats/tensorflow/quantized_ranges.h"
#include "ir/graph.h"

namespace halftone::graphdef {

// Parameters of a quantize_linear or dequantize_linear with constant scale and zero point, f32 floats, u8, s8 or s32
// integers and no blocks. s8 has zero points of u8: 128 more. nullopt otherwise.
struct SaidRange {
  std::vector<QuantizationParameters> channels;  // one where there is one scale
  DataType type = DataType::kUnknown;            // of the integers
  bool of_channels = false;                      // scales have a dimension
  int64_t axis = 0;                              // as written, of channels
  bool operator==(const SaidRange&) const = default;
};
std::optional<SaidRange> RangeSaidBy(const Graph& graph, NodeId id);

// A quantize_linear that a FakeQuantWithMinMax* for each of its readers stands for: all of them are dequantize_linear
// with the same scales, of one tensor or of channels that lie last.
bool IsFakeQuantized(const Graph& graph, NodeId quantize);

// A dequantize_linear that Dequantize expresses with mode SCALED: its zero points are 0.
bool IsScaled(const Graph& graph, NodeId dequantize);

// An s8 or u8 constant that only such nodes or dequantize_range read, or integer matmuls as their weights: in the file
// it is a constant of DT_QINT8 or DT_QUINT8.
bool IsQuantizedConstant(const Graph& graph, NodeId constant);

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_WRITTEN_RANGES_H_

// SPDX-License-Identifier: Apache-2.0
// Names for what quantization adds to a graph: nodes and values that belong to a tensor of the model, or to an input of
// one of its nodes, are called after it, as ONNX Runtime's quantizer calls them.
//
//   x                      x_QuantizeLinear, x_DequantizeLinear, with x_scale and x_zero_point
//   weights of node conv   conv_weights_quantized, ..._scale, ..._zero_point, ..._DequantizeLinear
#ifndef HALFTONE_FORMATS_ONNX_DERIVED_NAMES_H_
#define HALFTONE_FORMATS_ONNX_DERIVED_NAMES_H_

#include <string>
#include <vector>

#include "ir/graph.h"

namespace halftone::onnx_format {

// The value's name begins with `stem`, or where that is empty with the name of value `of`, and ends with `ending`.
struct DerivedName {
  ValueId value;
  std::string stem;
  ValueId of;
  std::string ending;
};

// Of the graph's values without a name around quantize_linear, dequantize_linear and dynamic_quantize_linear, each
// once, in an order in which `of` comes before what is called after it.
std::vector<DerivedName> DerivedNames(const Graph& graph);

// Whether the node quantizes or dequantizes and DerivedNames names its output.
bool HasDerivedName(const Graph& graph, NodeId id);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_DERIVED_NAMES_H_

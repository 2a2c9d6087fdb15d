// SPDX-License-Identifier: Apache-2.0
// Which nodes of a graph are written as one of TensorFlow's ops on quantized tensors, as kernels of oneDNN have them:
//
//   quantize(relu(bias_add(conv(dequantize(x), dequantize(w)), b)))  =>  QuantizedConv2DWithBiasAndReluAndRequantize
//   quantize(relu(bias_add(conv(..)) + dequantize(s)))               =>  ...WithBiasSumAndReluAndRequantize
//   bias_add(matmul(dequantize(x), dequantize(w)), b)                =>  QuantizedMatMulWithBiasAndDequantize
//   quantize(max_pool(dequantize(x))), of one scale                  =>  QuantizedMaxPool
//   quantize(concat(dequantize(x), dequantize(y))), of one scale     =>  QuantizedConcatV2
//
// Activations have one scale and are u8 of non-negative values, zero point 0, or s8 of zero point 0 (equivalent to u8
// with zero point 128); weights are s8 constants. Kernels of matmuls transpose nothing, take only u8, and one scale for
// the weights (mkl_qmatmul_op.cc). All other nodes keep their pairs, which is correct but slower.
#ifndef HALFTONE_FORMATS_TENSORFLOW_QUANTIZED_GROUPS_H_
#define HALFTONE_FORMATS_TENSORFLOW_QUANTIZED_GROUPS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "formats/tensorflow/written_ranges.h"
#include "ir/graph.h"

namespace halftone::graphdef {

class GraphWriter;

struct QuantizedGroup {
  NodeId op;                    // the contraction, pool or concat
  NodeId last;                  // makes the result: a quantize_linear; of a matmul also a node with a float result
  std::vector<NodeId> between;  // what is fused
  ValueId bias = kNoValue;      // floats
  ValueId summand = kNoValue;   // after its dequantize_linear
  bool relu = false;
};

// Value type. Ids are those of one graph.
class QuantizedGroups {
 public:
  QuantizedGroups() = default;  // none
  explicit QuantizedGroups(const Graph& graph);

  // The group that ends with this node; nullptr if there is none.
  const QuantizedGroup* Find(NodeId last) const;
  // Whether the node is written as part of groups.
  bool IsInside(NodeId node) const { return inside_.contains(node); }
  // Whether this quantize_linear is written as a node with a range beside its integers: the last of a group, or what a
  // group reads.
  bool HasRange(NodeId quantize) const { return with_range_.contains(quantize); }

 private:
  void Take(const Graph& graph, QuantizedGroup group);

  std::map<NodeId, QuantizedGroup> groups_;  // by last
  std::set<NodeId> inside_, with_range_;
};

// Of a range in a group: u8 in the file, else s8.
bool IsUnsigned(const SaidRange& said);

// Writes the node of a quantize_linear that HasRange: the group's op, else QuantizeV2.
absl::Status WriteWithRange(GraphWriter& out, NodeId quantize);
// Writes the group, whose result is float.
absl::Status WriteDequantizedProduct(GraphWriter& out, const QuantizedGroup& group);
// Writes a dequantize_linear of such a node that is not inside: Dequantize.
absl::Status WriteDequantizeOfRange(GraphWriter& out, NodeId dequantize);

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_QUANTIZED_GROUPS_H_

// SPDX-License-Identifier: Apache-2.0
// QOperator format: which nodes of a graph with quantize_linear and dequantize_linear are written as one integer
// operator.
//
//   conv(dequantize(x), dequantize(w), dequantize(b)) -> quantize    =>  QLinearConv
//   conv(...) -> relu -> quantize                                    =>  QLinearConv, where the integers end at 0
//   anyway max_pool(dequantize(x)) -> quantize, of one scale                =>  MaxPool of integers
//
// Scales and zero points must be constants: one for activations, for weights one, or one per output channel. A bias is
// s32 with the product of the two scales as its scale. All other nodes keep their pairs, which is correct but slower.
#ifndef HALFTONE_FORMATS_ONNX_INTEGER_GROUPS_H_
#define HALFTONE_FORMATS_ONNX_INTEGER_GROUPS_H_

#include <map>
#include <set>
#include <string_view>

#include "absl/status/status.h"
#include "formats/onnx/op_map.h"
#include "ir/graph.h"

namespace halftone::onnx_format {

struct IntegerRow;

struct IntegerGroup {
  NodeId op;        // what it computes
  NodeId quantize;  // makes its result
  const IntegerRow* row = nullptr;
};

class IntegerGroups {
 public:
  IntegerGroups() = default;  // none
  explicit IntegerGroups(const Graph& graph);

  // The group that ends with this node; nullptr if there is none.
  const IntegerGroup* Find(NodeId quantize) const;
  // Whether the node is written as part of one or several groups.
  bool IsInside(NodeId node) const { return inside_.contains(node); }
  // Domains of the operators other than ONNX's own.
  std::set<std::string_view> Domains() const;
  // The lowest opset that has all of them.
  int MinOpset() const;

 private:
  std::map<NodeId, IntegerGroup> groups_;  // by quantize
  std::set<NodeId> inside_;
};

// Writes one operator.
absl::Status WriteIntegerGroup(NodeWriter& writer, const IntegerGroup& group);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_INTEGER_GROUPS_H_

// Which nodes of a graph with pairs of quantize_linear and dequantize_linear are written as one operator of integers.
//
//   conv(dequantize(x), dequantize(w), dequantize(b)) -> quantize    =>  QLinearConv
//   conv(...) -> relu -> quantize                                    =>  QLinearConv, where the integers end at 0
//   anyway max_pool(dequantize(x)) -> quantize, of one scale                =>  MaxPool of integers
//
// Scales and zero points must be constants: one for activations, of weights one or one an output channel. A bias is of
// s32 in steps of the product of the two scales. Everything else stays as it is, which is right, only slower.
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

  // The group whose last node this is; nullptr: none.
  const IntegerGroup* Find(NodeId quantize) const;
  // Whether a group, or several, do all of this node's work.
  bool IsInside(NodeId node) const { return inside_.contains(node); }
  // Domains of the operators beside ONNX's own.
  std::set<std::string_view> Domains() const;
  // The least opset that has all of them.
  int MinOpset() const;

 private:
  std::map<NodeId, IntegerGroup> groups_;  // by quantize
  std::set<NodeId> inside_;
};

// Writes one operator.
absl::Status WriteIntegerGroup(NodeWriter& writer, const IntegerGroup& group);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_INTEGER_GROUPS_H_

// SPDX-License-Identifier: Apache-2.0
// The map between ONNX's operators in all their opsets and the canonical ops: one row per operator (rows_*.cc).
#ifndef HALFTONE_FORMATS_ONNX_OP_MAP_H_
#define HALFTONE_FORMATS_ONNX_OP_MAP_H_

#include <limits>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "ir/editor.h"
#include "ir/graph.h"
#include "ir/ops.h"
#include "onnx/onnx_pb.h"

namespace halftone::onnx_format {

class NodeWriter;

inline constexpr int kNever = std::numeric_limits<int>::max();

enum class AttributeKind { kInt, kBool, kFloat, kString, kInts, kFloats, kStrings };

// An attribute of the operator and of the canonical op. Present in the opsets [since, until).
struct AttributeRow {
  std::string_view onnx;
  std::string_view canonical;  // "": not interpreted, kept in Node::extra under its ONNX name
  AttributeKind kind = AttributeKind::kInt;
  int since = 1;
  int until = kNever;
};

// An attribute in opsets before `until`, an input afterwards and in the canonical op.
struct MovedRow {
  enum class Form {
    kInts,   // rank 1
    kInt,    // scalar
    kFloat,  // scalar of the type of the first input
    kOnes,   // no attribute: before `until` the input can only be ones, or absent (the steps of Slice)
  };
  std::string_view onnx;
  Form form = Form::kInts;
  int input = 0;  // kLastInput: after all others
  int until = kNever;
  bool required = false;
};
inline constexpr int kLastInput = -1;

// A node of the file, while it is being imported.
struct NodeInFile {
  const onnx::NodeProto& proto;
  int opset;
  const Graph& graph;
  std::vector<ValueId> inputs;
  const std::set<std::string>& read;  // names of values that have consumers

  const onnx::AttributeProto* Find(std::string_view name) const;
  int64_t Int(std::string_view name, int64_t otherwise) const;
  std::string String(std::string_view name, std::string_view otherwise) const;
  bool HasInput(size_t i) const { return i < inputs.size() && inputs[i].valid(); }
  bool IsRead(int output) const { return output < proto.output_size() && read.contains(proto.output(output)); }
};

struct OpRow {
  std::string_view onnx;
  OpKind op;
  int since;       // opset that introduced it
  int bf16_since;  // opset from which it takes bf16; f16: see Float16Since
  int max_inputs;  // in the newest opset
  std::span<const AttributeRow> attributes = {};
  std::span<const MovedRow> moved = {};
  // --- Import. Why this node cannot become `op` and stays opaque; "" if it can.
  std::string_view (*keep_opaque)(const NodeInFile& node) = nullptr;
  // What the columns above cannot express. `canonical` has its inputs and attributes by then.
  absl::Status (*finish)(const NodeInFile& node, GraphEditor& edit, Node& canonical) = nullptr;
  // --- Export. Opset that this node needs beyond what the columns above say.
  int (*min_opset)(const Graph& graph, const Node& node) = nullptr;
  // Writes the node where the columns above cannot express it.
  absl::Status (*write)(NodeWriter& writer, NodeId id) = nullptr;
  std::string_view domain = "";  // "com.microsoft": since and bf16_since are opsets of ONNX
};

// nullptr: no row; the node stays opaque, or ONNX cannot express the op.
const OpRow* FindRow(std::string_view domain, std::string_view onnx_op);
// Where several operators mean the same: the one with this spelling and domain, else the first.
const OpRow* FindRow(OpKind op, std::string_view spelling = "", std::string_view domain = "");

// The least opset in which the node, with its types and attributes, can be written.
int MinOpset(const Graph& graph, NodeId id, const OpRow& row);

// The two parts of it: what the node needs without its types, and what its types below f32 need (0: it has none;
// kNever: no opset has them).
int MinOpsetWithoutTypes(const Graph& graph, NodeId id, const OpRow& row);
int TypesSince(const Graph& graph, NodeId id, const OpRow& row);

// The opset from which the row's operator takes f16: nearly always the first.
int Float16Since(const OpRow& row);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_OP_MAP_H_

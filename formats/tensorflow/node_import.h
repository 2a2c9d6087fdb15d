// SPDX-License-Identifier: Apache-2.0
// One NodeDef -> one Node: canonical where op_map.h has a row that covers all of it, else opaque.
#ifndef HALFTONE_FORMATS_TENSORFLOW_NODE_IMPORT_H_
#define HALFTONE_FORMATS_TENSORFLOW_NODE_IMPORT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/tensorflow/attr_value.h"
#include "formats/tensorflow/op_map.h"
#include "formats/tensorflow/proto/graph.pb.h"
#include "ir/editor.h"
#include "ir/graph.h"
#include "ir/value_ranges.h"

namespace halftone::graphdef {

namespace tf = ::halftone::tensorflow;

// What ConvertNode must know beyond the NodeDef.
struct NodeContext {
  int num_inputs = 0;         // data inputs
  int num_read_outputs = 0;   // highest port that any node reads, plus one
  int64_t graph_version = 0;  // versions.producer
  // The constant integers of a data input, or nullopt; its constant, or nullptr; its shape.
  std::function<std::optional<std::vector<int64_t>>(int)> constant_ints;
  std::function<const Tensor*(int)> constant;
  std::function<Shape(int)> input_shape;
  std::function<std::string(int)> input_name;  // of the node that makes it
  std::function<DataType(int)> input_type;     // as it is in the graph
  // Scale and zero point, both constant, of the quantize_linear that made an input's integers, which other nodes may
  // have moved; nullopt where there is none.
  std::function<std::optional<QuantizationParameters>(int)> quantized_as;
  std::function<OpKind(int)> input_op;  // of the node that makes it
  // Whether inputs `low` and `high` are the ends of all elements of input `x`, computed at run time: its Min and Max,
  // or those of a reshape of it, or its RequantizationRange.
  std::function<bool(int low, int high, int x)> is_range_of;
  // A function of the library, see FunctionLibrary::Get; may be empty.
  std::function<absl::StatusOr<std::shared_ptr<const Graph>>(const std::string&)> function;
};

// An input that no input of the NodeDef is: an unnamed constant, or the output of an unnamed node (a helper, which the
// exporter writes only where it has other consumers).
struct MadeInput {
  Node node;  // without inputs
  ValueSpec output;
  std::vector<ValueSpec> more_outputs;
  std::vector<int> inputs;  // as ConvertedNode::inputs; earlier made ones only
  std::optional<Tensor> constant;
  std::optional<std::pair<int, int>> port;  // an earlier made one, and which of its outputs: nothing new is made
};

// Inputs by number: of the NodeDef's data inputs; none; the one that was made as `i`th.
inline constexpr int kAbsentInput = -1;
constexpr int MadeInputNumber(size_t i) { return -2 - static_cast<int>(i); }

struct ConvertedNode {
  Node node;  // without inputs, control inputs and device
  std::vector<ValueSpec> outputs;
  std::vector<int> output_ports;      // canonical output -> output of the NodeDef; -1: absent
  std::vector<int> inputs;            // of the canonical node, see above
  std::vector<DataType> input_types;  // of each data input of the NodeDef, as its attributes say; kUnknown: any
  std::vector<MadeInput> made;
  bool is_parts = false;  // output i is a node of its own, which reads input i
  // Outputs of the NodeDef that are constants: ranges.
  std::vector<std::pair<int, Tensor>> constant_ports;
  std::vector<std::pair<int, int>> value_ports;  // that are inputs by number, see above: ranges computed at run time
  bool is_composed = false;  // the NodeDef is several nodes, of which this is the last: no attribute of it is kept

  int AddConstant(Tensor value) {
    made.push_back({.constant = std::move(value)});
    return MadeInputNumber(made.size() - 1);
  }
  int AddHelper(OpKind op, std::vector<int> from, DataType type, Attributes attributes = {}) {
    made.push_back({.output = {type, Shape(), ""}, .inputs = std::move(from)});
    made.back().node.op = op;
    made.back().node.attributes = std::move(attributes);
    return MadeInputNumber(made.size() - 1);
  }
  // Output `port`, not the first, of what AddHelper made.
  int AddPort(int helper, int port) {
    made.push_back({.port = std::pair(helper, port)});
    return MadeInputNumber(made.size() - 1);
  }
};

// What a row's import rule sees. Functions give the attribute or its default; INVALID_ARGUMENT where it is of another
// kind.
struct RuleInput {
  const OpRow& row;
  const AttrMap& attrs;
  const NodeContext& context;
  const tf::AttrValue* Find(std::string_view name) const {
    const auto it = attrs.find(name);
    return it == attrs.end() ? nullptr : it->second;
  }
  absl::StatusOr<int64_t> Int(std::string_view name, int64_t otherwise) const;
  absl::StatusOr<float> Float(std::string_view name, float otherwise) const;
  absl::StatusOr<bool> Bool(std::string_view name, bool otherwise) const;
};

// `repeat_budget`: see DecodeTensor. INVALID_ARGUMENT (without the node's name) for what TensorFlow would refuse too.
absl::StatusOr<ConvertedNode> ConvertNode(const tf::NodeDef& def, const NodeContext& context, int64_t& repeat_budget);

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_NODE_IMPORT_H_

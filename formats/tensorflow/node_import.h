// One NodeDef -> one Node: canonical where op_map.h has a row that says all of it, else opaque.
#ifndef HALFTONE_FORMATS_TENSORFLOW_NODE_IMPORT_H_
#define HALFTONE_FORMATS_TENSORFLOW_NODE_IMPORT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/tensorflow/proto/graph.pb.h"
#include "ir/editor.h"
#include "ir/graph.h"

namespace halftone::graphdef {

namespace tf = ::halftone::tensorflow;

// What ConvertNode must know beyond the NodeDef.
struct NodeContext {
  int num_inputs = 0;         // data inputs
  int num_read_outputs = 0;   // highest port that any node reads, plus one
  int64_t graph_version = 0;  // versions.producer
  // The constant integers of a data input, or nullopt; the shape of a data input.
  std::function<std::optional<std::vector<int64_t>>(int)> constant_ints;
  std::function<Shape(int)> input_shape;
};

struct ConvertedNode {
  Node node;  // without inputs, control inputs and device
  std::vector<ValueSpec> outputs;
  std::vector<int> inputs;            // canonical input -> data input of the NodeDef; -1: absent
  std::vector<DataType> input_types;  // of each data input of the NodeDef, as its attributes say; kUnknown: any
  std::optional<std::vector<int64_t>> squeeze_dims;  // becomes a constant, the second input
};

// `repeat_budget`: see DecodeTensor. INVALID_ARGUMENT (without the node's name) for what TensorFlow would refuse too.
absl::StatusOr<ConvertedNode> ConvertNode(const tf::NodeDef& def, const NodeContext& context, int64_t& repeat_budget);

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_NODE_IMPORT_H_

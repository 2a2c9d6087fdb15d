// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/opset6.h"

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/strings.h"

namespace halftone::onnx_format {
namespace {

std::optional<int64_t> TakeInt(onnx::NodeProto& proto, std::string_view name) {
  for (int i = 0; i < proto.attribute_size(); ++i) {
    if (proto.attribute(i).name() != name) continue;
    const int64_t value = proto.attribute(i).i();
    proto.mutable_attribute()->DeleteSubrange(i, 1);
    return value;
  }
  return std::nullopt;
}

void Drop(onnx::NodeProto& proto, std::string_view name) { TakeInt(proto, name); }

bool IsBroadcasting(std::string_view op) {
  for (const std::string_view name :
       {"Add", "Sub", "Mul", "Div", "And", "Or", "Xor", "Equal", "Greater", "Less", "Pow"}) {
    if (op == name) return true;
  }
  return false;
}

absl::StatusOr<int> RankOf(const Graph& graph, const std::vector<ValueId>& inputs, size_t index) {
  if (index >= inputs.size() || !inputs[index].valid()) return absl::InvalidArgumentError("has fewer than two inputs");
  const Shape& shape = graph.shape(inputs[index]);
  if (shape.has_rank()) return shape.rank();
  return absl::InvalidArgumentError(
      Concat("the rank of input ", index, " is not known, and broadcasting as in opset 6 needs it"));
}

// b's dimensions are a's from `axis` on: dimensions of 1 after them make it numpy's rule.
absl::Status AlignAt(int64_t axis, std::vector<ValueId>& inputs, GraphEditor& edit) {
  const Graph& graph = edit.graph();
  HALFTONE_ASSIGN_OR_RETURN(const int rank, RankOf(graph, inputs, 0));
  HALFTONE_ASSIGN_OR_RETURN(const int small, RankOf(graph, inputs, 1));
  if (axis < 0) axis += rank;
  const int64_t missing = rank - axis - small;
  if (axis < 0 || missing < 0) {
    return absl::InvalidArgumentError(
        Concat("axis ", axis, " does not fit an input of rank ", small, " in one of rank ", rank));
  }
  if (missing == 0) return absl::OkStatus();
  std::vector<int64_t> axes;
  std::vector<Dim> dims = graph.shape(inputs[1]).dims();
  for (int64_t i = 0; i < missing; ++i) {
    axes.push_back(small + i);
    dims.push_back(Dim::Of(1));
  }
  const ValueId positions = edit.AddConstant("", Tensor::Ints(axes));
  const NodeId aligned =
      edit.Add(OpKind::kUnsqueeze, "", {inputs[1], positions}, {graph.type(inputs[1]), Shape(std::move(dims)), ""});
  inputs[1] = graph.output(aligned);
  return absl::OkStatus();
}

absl::Status RefuseTraining(onnx::NodeProto& proto) {
  const std::optional<int64_t> is_test = TakeInt(proto, "is_test");
  if (is_test.value_or(0) != 0) return absl::OkStatus();
  return absl::UnimplementedError("opset 6's training mode (is_test = 0) is not supported");
}

// Upsample 6 has two scales as attributes, 7 has one per dimension.
void UpgradeScales(onnx::NodeProto& proto) {
  onnx::AttributeProto scales;
  scales.set_name("scales");
  scales.set_type(onnx::AttributeProto::FLOATS);
  scales.add_floats(1);
  scales.add_floats(1);
  for (const std::string_view name : {"height_scale", "width_scale"}) {
    for (const onnx::AttributeProto& attribute : proto.attribute()) {
      if (attribute.name() == name) scales.add_floats(attribute.f());
    }
    Drop(proto, name);
  }
  *proto.add_attribute() = std::move(scales);
}

}  // namespace

absl::Status UpgradeFromOpset6(onnx::NodeProto& proto, std::vector<ValueId>& inputs, GraphEditor& edit) {
  const std::string& op = proto.op_type();
  if (IsBroadcasting(op)) {
    const std::optional<int64_t> broadcast = TakeInt(proto, "broadcast"), axis = TakeInt(proto, "axis");
    if (broadcast.value_or(0) != 0 && axis.has_value()) return AlignAt(*axis, inputs, edit);
  } else if (op == "PRelu") {
    HALFTONE_ASSIGN_OR_RETURN(const int rank, RankOf(edit.graph(), inputs, 0));
    HALFTONE_ASSIGN_OR_RETURN(const int slopes, RankOf(edit.graph(), inputs, 1));
    const bool one_a_channel = slopes == 1 && rank > 2;
    if (one_a_channel && edit.graph().shape(inputs[1]).dim(0) != Dim::Of(1)) return AlignAt(1, inputs, edit);
  } else if (op == "Gemm") {
    Drop(proto, "broadcast");
  } else if (op == "BatchNormalization" || op == "Dropout") {
    return RefuseTraining(proto);
  } else if (op == "LSTM" || op == "GRU" || op == "RNN") {
    Drop(proto, "output_sequence");
  } else if (op == "Upsample") {
    UpgradeScales(proto);
  }
  return absl::OkStatus();
}

}  // namespace halftone::onnx_format

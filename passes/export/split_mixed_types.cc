// SPDX-License-Identifier: Apache-2.0
#include "passes/export/split_mixed_types.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "passes/export/parts.h"
#include "passes/fusion/contraction.h"
#include "passes/precision/mixed_types.h"

namespace halftone {
namespace {

constexpr DataType kF32 = DataType::kFloat32, kBf16 = DataType::kBFloat16;

bool RoundsOperands(const Graph& g, NodeId id) { return g.node(id).attributes.has("math_mode"); }

// Whether a port that may differ from the first operand does.
bool IsMixed(const Graph& g, NodeId id) {
  const Node& node = g.node(id);
  const int count = static_cast<int>(node.inputs.size());
  if (count == 0 || !node.inputs[0].valid() || !IsSmallFloat(g.type(node.inputs[0]))) return false;
  const auto differs = [&](const Port* port, ValueId value) {
    return port != nullptr && value.valid() && MayDiffer(node.op, *port) && g.type(value) != g.type(node.inputs[0]);
  };
  for (int i = 1; i < count; ++i) {
    if (differs(InputPort(node.op, i, count), node.inputs[i])) return true;
  }
  return !node.outputs.empty() && differs(OutputPort(node.op, 0), node.outputs[0]);
}

class Splitter {
 public:
  Splitter(GraphEditor& edit, const FileDialect& file) : edit_(edit), g_(edit.graph()), file_(file) {}

  absl::Status Split(NodeId id) {
    const bool rounds = RoundsOperands(g_, id);
    if (!rounds && !IsMixed(g_, id)) return absl::OkStatus();
    if (!MathModeOps().has(g_.op(id))) return EndInCast(id, g_.type(g_.input(id, 0)));
    if (DialectSays(id)) return SetAddends(id, g_.type(g_.output(id)));
    if (rounds) {
      edit_.EraseAttribute(id, "math_mode");
      HALFTONE_RETURN_IF_ERROR(SetInputType(id, 0, kBf16));
      HALFTONE_RETURN_IF_ERROR(SetInputType(id, kWeightsInput, kBf16));
      if (DialectSays(id)) return SetAddends(id, g_.type(g_.output(id)));
    }
    return SplitProduct(id);
  }

 private:
  // Whether the dialect has an op for the operands and the result; SplitFused splits off the rest.
  bool DialectSays(NodeId id) {
    const NodeId bare = edit_.Clone(id);
    for (const int input : {kBiasInput, kResidualInput}) {
      if (g_.input(bare, input).valid()) edit_.SetInput(bare, input, kNoValue);
    }
    for (const char* part : {"scale", "activation", "activation_alpha", "activation_beta", "activation_first"})
      edit_.EraseAttribute(bare, part);
    const bool says = file_.Writes(g_, bare);
    edit_.RemoveNode(bare);
    return says;
  }

  // The value as `type`, for `reader`.
  absl::StatusOr<ValueId> As(ValueId value, DataType type, NodeId reader) {
    if (g_.type(value) == type) return value;
    const auto key = std::pair(value, type);
    if (const auto it = converted_.find(key); it != converted_.end()) return it->second;
    const NodeId from = g_.producer(value);
    const std::string base = g_.value(value).name.empty() ? g_.Label(from) : g_.value(value).name;
    const std::string name = FreshName(g_, Concat(base, "/", DataTypeName(type)));
    ValueId result;
    if (const Tensor* constant = g_.ConstantTensor(value); constant != nullptr && !g_.HasControlEdges(from)) {
      absl::StatusOr<Tensor> tensor = constant->ConvertTo(type);
      if (!tensor.ok()) return Annotate(tensor.status(), AbslView(Concat("constant '", base, "'")));
      result = edit_.AddConstant(name, *std::move(tensor));
    } else {
      Node cast;
      cast.op = OpKind::kCast;
      cast.name = name;
      cast.inputs = {value};
      cast.device = g_.node(from).device;
      cast.origin = g_.node(reader).origin;
      result = g_.output(edit_.AddNode(std::move(cast), {{type, g_.shape(value), ""}}));
    }
    converted_.emplace(key, result);
    return result;
  }

  absl::Status SetInputType(NodeId id, int input, DataType type) {
    const ValueId value = g_.input(id, input);
    if (!value.valid()) return absl::OkStatus();
    HALFTONE_ASSIGN_OR_RETURN(const ValueId converted, As(value, type, id));
    edit_.SetInput(id, input, converted);
    return absl::OkStatus();
  }

  // Bias and residual, which are inputs 2 and 3 of conv and matmul; gemm's and conv_transpose's one is input 2.
  absl::Status SetAddends(NodeId id, DataType type) {
    HALFTONE_RETURN_IF_ERROR(SetInputType(id, kBiasInput, type));
    return IsContraction(g_, id) ? SetInputType(id, kResidualInput, type) : absl::OkStatus();
  }

  // A copy of the node with a result of this type, called NAME/op.
  NodeId Inner(NodeId id, DataType type) {
    const NodeId inner = edit_.Clone(id);
    edit_.SetType(g_.output(inner), type);
    edit_.SetName(inner, FreshName(g_, Concat(g_.Label(id), "/", OpName(g_.op(id)))));
    return inner;
  }

  // Everything in `type`, its result cast to what it was.
  absl::Status EndInCast(NodeId id, DataType type) {
    const ValueSpec result{g_.type(g_.output(id)), g_.shape(g_.output(id)), ""};
    if (result.type == type) return absl::OkStatus();
    const NodeId inner = Inner(id, type);
    Parts parts(edit_, id);
    parts.Finish(parts.Apply(OpKind::kCast, {g_.output(inner)}, result));
    return absl::OkStatus();
  }

  absl::Status SplitProduct(NodeId id) {
    if (g_.type(g_.input(id, 0)) != g_.type(g_.input(id, kWeightsInput))) {
      HALFTONE_RETURN_IF_ERROR(SetInputType(id, 0, kF32));
      HALFTONE_RETURN_IF_ERROR(SetInputType(id, kWeightsInput, kF32));
    }
    const DataType operand = g_.type(g_.input(id, 0)), result = g_.type(g_.output(id));
    if (operand != kF32 && result == kF32 && IsContraction(g_, id)) return SplitAddends(id, operand);
    HALFTONE_RETURN_IF_ERROR(SetAddends(id, operand));
    return EndInCast(id, operand);
  }

  // A conv or matmul of a narrow type with a result of f32: parts up to the first one that is not of that type stay,
  // the others are nodes of f32 after the cast.
  absl::Status SplitAddends(NodeId id, DataType narrow) {
    const bool conv = g_.op(id) == OpKind::kConv;
    const ValueId bias = g_.input(id, kBiasInput), residual = g_.input(id, kResidualInput);
    // Without bias_add only a constant can be added along the channels of an image.
    if (bias.valid() && conv && !file_.has(FileFeature::kBiasAdd) && !g_.IsConstant(bias)) {
      HALFTONE_RETURN_IF_ERROR(SetInputType(id, kBiasInput, narrow));
    }
    const auto stays = [&](int input) {
      return !g_.input(id, input).valid() || g_.type(g_.input(id, input)) == narrow;
    };
    const bool keeps_bias = stays(kBiasInput), keeps_residual = keeps_bias && stays(kResidualInput);
    const bool first = g_.node(id).attributes.Bool("activation_first", false);
    const bool keeps_activation = first ? keeps_bias : keeps_residual;
    if (keeps_bias && keeps_residual && keeps_activation) return EndInCast(id, narrow);

    const ValueSpec result{kF32, g_.shape(g_.output(id)), ""};
    const NodeId inner = Inner(id, narrow);
    if (residual.valid() && !keeps_residual) edit_.SetInput(inner, kResidualInput, kNoValue);
    if (!keeps_residual) edit_.EraseAttribute(inner, "activation_first");
    if (bias.valid() && !keeps_bias) edit_.SetInput(inner, kBiasInput, kNoValue);
    if (!keeps_activation) {
      for (const char* part : {"activation", "activation_alpha", "activation_beta", "activation_first"})
        edit_.EraseAttribute(inner, part);
    }
    Parts parts(edit_, id);
    ValueId y = parts.Apply(OpKind::kCast, {g_.output(inner)}, result);
    if (bias.valid() && !keeps_bias) {
      HALFTONE_ASSIGN_OR_RETURN(y, AddBias(id, y, result, parts));
    }
    if (first && !keeps_activation) y = parts.Activate(y);
    if (residual.valid() && !keeps_residual) {
      HALFTONE_ASSIGN_OR_RETURN(const ValueId addend, As(residual, kF32, id));
      y = parts.Apply(OpKind::kAdd, {y, addend}, result);
    }
    if (!first && !keeps_activation) y = parts.Activate(y);
    parts.Finish(y);
    return absl::OkStatus();
  }

  // Adds the bias of `id` after the cast `y`.
  absl::StatusOr<ValueId> AddBias(NodeId id, ValueId y, const ValueSpec& result, Parts& parts) {
    const bool conv = g_.op(id) == OpKind::kConv;
    const std::string layout = conv ? g_.node(id).attributes.String("layout", "NCHW") : "NHWC";
    HALFTONE_ASSIGN_OR_RETURN(ValueId bias, As(g_.input(id, kBiasInput), kF32, id));
    if (file_.has(FileFeature::kBiasAdd)) {
      Attributes attributes;
      attributes.Set("layout", layout);
      return parts.Apply(OpKind::kBiasAdd, {y, bias}, result, std::move(attributes));
    }
    if (layout == "NCHW") {  // [C, 1, 1]
      const Tensor& vector = *g_.ConstantTensor(bias);
      std::vector<int64_t> dims(g_.shape(g_.input(id, kWeightsInput)).rank() - 1, 1);
      dims[0] = vector.num_elements();
      bias = parts.Constant("bias", vector.WithDims(dims));
    }
    return parts.Apply(OpKind::kAdd, {y, bias}, result);
  }

  GraphEditor& edit_;
  const Graph& g_;
  const FileDialect& file_;
  std::map<std::pair<ValueId, DataType>, ValueId> converted_;
};

}  // namespace

absl::Status SplitMixedTypes::Run(GraphEditor& edit, PassContext&) const {
  Splitter splitter(edit, file_);
  for (const NodeId id : edit.graph().nodes()) {
    if (absl::Status status = splitter.Split(id); !status.ok())
      return Annotate(std::move(status), Concat("node '", edit.graph().Label(id), "'"));
  }
  return absl::OkStatus();
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/import_rules.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/element_types.h"
#include "formats/onnx/fused_rules.h"
#include "formats/onnx/quantize_rules.h"
#include "formats/onnx/recurrent_rules.h"
#include "formats/onnx/tensor_rules.h"
#include "ir/shape_inference.h"
#include "ir/tensor.h"

namespace halftone::onnx_format {
namespace {

// What the scales of a Resize of opset 10 do.
enum class Scaling { kUnknown, kLarger, kSmaller, kBoth };
Scaling ScalingOf(const NodeInFile& node) {
  const Tensor* tensor = node.HasInput(1) ? node.graph.ConstantTensor(node.inputs[1]) : nullptr;
  if (tensor == nullptr || tensor->type() != DataType::kFloat32) return Scaling::kUnknown;
  const std::vector<float> values = tensor->ToFloats();
  if (std::all_of(values.begin(), values.end(), [](float v) { return v >= 1; })) return Scaling::kLarger;
  return std::all_of(values.begin(), values.end(), [](float v) { return v <= 1; }) ? Scaling::kSmaller : Scaling::kBoth;
}

}  // namespace

std::string_view DropoutIsOpaque(const NodeInFile& node) {
  if (node.opset < 10 && node.IsRead(1)) return "its mask is no bool before opset 10";
  return "";
}

std::string_view BatchNormIsOpaque(const NodeInFile& node) {
  if (node.Int("spatial", 1) == 0) return "its statistics are per activation (spatial = 0)";
  for (size_t i = 2; i < 5 && node.HasInput(1) && node.HasInput(i); ++i) {
    if (node.graph.type(node.inputs[i]) != node.graph.type(node.inputs[1]))
      return "its statistics are of several types";
  }
  const bool training = node.Int("training_mode", 0) != 0;  // since opset 14
  return node.proto.output_size() > 1 && !training ? "it makes statistics, as in training" : "";
}

std::string_view TransposeIsOpaque(const NodeInFile& node) {
  if (node.Find("perm") != nullptr || !node.HasInput(0)) return "";
  return node.graph.shape(node.inputs[0]).has_rank() ? "" : "it reverses dimensions of unknown number";
}

std::string_view CastIsOpaque(const NodeInFile& node) {
  return FromOnnxType(static_cast<int>(node.Int("to", 0))) == DataType::kUnknown ? "a type that is not supported" : "";
}

std::string_view ResizeIsOpaque(const NodeInFile& node) {
  if (node.opset >= 11) return "";
  // Opset 10 does not say how nearest rounds. ONNX Runtime rounds down where an axis gets larger, else up.
  const Scaling scaling = ScalingOf(node);
  const bool one_way = scaling == Scaling::kLarger || scaling == Scaling::kSmaller;
  if (one_way || node.String("mode", "nearest") != "nearest") return "";
  return "rounding of nearest is not the same on all axes, or not known, in opset 10";
}

absl::Status CheckKernelShape(const NodeInFile& node, GraphEditor&, Node& canonical) {
  const onnx::AttributeProto* kernel = node.Find("kernel_shape");
  if (kernel == nullptr || canonical.inputs.size() < 2 || !canonical.inputs[1].valid()) return absl::OkStatus();
  const Shape& weights = node.graph.shape(canonical.inputs[1]);
  if (!weights.fully_known()) return absl::OkStatus();
  const std::vector<int64_t> dims = weights.values();
  if (dims.size() >= 2 && std::equal(dims.begin() + 2, dims.end(), kernel->ints().begin(), kernel->ints().end())) {
    return absl::OkStatus();  // the exporter writes it again, from the weights
  }
  const std::vector<int64_t> said(kernel->ints().begin(), kernel->ints().end());
  return absl::InvalidArgumentError(
      Concat("kernel_shape is ", Shape::Of(said).ToString(), ", but the weights are ", weights.ToString()));
}

// Before opset 13 softmax takes its input as a matrix cut at `axis`, 1 by default; along the last axis it is the same.
absl::Status FinishSoftmax(const NodeInFile& node, GraphEditor&, Node& canonical) {
  if (node.opset >= 13) return absl::OkStatus();
  const int64_t axis = canonical.attributes.Int("axis", 1);
  const Shape shape = node.HasInput(0) ? node.graph.shape(node.inputs[0]) : Shape();
  const bool is_last = axis == -1 || (shape.has_rank() && axis == shape.rank() - 1);
  canonical.attributes.Set("axis", is_last ? int64_t{-1} : axis);
  if (!is_last) canonical.attributes.Set("flatten", true);
  return absl::OkStatus();
}

absl::Status FinishTranspose(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  if (canonical.inputs.size() != 1 || !canonical.inputs[0].valid()) return absl::OkStatus();
  std::vector<int64_t> perm(node.graph.shape(canonical.inputs[0]).rank());
  std::iota(perm.rbegin(), perm.rend(), 0);
  canonical.inputs.push_back(edit.AddConstant("", Tensor::Ints(perm)));
  return absl::OkStatus();
}

absl::Status FinishResize(const NodeInFile& node, GraphEditor&, Node& canonical) {
  if (node.opset >= 11) return absl::OkStatus();
  if (canonical.inputs.size() == 2) canonical.inputs.insert(canonical.inputs.begin() + 1, kNoValue);  // (x, scales)
  canonical.attributes.Set("coordinate_transformation_mode", std::string("asymmetric"));
  canonical.attributes.Set("nearest_mode", std::string(ScalingOf(node) == Scaling::kSmaller ? "ceil" : "floor"));
  return absl::OkStatus();
}

absl::StatusOr<ValueId> AddBefore(GraphEditor& edit, OpKind op, std::vector<ValueId> inputs, Attributes attributes) {
  for (size_t i = 0; i < inputs.size() && i < 2; ++i) {
    if (!inputs[i].valid()) return absl::InvalidArgumentError(Concat("operand ", i, " is missing"));
  }
  const NodeId id = edit.Add(op, "", std::move(inputs), ValueSpec{}, std::move(attributes));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<ValueSpec> specs, InferNode(edit.graph(), id));
  const ValueId value = edit.graph().output(id);
  edit.SetType(value, specs[0].type);
  edit.SetShape(value, specs[0].shape);
  return value;
}

bool SaysOutputType(std::string_view attribute) {
  return attribute == "to" || attribute == "dtype" || attribute == "output_datatype" || attribute == "output_dtype";
}

bool IsReadByRule(std::string_view onnx_op, std::string_view attribute) {
  if (SaysOutputType(attribute) || IsReadByRecurrentRule(onnx_op, attribute)) return true;
  if (IsReadByFusedRule(onnx_op, attribute)) return true;
  if (IsReadByTensorRule(onnx_op, attribute) || IsReadByQuantizeRule(onnx_op, attribute)) return true;
  const bool has_weights = onnx_op == "Conv" || onnx_op == "ConvTranspose" || onnx_op == "DeformConv";
  return (has_weights && attribute == "kernel_shape") || (onnx_op == "Cast" && attribute == "to") ||
         (onnx_op == "BatchNormalization" && attribute == "spatial") ||
         (onnx_op == "Upsample" && attribute == "scales");
}

}  // namespace halftone::onnx_format

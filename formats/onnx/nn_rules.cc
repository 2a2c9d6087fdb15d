// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/nn_rules.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/export_rules.h"
#include "formats/onnx/node_writer.h"
#include "ir/tensor.h"

namespace halftone::onnx_format {
namespace {

constexpr int kLayerNormSince = 17;

constexpr int kScales = 2;  // input of kResize

ValueId Input(const Node& node, size_t i) { return i < node.inputs.size() ? node.inputs[i] : kNoValue; }

// Upsample's scales, from wherever its opset has them; empty if they are not constant.
std::vector<float> ScalesOf(const NodeInFile& node) {
  if (node.opset < 9) {
    const onnx::AttributeProto* scales = node.Find("scales");
    return scales == nullptr ? std::vector<float>{}
                             : std::vector<float>(scales->floats().begin(), scales->floats().end());
  }
  const Tensor* tensor = node.HasInput(1) ? node.graph.ConstantTensor(node.inputs[1]) : nullptr;
  return tensor == nullptr || tensor->type() != DataType::kFloat32 ? std::vector<float>{} : tensor->ToFloats();
}

// Names of GridSample's modes before opset 20, and since.
struct Word {
  std::string_view old_word, new_word;
};
constexpr Word kGridModes[] = {{"bilinear", "linear"}, {"bicubic", "cubic"}};

}  // namespace

// ---- Import.

std::string_view UpsampleIsOpaque(const NodeInFile& node) {
  if (node.opset >= 10) return "there is no Upsample since opset 10";
  const std::vector<float> scales = ScalesOf(node);
  const bool grows = std::all_of(scales.begin(), scales.end(), [](float scale) { return scale >= 1; });
  return grows ? "" : "it makes its input smaller, which it may not";
}

absl::Status FinishUpsample(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  if (node.opset < 9) {
    const std::vector<float> scales = ScalesOf(node);
    if (scales.empty()) return absl::InvalidArgumentError("attribute 'scales' is missing");
    canonical.inputs.resize(kScales + 1, kNoValue);
    canonical.inputs[kScales] =
        edit.AddConstant("", Tensor::Of<float>({static_cast<int64_t>(scales.size())}, std::span<const float>(scales)));
  } else if (canonical.inputs.size() == 2) {  // (x, scales)
    canonical.inputs.insert(canonical.inputs.begin() + 1, kNoValue);
  } else {
    return absl::InvalidArgumentError("input 'scales' is missing");
  }
  canonical.attributes.Set("coordinate_transformation_mode", std::string("asymmetric"));
  canonical.attributes.Set("nearest_mode", std::string("floor"));
  return absl::OkStatus();
}

absl::Status FinishGroupNorm(const NodeInFile& node, GraphEditor&, Node& canonical) {
  if (node.opset < 21) canonical.attributes.Set("per_group", true);
  return absl::OkStatus();
}

absl::Status FinishGridSample(const NodeInFile&, GraphEditor&, Node& canonical) {
  const std::string mode = canonical.attributes.String("mode", "");
  for (const Word& word : kGridModes) {
    if (mode == word.old_word) canonical.attributes.Set("mode", std::string(word.new_word));
  }
  return absl::OkStatus();
}

absl::Status FinishRoiAlign(const NodeInFile& node, GraphEditor&, Node& canonical) {
  if (node.opset < 16) canonical.attributes.Set("coordinate_transformation_mode", std::string("output_half_pixel"));
  return absl::OkStatus();
}

// ONNX Runtime's LayerNormalization keeps its name in old opsets.
absl::Status FinishLayerNorm(const NodeInFile& node, GraphEditor&, Node& canonical) {
  if (node.opset < kLayerNormSince) canonical.spelling = "LayerNormalization";
  return absl::OkStatus();
}

absl::Status KeepDomain(const NodeInFile& node, GraphEditor&, Node& canonical) {
  canonical.domain = node.proto.domain();
  return absl::OkStatus();
}

// ---- Opsets.

int UpsampleMinOpset(const Graph& graph, const Node& node) {
  const Tensor* scales = graph.ConstantTensor(Input(node, kScales));
  return scales != nullptr && scales->type() == DataType::kFloat32 ? 7 : 9;
}

int GroupNormMinOpset(const Graph&, const Node& node) { return node.attributes.Bool("per_group", false) ? 18 : 21; }

int GridSampleMinOpset(const Graph& graph, const Node& node) {
  const Shape& x = graph.shape(Input(node, 0));
  return x.has_rank() && x.rank() != 4 ? 20 : 16;
}

int RoiAlignMinOpset(const Graph&, const Node& node) {
  return node.attributes.String("coordinate_transformation_mode", "half_pixel") == "output_half_pixel" ? 10 : 16;
}

// ---- Writing.

absl::Status WriteUpsample(NodeWriter& writer, NodeId id) {
  if (writer.opset() >= 10) return WriteResize(writer, id);
  const Graph& graph = writer.graph();
  const Node& node = graph.node(id);
  std::vector<std::string> inputs = {writer.Read(Input(node, 0))};
  if (writer.opset() == 9) inputs.push_back(writer.Read(Input(node, kScales)));
  onnx::NodeProto& proto = writer.Add("Upsample", std::move(inputs), writer.Made(id));
  if (!node.name.empty()) proto.set_name(node.name);
  if (node.attributes.has("mode")) {
    onnx::AttributeProto& mode = *proto.add_attribute();
    mode.set_name("mode");
    mode.set_type(onnx::AttributeProto::STRING);
    mode.set_s(node.attributes.String("mode", ""));
  }
  if (writer.opset() < 9) {
    const Tensor* scales = graph.ConstantTensor(Input(node, kScales));
    if (scales == nullptr) return absl::UnimplementedError("scales must be constant before opset 9");
    onnx::AttributeProto& attribute = *proto.add_attribute();
    attribute.set_name("scales");
    attribute.set_type(onnx::AttributeProto::FLOATS);
    for (const float scale : scales->ToFloats()) attribute.add_floats(scale);
  }
  return absl::OkStatus();
}

absl::Status WriteWithKernelShape(NodeWriter& writer, NodeId id) {
  const Graph& graph = writer.graph();
  HALFTONE_ASSIGN_OR_RETURN(onnx::NodeProto* const proto,
                            writer.WriteByRow(id, *FindRow(graph.op(id), graph.node(id).spelling)));
  const Shape& weights = graph.shape(graph.input(id, 1));
  if (weights.fully_known() && weights.rank() > 2) {
    const std::vector<int64_t> dims = weights.values();
    SetInts(*proto, "kernel_shape", {dims.begin() + 2, dims.end()});
  }
  return absl::OkStatus();
}

// One number per group becomes one per channel where the opset requires it: [G] -> [G, 1] -> [G, C / G] -> [C].
absl::Status WriteGroupNorm(NodeWriter& writer, NodeId id) {
  const Graph& graph = writer.graph();
  const Node& node = graph.node(id);
  const bool per_group = node.attributes.Bool("per_group", false);
  if (node.attributes.String("layout", "NCHW") != "NCHW") return absl::UnimplementedError("layout NHWC");
  std::vector<std::string> inputs = {writer.Read(Input(node, 0))};
  for (const size_t i : {1, 2}) {
    std::string name = writer.Read(Input(node, i));
    if (per_group && writer.opset() >= 21) {
      const Shape& x = graph.shape(Input(node, 0));
      const int64_t groups = node.attributes.Int("num_groups", 1);
      if (!x.has_rank() || x.rank() < 2 || !x.dim(1).known() || groups < 1)
        return absl::UnimplementedError("parameters of groups need a known number of channels");
      const std::vector<int64_t> column{groups, 1}, matrix{groups, x.dim(1).value / groups}, vector{x.dim(1).value};
      const auto step = [&](std::string_view op, std::string_view what, const std::vector<int64_t>& dims) {
        const std::string next = writer.Fresh(name + std::string(what));
        writer.Add(op, {name, writer.AddConstant(Tensor::Ints(dims), "shape")}, {next});
        name = next;
      };
      step("Reshape", "_column", column);
      step("Expand", "_channels", matrix);
      step("Reshape", "_vector", vector);
    }
    inputs.push_back(name);
  }
  onnx::NodeProto& proto = writer.Add("GroupNormalization", std::move(inputs), writer.Made(id));
  if (!node.name.empty()) proto.set_name(node.name);
  if (node.attributes.has("epsilon")) SetFloat(proto, "epsilon", node.attributes.Float("epsilon", 0));
  SetInt(proto, "num_groups", node.attributes.Int("num_groups", 1));
  if (node.extra.has("stash_type")) SetInt(proto, "stash_type", node.extra.Int("stash_type", 1));
  return absl::OkStatus();
}

absl::Status WriteGridSample(NodeWriter& writer, NodeId id) {
  HALFTONE_ASSIGN_OR_RETURN(onnx::NodeProto* const proto, writer.WriteByRow(id, *FindRow(OpKind::kGridSample)));
  if (writer.opset() >= 20) return absl::OkStatus();
  for (onnx::AttributeProto& attribute : *proto->mutable_attribute()) {
    for (const Word& word : kGridModes) {
      if (attribute.name() == "mode" && attribute.s() == word.new_word) attribute.set_s(std::string(word.old_word));
    }
  }
  return absl::OkStatus();
}

// Where the opset has no layer norm: (x - mean) / sqrt(mean of squares + epsilon) * scale + offset.
absl::Status WriteLayerNorm(NodeWriter& writer, NodeId id) {
  const Graph& graph = writer.graph();
  const Node& node = graph.node(id);
  if (writer.opset() >= kLayerNormSince) return writer.WriteByRow(id, *FindRow("", "LayerNormalization")).status();
  if (node.outputs.size() != 1) {
    return absl::UnimplementedError("a layer norm with statistics, which opsets before 17 have no nodes for");
  }
  const Shape& shape = graph.shape(node.inputs[0]);
  int64_t axis = node.attributes.Int("axis", -1);
  if (axis >= 0 && !shape.has_rank()) return absl::UnimplementedError("a layer norm of an unknown rank");
  if (axis >= 0) axis -= shape.rank();
  std::vector<int64_t> axes(-axis);
  std::iota(axes.begin(), axes.end(), shape.has_rank() ? axis + shape.rank() : axis);
  const std::string x = writer.Read(node.inputs[0]);
  const auto part = [&](std::string_view op_type, std::vector<std::string> inputs) {
    const std::string y = writer.Fresh(x + "_norm");
    writer.Add(op_type, std::move(inputs), {y});
    return y;
  };
  const auto mean_of = [&](const std::string& value) {
    const std::string y = writer.Fresh(x + "_mean");
    SetInts(writer.Add("ReduceMean", {value}, {y}), "axes", axes);
    return y;
  };
  const std::string centred = part("Sub", {x, mean_of(x)});
  HALFTONE_ASSIGN_OR_RETURN(
      Tensor epsilon, Tensor::Scalar(node.attributes.Float("epsilon", 1e-5f)).ConvertTo(graph.type(node.inputs[0])));
  const std::string variance = mean_of(part("Mul", {centred, centred}));
  const std::string sum = part("Add", {variance, writer.AddConstant(std::move(epsilon), x + "_epsilon")});
  const std::string normal = part("Div", {centred, part("Sqrt", {sum})});
  const bool has_offset = Input(node, 2).valid();
  const std::string scale = writer.Read(node.inputs[1]);
  onnx::NodeProto& last =
      has_offset ? writer.Add("Add", {part("Mul", {normal, scale}), writer.Read(node.inputs[2])}, writer.Made(id))
                 : writer.Add("Mul", {normal, scale}, writer.Made(id));
  if (!node.name.empty()) last.set_name(node.name);
  return absl::OkStatus();
}

absl::Status WriteRmsNorm(NodeWriter& writer, NodeId id) {
  HALFTONE_ASSIGN_OR_RETURN(onnx::NodeProto* const proto, writer.WriteByRow(id, *FindRow(OpKind::kRmsNorm)));
  proto->set_domain(writer.graph().node(id).domain);
  return absl::OkStatus();
}

}  // namespace halftone::onnx_format

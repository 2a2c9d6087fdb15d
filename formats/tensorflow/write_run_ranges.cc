// SPDX-License-Identifier: Apache-2.0
// Quantization whose range is computed at run time, and matmuls of its results, by the ops of quantize_graph.py's
// unfrozen stage:
//
//   q, s, z = dynamic_quantize_linear(x)                 QuantizeV2 by the Min and Max of x, with mode MIN_FIRST
//   dequantize_linear(q, s, z)                           Dequantize with mode MIN_FIRST
//   matmul_integer_to_float(q, w, s, sw, z, zw, c)       QuantizedMatMulWithBias, and AndRelu where there is one, of
//                                                        s8; QuantizedMatMul of u8 with a zero point, followed by
//                                                        what it does not compute. Dequantize with mode SCALED converts
//                                                        the s32 sums to f32
//
// The steps are those of dynamic_quantize_linear, with 0 as one of them. Where they differ: QuantizeV2 rounds halves
// away from 0, ours to even; and its range is no narrower than kLeastRange, so that sums and bias fit into 32 bits.

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/element_types.h"
#include "formats/tensorflow/quantized_ranges.h"
#include "formats/tensorflow/write_node.h"
#include "formats/tensorflow/written_ranges.h"

namespace halftone::graphdef {
namespace {

using enum OpKind;

constexpr int kBias = 6;
constexpr float kLeastRange = 1e-4f;
constexpr float kLastStep = 255, kLastWeight = 127;
constexpr double kLargestBias = 1 << 30;  // in steps; sums take the other half of 32 bits

tf::AttrValue QuantizedType(DataType type) {
  tf::AttrValue value;
  value.set_type(QuantizedTfType(ToTfType(type)));
  return value;
}

// The dynamic_quantize_linear whose integers, scale and zero point these inputs are; kNoNode otherwise.
NodeId MakerOf(const Graph& graph, NodeId id, int integers, int scale, int zero) {
  const ValueId q = graph.input(id, integers);
  if (!q.valid() || graph.op(q) != kDynamicQuantizeLinear) return kNoNode;
  const NodeId maker = graph.producer(q);
  const auto is = [&](int input, int port) { return graph.input(id, input) == graph.output(maker, port); };
  return is(integers, 0) && is(scale, 1) && is(zero, 2) ? maker : kNoNode;
}

NodeId MakerOfOperand(const Graph& graph, NodeId reader) {
  if (graph.op(reader) == kDequantizeLinear) return MakerOf(graph, reader, 0, 1, 2);
  return graph.op(reader) == kMatMulIntegerToFloat ? MakerOf(graph, reader, 0, 2, 4) : kNoNode;
}

// Integers and both ends of their range.
std::vector<Source> Tensors(GraphWriter& out, NodeId maker) {
  const std::string& name = out.NameOf(maker);
  return {{name, DataType::kUInt8}, {name + ":1", DataType::kFloat32}, {name + ":2", DataType::kFloat32}};
}

// The constant 8-bit weights of a matmul with one scale, and their quantization. nullopt: no op expresses them.
struct Weights {
  bool is_signed = true;  // with zero points of 0; of u8 one
  float scale = 0;
  int64_t zero_point = 0;
};
std::optional<Weights> WeightsOf(const Graph& graph, NodeId id) {
  const ValueId w = graph.input(id, 1), zero = graph.input(id, 5);
  const Tensor* scale = graph.ConstantTensor(graph.input(id, 3));
  if (!graph.IsConstant(w) || !IsQuantizedConstant(graph, graph.producer(w)) || !graph.shape(w).has_rank() ||
      graph.shape(w).rank() != 2 || scale == nullptr || scale->type() != DataType::kFloat32 ||
      scale->num_elements() != 1) {
    return std::nullopt;
  }
  Weights weights{.is_signed = graph.type(w) == DataType::kInt8, .scale = scale->ToFloats()[0]};
  if (!zero.valid()) return weights;
  const Tensor* point = graph.ConstantTensor(zero);
  if (weights.is_signed || point == nullptr || point->num_elements() != 1) return std::nullopt;
  weights.zero_point = point->ToInts()[0];
  return weights;
}

// QuantizedMatMulWithBias takes the larger magnitude for 127; QuantizedMatMul the width for 255 steps.
EndsOfRange EndsOf(const Weights& weights) {
  if (weights.is_signed) {
    const float high = EndOfSteps(weights.scale, kLastWeight);
    return {-high, high};
  }
  const float low = -static_cast<float>(weights.zero_point) * weights.scale;
  return {low, low + EndOfSteps(weights.scale, kLastStep)};
}

// Added to sums of 32 bits, whatever the range is.
bool FitsIntoSums(const Tensor* bias, float weight_scale) {
  if (bias == nullptr) return false;
  const double step = static_cast<double>(kLeastRange) / kLastStep * weight_scale;
  for (const double number : bias->ToDoubles()) {
    if (!(std::abs(number) / step < kLargestBias)) return false;
  }
  return true;
}

// The parts of a matmul that its op does; the others come after it.
struct Form {
  NodeId maker;
  Weights weights;
  bool has_bias = false;  // the op asks for one
  bool adds = false, clips = false;
};

// REQUIRES: as WriteIntegerProduct has found it
Source WriteSums(GraphWriter& out, NodeId id, const Form& form) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  const std::string& name = out.NameOf(id);
  const std::vector<Source> q = Tensors(out, form.maker);
  std::vector<Source> inputs = {q[0], out.Input(id, 1)};
  if (form.adds) {
    inputs.push_back(out.Input(id, kBias));
  } else if (form.has_bias) {
    const Tensor zeros(DataType::kFloat32, {graph.shape(node.inputs[1]).dim(1).value});
    inputs.push_back(out.AddConst(name + "/bias", zeros, node.device));
  }
  const EndsOfRange ends = EndsOf(form.weights);
  inputs.insert(inputs.end(), {q[1], q[2]});
  inputs.push_back(out.AddConst(name + "/filter_min", Tensor::Scalar(ends.low), node.device));
  inputs.push_back(out.AddConst(name + "/filter_max", Tensor::Scalar(ends.high), node.device));
  AttrValues attrs;
  attrs["T1"] = QuantizedType(DataType::kUInt8);
  attrs["T2"] = QuantizedType(form.weights.is_signed ? DataType::kInt8 : DataType::kUInt8);
  if (form.has_bias && !form.clips) attrs["Tbias"] = TypeAttr(DataType::kFloat32);
  attrs["Toutput"] = QuantizedType(DataType::kInt32);
  for (const char* transpose : {"transpose_a", "transpose_b"}) attrs[transpose] = BoolAttr(false);
  if (form.has_bias) attrs["input_quant_mode"] = StringAttr("MIN_FIRST");
  const std::string op = Concat("QuantizedMatMul", form.has_bias ? "WithBias" : "", form.clips ? "AndRelu" : "");
  return out.Add(op, out.UniqueName(name + "/product"), id, inputs, std::move(attrs), DataType::kInt32);
}

}  // namespace

absl::Status WriteDynamicQuantize(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  for (const ValueId output : graph.node(id).outputs) {
    if (!output.valid()) continue;
    bool fits = !graph.IsOutput(output) && !graph.IsCaptured(output);
    for (const Use& use : graph.uses(output)) fits = fits && MakerOfOperand(graph, use.node) == id;
    if (!fits) {
      return Cannot(
          "a scale or zero point that is computed at run time and is a graph output or is read by another op than the "
          "matmuls and dequantizations of its integers");
    }
  }
  const std::string& name = out.NameOf(id);
  const Source x = out.Input(id, 0);
  AttrValues attrs = OneType(DataType::kFloat32);
  attrs["Tshape"] = TypeAttr(DataType::kInt32);
  const Source all = out.Add("Reshape", out.UniqueName(name + "/reshape"), id,
                             {x, Int32Const(out, id, "reshape_dims", {-1})}, std::move(attrs), DataType::kFloat32);
  std::vector<Source> inputs = {x};
  const Source dims = Int32Const(out, id, "reduction_dims", {0});
  for (const auto& [op, word] : {std::pair("Min", "/min"), std::pair("Max", "/max")}) {
    AttrValues reduction = OneType(DataType::kFloat32);
    reduction["Tidx"] = TypeAttr(DataType::kInt32);
    reduction["keep_dims"] = BoolAttr(false);
    inputs.push_back(
        out.Add(op, out.UniqueName(name + word), id, {all, dims}, std::move(reduction), DataType::kFloat32));
  }
  AttrValues quantize;
  quantize["T"] = QuantizedType(DataType::kUInt8);
  quantize["mode"] = StringAttr("MIN_FIRST");
  quantize["ensure_minimum_range"] = FloatAttr(kLeastRange);
  out.Add("QuantizeV2", name, id, inputs, std::move(quantize), DataType::kUInt8);
  return absl::OkStatus();
}

absl::Status WriteDequantizeByRun(GraphWriter& out, NodeId id) {
  const NodeId maker = MakerOfOperand(out.graph(), id);
  if (!maker.valid()) return Cannot("a dequantization by another range than that of its integers");
  AttrValues attrs;
  attrs["T"] = QuantizedType(DataType::kUInt8);
  attrs["mode"] = StringAttr("MIN_FIRST");
  out.Add("Dequantize", out.NameOf(id), id, Tensors(out, maker), std::move(attrs), DataType::kFloat32);
  return absl::OkStatus();
}

absl::Status WriteIntegerProduct(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  const NodeId maker = MakerOfOperand(graph, id);
  const std::optional<Weights> weights = WeightsOf(graph, id);
  const Shape& x = graph.shape(node.inputs[0]);
  const std::string activation = node.attributes.String("activation", "none");
  const bool relu = activation == "relu";
  if (!maker.valid() || !weights.has_value() || !x.has_rank() || x.rank() != 2 || !(relu || activation == "none"))
    return Cannot("this integer matmul");
  const ValueId c = graph.input(id, kBias);
  Form form{.maker = maker, .weights = *weights, .has_bias = weights->is_signed};
  form.adds = form.has_bias && c.valid() && FitsIntoSums(graph.ConstantTensor(c), weights->scale);
  form.clips = form.has_bias && relu && (form.adds || !c.valid());
  const bool adds_after = c.valid() && !form.adds, clips_after = relu && !form.clips;

  const Source sums = WriteSums(out, id, form);
  const std::string& name = out.NameOf(id);
  const auto part = [&](const char* word, bool is_last) { return is_last ? name : out.UniqueName(name + word); };
  AttrValues attrs;
  attrs["T"] = QuantizedType(DataType::kInt32);
  attrs["mode"] = StringAttr("SCALED");
  Source y = out.Add("Dequantize", part("/dequantize", !adds_after && !clips_after), id,
                     {sums, {sums.name + ":1", DataType::kFloat32}, {sums.name + ":2", DataType::kFloat32}},
                     std::move(attrs), DataType::kFloat32);
  if (adds_after) {
    y = out.Add("BiasAdd", part("/add", !clips_after), id, {y, out.Input(id, kBias)}, OneType(DataType::kFloat32),
                DataType::kFloat32);
  }
  if (clips_after) out.Add("Relu", name, id, {y}, OneType(DataType::kFloat32), DataType::kFloat32);
  return absl::OkStatus();
}

}  // namespace halftone::graphdef

// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/integer_groups.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"
#include "formats/onnx/node_writer.h"
#include "ir/quantization.h"

namespace halftone::onnx_format {

// The order of an operator's inputs. x, w, b and y each come with scale and zero point but for b, which has none.
enum class IntegerForm : uint8_t {
  kOfConv,     // x, w, y, b
  kOfGemm,     // x, w, b, y
  kOfProduct,  // x, w, y; the weights' scales, where there are many, are those of columns
  kOfBinary,   // x, x, y
  kOfUnary,    // x, y
  kOfConcat,   // y, x ...
  kOfBytes,    // the op itself on int8 or uint8: input and output have one scale and zero point
};

struct IntegerRow {
  OpKind op;
  IntegerForm form;
  std::string_view onnx = "";  // kOfBytes: that of the op
  std::string_view domain = "";
  int opset = 10;
};

namespace {

using enum OpKind;
using enum IntegerForm;

constexpr std::string_view kMicrosoft = "com.microsoft";

// Where an op has several rows the first that fits counts. Movers are the ops with int8 kernels in ONNX Runtime.
constexpr IntegerRow kRows[] = {
    {kConv, kOfConv, "QLinearConv"},
    {kMatMul, kOfProduct, "QLinearMatMul"},
    {kGemm, kOfGemm, "QGemm", kMicrosoft},
    {kAdd, kOfBinary, "QLinearAdd", kMicrosoft},
    {kMul, kOfBinary, "QLinearMul", kMicrosoft},
    {kAveragePool, kOfUnary, "QLinearAveragePool", kMicrosoft},
    {kGlobalAveragePool, kOfUnary, "QLinearGlobalAveragePool", kMicrosoft},
    {kLeakyRelu, kOfUnary, "QLinearLeakyRelu", kMicrosoft},
    {kSigmoid, kOfUnary, "QLinearSigmoid", kMicrosoft},
    {kMaxPool, kOfBytes, "", "", 12},
    {kReshape, kOfBytes},
    {kFlatten, kOfBytes},
    {kTranspose, kOfBytes},
    {kSqueeze, kOfBytes},
    {kUnsqueeze, kOfBytes},
    {kSlice, kOfBytes},
    {kGather, kOfBytes},
    {kConcat, kOfBytes},
    {kConcat, kOfConcat, "QLinearConcat", kMicrosoft},
};

// Scale and zero point of a quantize_linear or dequantize_linear that operators can express: f32 constants, no blocks.
struct Steps {
  const Tensor* scale = nullptr;
  const Tensor* zero_point = nullptr;  // nullptr: 0
  int64_t axis = 0;
  DataType type = DataType::kUnknown;  // of the integers

  bool per_tensor() const { return scale->num_elements() == 1; }
  int64_t zero(int64_t i = 0) const {
    if (zero_point == nullptr) return 0;
    if (type == DataType::kInt32) return zero_point->data<int32_t>()[i];
    return type == DataType::kUInt8 ? zero_point->data<uint8_t>()[i] : zero_point->data<int8_t>()[i];
  }
};

std::optional<Steps> StepsOf(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  Steps steps{.scale = graph.ConstantTensor(graph.input(id, 1)),
              .zero_point = graph.ConstantTensor(graph.input(id, 2)),
              .axis = node.attributes.Int("axis", 1),
              .type = graph.type(node.op == kQuantizeLinear ? graph.output(id) : graph.input(id, 0))};
  const bool missing = graph.input(id, 2).valid() && steps.zero_point == nullptr;
  const bool byte = steps.type == DataType::kUInt8 || steps.type == DataType::kInt8;
  if (steps.scale == nullptr || missing || node.attributes.Int("block_size", 0) != 0) return std::nullopt;
  if (steps.scale->type() != DataType::kFloat32 || steps.scale->rank() > 1 || steps.scale->num_elements() < 1) {
    return std::nullopt;
  }
  if (!byte && steps.type != DataType::kInt32) return std::nullopt;
  if (graph.type(node.op == kQuantizeLinear ? graph.input(id, 0) : graph.output(id)) != DataType::kFloat32) {
    return std::nullopt;
  }
  if (steps.zero_point != nullptr &&
      (steps.zero_point->type() != steps.type || steps.zero_point->num_elements() != steps.scale->num_elements())) {
    return std::nullopt;
  }
  return steps;
}

// Scale and zero point of the dequantize_linear that input i of the node reads.
std::optional<Steps> StepsOfInput(const Graph& graph, NodeId id, int i) {
  const ValueId value = graph.input(id, i);
  if (!value.valid() || graph.op(value) != kDequantizeLinear) return std::nullopt;
  return StepsOf(graph, graph.producer(value));
}

bool IsActivation(const std::optional<Steps>& steps, DataType type) {
  return steps.has_value() && steps->per_tensor() && steps->type == type;
}

// 8-bit integers with one scale, or constants with one scale per index of `axis`; u8 only with u8 data.
bool IsWeights(const Graph& graph, NodeId id, const std::optional<Steps>& steps, int64_t axis, DataType data) {
  if (!steps.has_value() || (steps->type != DataType::kInt8 && steps->type != data)) return false;
  if (steps->per_tensor()) return true;
  const ValueId weights = graph.input(id, 1);
  return graph.IsConstant(graph.input(graph.producer(weights), 0)) && steps->axis == axis;
}

// s32 integers whose scale is the product of two scales, up to the last bits of f32.
bool IsBias(const Graph& graph, NodeId id, const Steps& x, const Steps& weights) {
  const std::optional<Steps> bias = StepsOfInput(graph, id, 2);
  if (!bias.has_value() || bias->type != DataType::kInt32) return false;
  const int64_t count = bias->scale->num_elements(), channels = weights.scale->num_elements();
  if (count != channels && count != 1 && channels != 1) return false;
  for (int64_t i = 0; i < std::max(count, channels); ++i) {
    const float product = x.scale->data<float>()[0] * weights.scale->data<float>()[channels == 1 ? 0 : i];
    const float step = bias->scale->data<float>()[count == 1 ? 0 : i];
    constexpr float kLastBits = 4 * std::numeric_limits<float>::epsilon();
    if (!(std::abs(step - product) <= kLastBits * product) || bias->zero(count == 1 ? 0 : i) != 0) return false;
  }
  return true;
}

bool IsSame(const Steps& a, const Steps& b) {
  return a.per_tensor() && b.per_tensor() && a.type == b.type && a.zero() == b.zero() &&
         a.scale->data<float>()[0] == b.scale->data<float>()[0];
}

// Whether the range of the integers implies the activation: its bounds are at the limits or outside.
bool IsImplied(const Graph& graph, NodeId activation, const Steps& result) {
  double low = 0, high = std::numeric_limits<double>::infinity();
  if (graph.op(activation) == kRelu6) high = 6;
  if (graph.op(activation) == kClip) {
    const ValueId bounds[] = {graph.input(activation, 1), graph.input(activation, 2)};
    double* const ends[] = {&low, &high};
    low = -high;
    for (int i = 0; i < 2; ++i) {
      if (!bounds[i].valid()) continue;
      const std::optional<double> end = graph.ConstantScalar(bounds[i]);
      if (!end.has_value()) return false;
      *ends[i] = *end;
    }
  } else if (graph.op(activation) != kRelu && graph.op(activation) != kRelu6) {
    return false;
  }
  const std::optional<IntegerRange> range = QuantizedRange(result.type);
  const float scale = result.scale->data<float>()[0];
  const auto steps = [&](double end) { return std::nearbyint(static_cast<float>(end) / scale) + result.zero(); };
  return range.has_value() && steps(low) <= range->low && steps(high) >= range->high;
}

// The only consumer of the value; kNoNode where there is none or several.
NodeId OnlyReader(const Graph& graph, ValueId value) {
  if (!value.valid() || graph.IsOutput(value) || graph.uses(value).size() != 1) return kNoNode;
  return graph.uses(value)[0].node;
}

bool HasOneOutput(const Graph& graph, NodeId id) {
  const std::vector<ValueId>& outputs = graph.node(id).outputs;
  return std::none_of(outputs.begin() + 1, outputs.end(), [&](ValueId output) {
    return output.valid() && (graph.IsOutput(output) || !graph.uses(output).empty());
  });
}

bool IsOfRank(const Graph& graph, ValueId value, int rank) {
  return graph.shape(value).has_rank() && graph.shape(value).rank() == rank;
}

// Whether the operator has all attributes of the node, but for those that ONNX implies.
bool KnowsAttributes(const Node& node, const IntegerRow& row) {
  if (row.form == kOfBytes) return true;
  const std::span<const AttributeRow> known = FindRow(row.domain, row.onnx)->attributes;
  return std::all_of(node.attributes.begin(), node.attributes.end(), [&](const auto& attribute) {
    const auto& [name, value] = attribute;
    const std::string* text = std::get_if<std::string>(&value);
    if (name == "layout") return text != nullptr && *text == "NCHW";
    if (name == "weights_layout") return text != nullptr && *text == "OIHW";
    return std::any_of(known.begin(), known.end(), [&](const AttributeRow& one) { return one.canonical == name; });
  });
}

// The same for contractions with weights and, where the operator has one, a bias.
std::vector<int> InputsOfProduct(const Graph& graph, NodeId id, IntegerForm form, const Steps& x) {
  const Attributes& attributes = graph.node(id).attributes;
  const std::optional<Steps> w = StepsOfInput(graph, id, 1);
  const int64_t channels = form == kOfConv || attributes.Bool("transpose_b", false) ? 0 : 1;
  if (!IsWeights(graph, id, w, channels, x.type) || graph.input(id, 3).valid()) return {};
  const bool fixed = graph.IsConstant(graph.input(graph.producer(graph.input(id, 1)), 0));
  if (form == kOfConv && !fixed) return {};
  if (form == kOfProduct && !w->per_tensor() && !IsOfRank(graph, graph.input(id, 1), 2)) return {};
  if (!graph.input(id, 2).valid()) return {0, 1};
  if (form == kOfProduct || !IsBias(graph, id, x, *w)) return {};
  const bool scaled = attributes.Float("alpha", 1) != 1 || !IsOfRank(graph, graph.input(id, 2), 1);
  return form == kOfGemm && scaled ? std::vector<int>{} : std::vector<int>{0, 1, 2};
}

// The inputs that the group reads as integers; empty: it is none.
std::vector<int> IntegerInputs(const Graph& graph, NodeId id, const IntegerRow& row, const Steps& result) {
  const Node& node = graph.node(id);
  const std::optional<Steps> x = StepsOfInput(graph, id, 0);
  if (!IsActivation(x, result.type) || !KnowsAttributes(node, row)) return {};
  switch (row.form) {
    case kOfConv:
    case kOfGemm:
    case kOfProduct:
      return InputsOfProduct(graph, id, row.form, *x);
    case kOfBinary:
      return IsActivation(StepsOfInput(graph, id, 1), result.type) ? std::vector<int>{0, 1} : std::vector<int>{};
    case kOfUnary:
      return {0};
    case kOfConcat:
    case kOfBytes:
      break;
  }
  const int count = static_cast<int>(node.inputs.size());
  std::vector<int> data = {0};
  for (int i = 1; node.op == kConcat && i + 1 < count; ++i) data.push_back(i);  // the last one is the axis
  for (const int i : data) {
    const std::optional<Steps> part = StepsOfInput(graph, id, i);
    if (!IsActivation(part, result.type) || (row.form == kOfBytes && !IsSame(*part, result))) return {};
  }
  return data;
}

// Names of an operator's inputs.
class Inputs {
 public:
  explicit Inputs(NodeWriter& writer) : writer_(writer), graph_(writer.graph()) {}

  // What a dequantize_linear reads: integers, scale, zero point.
  void AddTensor(ValueId number) {
    const NodeId dequantize = graph_.producer(number);
    names_.push_back(writer_.Read(graph_.input(dequantize, 0)));
    AddSteps(dequantize, graph_.type(graph_.input(dequantize, 0)));
  }
  void AddSteps(NodeId pair, DataType type) {
    names_.push_back(writer_.Read(graph_.input(pair, 1)));
    const ValueId zero_point = graph_.input(pair, 2);
    if (zero_point.valid()) {
      names_.push_back(writer_.Read(zero_point));
    } else {
      names_.push_back(
          writer_.AddConstant(Tensor(type, graph_.ConstantTensor(graph_.input(pair, 1))->dims()), "zero_point"));
    }
  }
  void AddBias(ValueId number) {
    names_.push_back(number.valid() ? writer_.Read(graph_.input(graph_.producer(number), 0)) : "");
  }
  std::vector<std::string> Take() {
    while (!names_.empty() && names_.back().empty()) names_.pop_back();
    return std::move(names_);
  }

 private:
  NodeWriter& writer_;
  const Graph& graph_;
  std::vector<std::string> names_;
};

std::vector<std::string> InputsOf(NodeWriter& writer, const IntegerGroup& group) {
  const Graph& graph = writer.graph();
  const Node& node = graph.node(group.op);
  const IntegerForm form = group.row->form;
  const DataType type = graph.type(graph.output(group.quantize));
  Inputs inputs(writer);
  if (form == kOfConcat) {
    inputs.AddSteps(group.quantize, type);
    for (size_t i = 0; i + 1 < node.inputs.size(); ++i) inputs.AddTensor(node.inputs[i]);
    return inputs.Take();
  }
  inputs.AddTensor(node.inputs[0]);
  if (form != kOfUnary) inputs.AddTensor(node.inputs[1]);
  if (form == kOfGemm) inputs.AddBias(graph.input(group.op, 2));
  inputs.AddSteps(group.quantize, type);
  if (form == kOfConv) inputs.AddBias(graph.input(group.op, 2));
  return inputs.Take();
}

void SetKernelShape(const Graph& graph, NodeId conv, onnx::NodeProto& proto) {
  const Shape& weights = graph.shape(graph.input(conv, 1));
  if (!weights.fully_known() || weights.rank() < 3) return;
  const std::vector<int64_t> dims = weights.values();
  SetInts(proto, "kernel_shape", {dims.begin() + 2, dims.end()});
}

}  // namespace

IntegerGroups::IntegerGroups(const Graph& graph) {
  std::set<std::pair<NodeId, int>> taken;  // inputs that groups read as integers
  for (const NodeId quantize : graph.nodes()) {
    if (graph.op(quantize) != kQuantizeLinear) continue;
    const std::optional<Steps> result = StepsOf(graph, quantize);
    const ValueId number = graph.input(quantize, 0);
    if (!result.has_value() || !result->per_tensor() || OnlyReader(graph, number) != quantize) continue;
    NodeId op = graph.producer(number), activation = kNoNode;
    if (IsImplied(graph, op, *result) && OnlyReader(graph, graph.input(op, 0)) == op) {
      activation = op;
      op = graph.producer(graph.input(op, 0));
    }
    if (!HasOneOutput(graph, op)) continue;
    for (const IntegerRow& row : kRows) {
      if (row.op != graph.op(op) || (activation.valid() && row.form == kOfBytes)) continue;
      const std::vector<int> inputs = IntegerInputs(graph, op, row, *result);
      if (inputs.empty()) continue;
      groups_[quantize] = {op, quantize, &row};
      for (const int i : inputs) taken.insert({op, i});
      inside_.insert(op);
      if (activation.valid()) inside_.insert(activation);
      break;
    }
  }
  for (const NodeId id : graph.nodes()) {
    if (graph.op(id) != kDequantizeLinear || graph.IsOutput(graph.output(id))) continue;
    const std::vector<Use>& uses = graph.uses(graph.output(id));
    const bool all =
        std::all_of(uses.begin(), uses.end(), [&](const Use& use) { return taken.contains({use.node, use.index}); });
    if (all && !uses.empty()) inside_.insert(id);
  }
}

const IntegerGroup* IntegerGroups::Find(NodeId quantize) const {
  const auto it = groups_.find(quantize);
  return it == groups_.end() ? nullptr : &it->second;
}

std::set<std::string_view> IntegerGroups::Domains() const {
  std::set<std::string_view> domains;
  for (const auto& [quantize, group] : groups_) {
    if (!group.row->domain.empty()) domains.insert(group.row->domain);
  }
  return domains;
}

int IntegerGroups::MinOpset() const {
  int opset = 0;
  for (const auto& [quantize, group] : groups_) opset = std::max(opset, group.row->opset);
  return opset;
}

absl::Status WriteIntegerGroup(NodeWriter& writer, const IntegerGroup& group) {
  const Graph& graph = writer.graph();
  const ValueId result = graph.output(group.quantize);
  if (group.row->form == kOfBytes) {
    std::map<ValueId, ValueId> integers = {{graph.output(group.op), result}};
    for (const ValueId input : graph.node(group.op).inputs) {
      if (input.valid() && graph.op(input) == kDequantizeLinear) {
        integers[input] = graph.input(graph.producer(input), 0);
      }
    }
    return writer.WriteAs(group.op, std::move(integers));
  }
  const OpRow& row = *FindRow(group.row->domain, group.row->onnx);
  std::vector<std::string> inputs = InputsOf(writer, group);
  HALFTONE_ASSIGN_OR_RETURN(onnx::NodeProto* const proto,
                            writer.WriteOperator(group.op, row, std::move(inputs), result));
  if (group.row->form == kOfConv) SetKernelShape(graph, group.op, *proto);
  if (group.row->form == kOfConcat) {
    SetInt(*proto, "axis", graph.ConstantInts(graph.node(group.op).inputs.back()).value_or(std::vector<int64_t>{0})[0]);
  }
  return absl::OkStatus();
}

}  // namespace halftone::onnx_format

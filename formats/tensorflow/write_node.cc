// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/write_node.h"

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/node_import.h"

namespace halftone::graphdef {
namespace {

using enum OpKind;

absl::Status WriteDropout(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  if (node.outputs.size() > 1 && node.outputs[1].valid() && !graph.uses(node.outputs[1]).empty())
    return Cannot("the mask of a dropout");
  const DataType type = graph.type(node.outputs[0]);
  out.Add("Identity", out.NameOf(id), id, {out.Input(id, 0)}, OneType(type), type);
  return absl::OkStatus();
}

// The axes are an attribute.
absl::Status WriteSqueeze(GraphWriter& out, NodeId id) {
  return out.AddRow(id, *FindRow("Squeeze"), {out.Input(id, 0)});
}

// Ops that need more than their row. The others are written along it; those without a row cannot be.
struct Writer {
  OpKind kind;
  absl::Status (*write)(GraphWriter& out, NodeId id);
};
constexpr Writer kWriters[] = {
    {kConv, WriteConv},
    {kMaxPool, WritePool},
    {kAveragePool, WritePool},
    {kMatMul, WriteMatMul},
    {kGemm, WriteGemm},
    {kBiasAdd, WriteBiasAdd},
    {kClip, WriteClip},
    {kSoftmax, WriteSoftmax},
    {kLogSoftmax, WriteSoftmax},
    {kBatchNorm, WriteBatchNorm},
    {kGlobalAveragePool, WriteGlobalPool},
    {kReduceMean, WriteReduce},
    {kReduceSum, WriteReduce},
    {kReduceMax, WriteReduce},
    {kReduceMin, WriteReduce},
    {kReduceProd, WriteReduce},
    {kReduceL2, WriteReduce},
    {kReduceAll, WriteReduce},
    {kReduceAny, WriteReduce},
    {kReshape, WriteReshape},
    {kFlatten, WriteFlatten},
    {kSqueeze, WriteSqueeze},
    {kUnsqueeze, WriteUnsqueeze},
    {kResize, WriteNewResize},
    {kConcat, WriteConcat},
    {kPad, WritePad},
    {kSlice, WriteSlice},
    {kGather, WriteGather},
    {kScaledDotProductAttention, WriteAttention},
    {kQuantizeLinear, WriteQuantize},
    {kDequantizeLinear, WriteDequantize},
    {kDynamicQuantizeLinear, WriteDynamicQuantize},
    {kMatMulIntegerToFloat, WriteIntegerProduct},
};

// What one attribute of the canonical op expresses and TensorFlow's op cannot.
absl::Status CheckAttributes(const Node& node) {
  if (node.op == kShape && (node.attributes.has("start") || node.attributes.has("end")))
    return Cannot("a part of a shape");
  if (node.op == kDepthToSpace && node.attributes.String("mode", "DCR") != "DCR")
    return Cannot("depth to space with mode CRD");
  return absl::OkStatus();
}

}  // namespace

absl::Status Cannot(std::string_view what) {
  return absl::UnimplementedError(Concat(what, "; TensorFlow has no op for it"));
}

Source Int32Const(GraphWriter& out, NodeId id, std::string_view word, const std::vector<int64_t>& values) {
  return out.AddConst(Concat(out.NameOf(id), "/", word), Tensor::Ints(values, DataType::kInt32),
                      out.graph().node(id).device);
}

AttrValues OneType(DataType type) {
  AttrValues attrs;
  attrs["T"] = TypeAttr(type);
  return attrs;
}

bool HasInput(const Node& node, size_t i) { return i < node.inputs.size() && node.inputs[i].valid(); }

std::optional<int> RankOf(const Graph& graph, ValueId value) {
  const Shape& shape = graph.shape(value);
  return shape.has_rank() ? std::optional(shape.rank()) : std::nullopt;
}

namespace {

// Attributes that change the result and that TensorFlow's op does not have: only what it does anyway can be written.
bool IsUsual(OpKind op, std::string_view name, const AttributeValue& value) {
  const float* number = std::get_if<float>(&value);
  switch (op) {
    case kElu:
      return number != nullptr && *number == 1.0f;
    case kSelu:
      return number != nullptr && *number == (name == "alpha" ? 1.67326319f : 1.05070102f);
    case kArgMax:
    case kArgMin:
      return name != "select_last_index" || !std::get<bool>(value);
    default:
      return true;
  }
}

}  // namespace

absl::Status WriteRow(GraphWriter& out, NodeId id, const OpRow& row) {
  const Node& node = out.graph().node(id);
  for (const auto& [name, value] : node.attributes) {
    if (!IsUsual(node.op, name, value)) return Cannot(Concat("attribute '", name, "'"));
  }
  const auto count = static_cast<int>(node.inputs.size());
  const std::vector<int> order = ReadOrder(row.order, count);
  std::vector<Source> inputs;
  for (int i = 0; i < count; ++i) {
    const int from = i < static_cast<int>(order.size()) ? order[i] : kAbsentInput;
    if (from == kAbsentInput && !node.inputs[i].valid()) continue;
    if (from == kAbsentInput) return Cannot(Concat("input ", i));
    if (!node.inputs[i].valid()) return Cannot("an absent input");
    if (static_cast<int>(inputs.size()) <= from) inputs.resize(from + 1);
    inputs[from] = out.Input(id, i);
  }
  return out.AddRow(id, row, inputs);
}

absl::Status WriteNodes(GraphWriter& out) {
  const Graph& graph = out.graph();
  for (const NodeId id : graph.TopologicalOrder()) {
    const Node& node = graph.node(id);
    if (out.written().IsSilent(id)) continue;
    if (out.NameOf(id).empty() && node.op == kConstant) continue;  // written with its consumer
    const std::string what = node.op == kOpaque ? node.spelling : std::string(OpName(node.op));
    HALFTONE_RETURN_IF_ERROR(Annotate(WriteNode(out, id), Concat("node '", graph.Label(id), "' (", what, ")")));
  }
  return out.AddAliases();
}

absl::Status WriteNode(GraphWriter& out, NodeId id) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  if (node.op == kOpaque) return out.AddOpaque(id);
  if (node.op == kConstant) return out.AddConstant(id);
  if (node.op == kDropout) return WriteDropout(out, id);
  if (const std::vector<NodeId>* parts = out.written().PartsOf(id)) return out.AddParts(*parts);
  const QuantizedGroup* group = out.written().groups().Find(id);
  if (group != nullptr && node.op != kQuantizeLinear) return WriteDequantizedProduct(out, *group);
  if (const OpRow* row = OwnWriter(graph, id)) return row->write(out, id, *row);
  const auto* writer =
      std::find_if(std::begin(kWriters), std::end(kWriters), [&](const Writer& w) { return w.kind == node.op; });
  if (writer != std::end(kWriters)) return writer->write(out, id);
  const OpRow* row = SpelledRow(graph, id);
  if (row == nullptr || !RowFits(graph, id, *row) || row->write != nullptr)
    return Cannot(row == nullptr ? "this op" : "this form of the op");
  HALFTONE_RETURN_IF_ERROR(CheckAttributes(node));
  return WriteRow(out, id, *row);
}

}  // namespace halftone::graphdef

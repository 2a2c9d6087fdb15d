// SPDX-License-Identifier: Apache-2.0
// Cells of recurrent networks that TensorFlow has as one op: calls of a body that holds their defining parts, written
// again as the op while the body is what it was.
//
//   GRUBlockCell   r, u = sigmoid([x, h] w_ru + b_ru), halves in this order; c = tanh([x, r h] w_c + b_c);
//                  h' = u h + (1 - u) c
//   LSTMBlockCell  i, ci, f, o = [x, h] w + b, quarters in this order; f += forget_bias; with peepholes i += wci cs,
//                  f += wcf cs; cs' = sigmoid(i) tanh(ci) + sigmoid(f) cs, clipped to +-cell_clip if that is positive;
//                  with a peephole o += wco cs'; h' = tanh(cs') sigmoid(o)

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/extra.h"
#include "formats/tensorflow/function_library.h"
#include "formats/tensorflow/node_import.h"
#include "formats/tensorflow/row_parts.h"
#include "formats/tensorflow/write_node.h"
#include "ir/editor.h"
#include "ir/nested.h"

namespace halftone::graphdef {
namespace {

using enum OpKind;
using enum AttrForm;

constexpr char kHash[] = "body";  // appended to kExtraFunctionHash

// Writes a body: every value has the cell's type; shapes come with inference.
class Body {
 public:
  explicit Body(DataType type) : type_(type) { edit_.SetLayout(GraphLayout::kChannelsLast); }

  ValueId Input(std::string name) { return edit_.AddInput(std::move(name), type_, Shape()); }
  ValueId Apply(OpKind op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    return graph_.output(edit_.Add(op, "", std::move(inputs), {type_, Shape(), ""}, std::move(attributes)));
  }
  ValueId Add(ValueId a, ValueId b) { return Apply(kAdd, {a, b}); }
  ValueId Mul(ValueId a, ValueId b) { return Apply(kMul, {a, b}); }
  ValueId Number(float number) { return edit_.AddConstant("", *Tensor::Scalar(number).ConvertTo(type_)); }
  // [a, b] w + bias
  ValueId Dense(ValueId a, ValueId b, ValueId w, ValueId bias) {
    Attributes layout;
    layout.Set("layout", std::string("NHWC"));
    return Apply(kBiasAdd, {Apply(kMatMul, {Apply(kConcat, {a, b, ColumnAxis()}), w}), bias}, std::move(layout));
  }
  std::vector<ValueId> Split(ValueId x, int parts) {
    Node split;
    split.op = kSplit;
    split.inputs = {x, kNoValue, ColumnAxis()};
    const NodeId id = edit_.AddNode(std::move(split), std::vector<ValueSpec>(parts, {type_, Shape(), ""}));
    return graph_.node(id).outputs;
  }
  void Output(std::string name, ValueId value) { edit_.AddGraphOutput(std::move(name), value); }
  Graph Take() && { return std::move(graph_); }

 private:
  ValueId ColumnAxis() { return edit_.AddConstant("", Tensor::IntScalar(1, DataType::kInt32)); }

  const DataType type_;
  Graph graph_;
  GraphEditor edit_{graph_};
};

Graph GruBody(DataType type) {
  Body body(type);
  const ValueId x = body.Input("x"), h = body.Input("h_prev"), w_ru = body.Input("w_ru"), w_c = body.Input("w_c"),
                b_ru = body.Input("b_ru"), b_c = body.Input("b_c");
  const std::vector<ValueId> gates = body.Split(body.Apply(kSigmoid, {body.Dense(x, h, w_ru, b_ru)}), 2);
  const ValueId r = gates[0], u = gates[1];
  const ValueId c = body.Apply(kTanh, {body.Dense(x, body.Mul(r, h), w_c, b_c)});
  const ValueId rest = body.Apply(kSub, {body.Number(1), u});
  const ValueId state = body.Add(body.Mul(u, h), body.Mul(rest, c));
  body.Output("r", r);
  body.Output("u", u);
  body.Output("c", c);
  body.Output("h", state);
  return std::move(body).Take();
}

struct LstmSettings {
  float forget_bias = 0, cell_clip = 0;
  bool peepholes = false;
};

Graph LstmBody(DataType type, const LstmSettings& settings) {
  Body body(type);
  const ValueId x = body.Input("x"), old = body.Input("cs_prev"), h = body.Input("h_prev"), w = body.Input("w"),
                wci = body.Input("wci"), wcf = body.Input("wcf"), wco = body.Input("wco"), b = body.Input("b");
  const std::vector<ValueId> gates = body.Split(body.Dense(x, h, w, b), 4);
  ValueId i = gates[0], f = gates[2], o = gates[3];
  if (settings.forget_bias != 0) f = body.Add(f, body.Number(settings.forget_bias));
  if (settings.peepholes) {
    i = body.Add(i, body.Mul(old, wci));
    f = body.Add(f, body.Mul(old, wcf));
  }
  i = body.Apply(kSigmoid, {i});
  f = body.Apply(kSigmoid, {f});
  const ValueId ci = body.Apply(kTanh, {gates[1]});
  ValueId cs = body.Add(body.Mul(i, ci), body.Mul(old, f));
  if (settings.cell_clip > 0)
    cs = body.Apply(kClip, {cs, body.Number(-settings.cell_clip), body.Number(settings.cell_clip)});
  if (settings.peepholes) o = body.Add(o, body.Mul(cs, wco));
  o = body.Apply(kSigmoid, {o});
  const ValueId co = body.Apply(kTanh, {cs});
  const ValueId state = body.Mul(co, o);
  body.Output("i", i);
  body.Output("cs", cs);
  body.Output("f", f);
  body.Output("o", o);
  body.Output("ci", ci);
  body.Output("co", co);
  body.Output("h", state);
  return std::move(body).Take();
}

void Attach(Graph body, ConvertedNode& result) {
  const auto graph = std::make_shared<const Graph>(std::move(body));
  result.node.attributes.Set("body", graph);
  result.node.extra.Set(Concat(kExtraFunctionHash, kHash), NestedGraphHash(*graph));
}

// Builds of Intel's know a variant with the reset gate after the matmul (lbr), which is not read.
absl::StatusOr<bool> ReadGruCell(const RuleInput& input, ConvertedNode& result) {
  HALFTONE_ASSIGN_OR_RETURN(const bool linear, input.Bool("lbr", false));
  if (linear) return false;
  Attach(GruBody(result.input_types[0]), result);
  return true;
}

absl::StatusOr<bool> ReadLstmCell(const RuleInput& input, ConvertedNode& result) {
  LstmSettings settings;
  HALFTONE_ASSIGN_OR_RETURN(settings.forget_bias, input.Float("forget_bias", 1));
  HALFTONE_ASSIGN_OR_RETURN(settings.cell_clip, input.Float("cell_clip", 3));
  HALFTONE_ASSIGN_OR_RETURN(settings.peepholes, input.Bool("use_peephole", false));
  Attach(LstmBody(result.input_types[0], settings), result);
  return true;
}

absl::Status WriteCell(GraphWriter& out, NodeId id, const OpRow& row) {
  const Node& node = out.graph().node(id);
  const std::shared_ptr<const Graph> body = NestedGraph(node, "body");
  if (body == nullptr) return absl::InternalError("a cell without a body");
  std::vector<Source> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) inputs.push_back(out.Input(id, static_cast<int>(i)));
  if (NestedGraphHash(*body) == node.extra.String(Concat(kExtraFunctionHash, kHash), ""))
    return out.AddRow(id, row, inputs);
  AttrValues functions;  // a pass has changed the body: a call of a function now
  HALFTONE_ASSIGN_OR_RETURN(const std::string name, out.AddFunction(*body, Concat(out.NameOf(id), "_body")));
  functions["f"].mutable_func()->set_name(name);
  return out.AddCall(id, *FindRow("PartitionedCall"), inputs, std::move(functions));
}

constexpr AttrRow kGruAttrs[] = {{.name = "lbr", .form = kByRule}};
constexpr AttrRow kLstmAttrs[] = {{.name = "forget_bias", .form = kByRule},
                                  {.name = "cell_clip", .form = kByRule},
                                  {.name = "use_peephole", .form = kByRule}};

constexpr OpRow kRows[] = {
    {"GRUBlockCell", kCall, "T,T,T,T,T,T", "T,T,T,T", kT, kGruAttrs, "", 0, ReadGruCell, WriteCell},
    {"LSTMBlockCell", kCall, "T,T,T,T,T,T,T,T", "T,T,T,T,T,T,T", kT, kLstmAttrs, "", 0, ReadLstmCell, WriteCell},
};

}  // namespace

std::span<const OpRow> CellRows() { return kRows; }

}  // namespace halftone::graphdef

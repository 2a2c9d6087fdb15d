// SPDX-License-Identifier: Apache-2.0
#include "passes/export/split_recurrent.h"

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "ir/recurrent.h"
#include "passes/export/parts.h"
#include "passes/fusion/recurrent_cell.h"

namespace halftone {
namespace {

bool IsFirstAxis(const Graph& g, NodeId node) {
  const std::optional<std::vector<int64_t>> axes =
      g.input(node, 1).valid() ? g.ConstantInts(g.input(node, 1)) : std::nullopt;
  return axes == std::vector<int64_t>{0};
}

struct Sizes {
  int64_t input = 0, hidden = 0;
  Dim batch;
};

// The sizes of one step with nothing unusual; nullopt: it stays.
std::optional<Sizes> SizesOfOneStep(const Graph& g, NodeId id) {
  const absl::StatusOr<RecurrentOptions> options = ResolveRecurrent(g.op(id), g.node(id).attributes);
  if (!options.ok() || options->directions() != 1 || options->clip != 0 || options->input_forget) return std::nullopt;
  if (options->batch_first) return std::nullopt;
  const std::vector<GateActivation>& activations = options->activations[0];
  for (size_t i = 0; i < activations.size(); ++i) {
    if (activations[i].kind != (i == 0 ? GateActivation::Kind::kSigmoid : GateActivation::Kind::kTanh))
      return std::nullopt;
  }
  std::vector<Shape> shapes;
  for (const ValueId input : g.node(id).inputs) shapes.push_back(input.valid() ? g.shape(input) : Shape());
  const auto sizes = SizesOfRecurrent(*options, g.node(id).attributes, shapes);
  if (!sizes.ok() || sizes->steps.value != 1 || !sizes->input.known() || !sizes->hidden.known()) return std::nullopt;
  for (const int i : {kRecurrentW, kRecurrentR}) {
    if (!g.IsConstant(g.input(id, i))) return std::nullopt;
  }
  const ValueId b = g.input(id, kRecurrentB);
  if ((b.valid() && !g.IsConstant(b)) || g.input(id, kRecurrentLengths).valid()) return std::nullopt;
  if (!g.input(id, kRecurrentH).valid() || g.input(id, kRecurrentPeepholes).valid()) return std::nullopt;
  // Input 6 is the state of an lstm, and the attention of a gru, which is split elsewhere.
  if (g.input(id, kRecurrentC).valid() != (g.op(id) == OpKind::kLstm)) return std::nullopt;
  return Sizes{sizes->input.value, sizes->hidden.value, sizes->batch};
}

class Writer {
 public:
  Writer(GraphEditor& edit, NodeId whole, const Sizes& sizes)
      : edit_(edit),
        whole_(whole),
        parts_(edit, whole),
        sizes_(sizes),
        type_(edit.graph().type(edit.graph().input(whole, kRecurrentX))) {}

  void Lstm() {
    const ValueId c = Row(kRecurrentC, sizes_.hidden);
    const ValueId gates = Product({Row(kRecurrentX, sizes_.input), Row(kRecurrentH, sizes_.hidden)}, {0, 1, 2, 3}, "w");
    const std::vector<ValueId> part = Split(gates, 4);  // i, o, f, c
    const ValueId kept = Binary(OpKind::kMul, c, Unary(OpKind::kSigmoid, part[2]));
    const ValueId fresh = Binary(OpKind::kMul, Unary(OpKind::kSigmoid, part[0]), Unary(OpKind::kTanh, part[3]));
    const ValueId state = Binary(OpKind::kAdd, kept, fresh);
    const ValueId out = Binary(OpKind::kMul, Unary(OpKind::kTanh, state), Unary(OpKind::kSigmoid, part[1]));
    Hand(0, out);
    Hand(1, out);
    Hand(2, state);
  }

  void Gru() {
    const ValueId x = Row(kRecurrentX, sizes_.input), h = Row(kRecurrentH, sizes_.hidden);
    const ValueId gates = Unary(OpKind::kSigmoid, Product({x, h}, {0, 1}, "w_gates"));
    const std::vector<ValueId> part = Split(gates, 2);  // u, r
    ValueId sum;
    if (edit_.graph().node(whole_).attributes.Bool("linear_before_reset", false)) {
      const ValueId from_x = CandidateOf(x, kRecurrentW, "w_candidate"),
                    from_h = CandidateOf(h, kRecurrentR, "r_candidate");
      sum = Binary(OpKind::kAdd, from_x, Binary(OpKind::kMul, part[1], from_h));
    } else {
      sum = Product({x, Binary(OpKind::kMul, part[1], h)}, {2}, "w_candidate");
    }
    const ValueId candidate = Unary(OpKind::kTanh, sum);
    const ValueId one = Shared("one", *Tensor::Scalar(1).ConvertTo(type_));
    const ValueId kept = Binary(OpKind::kMul, part[0], h);
    const ValueId fresh = Binary(OpKind::kMul, Binary(OpKind::kSub, one, part[0]), candidate);
    const ValueId state = Binary(OpKind::kAdd, kept, fresh);
    Hand(0, state);
    Hand(1, state);
  }

 private:
  ValueSpec Rows(int64_t columns) const { return {type_, Shape({sizes_.batch, Dim::Of(columns)}), ""}; }
  ValueId Unary(OpKind op, ValueId x) { return parts_.Apply(op, {x}, {type_, edit_.graph().shape(x), ""}); }
  ValueId Binary(OpKind op, ValueId a, ValueId b) { return parts_.Apply(op, {a, b}, Rows(sizes_.hidden)); }
  // Called after the weights, not after the node: cells share them.
  ValueId Shared(std::string_view word, Tensor tensor) {
    const Graph& g = edit_.graph();
    return SharedConstant(edit_, Concat(g.Label(g.producer(g.input(whole_, kRecurrentW))), "/", word),
                          std::move(tensor));
  }
  ValueId ColumnAxis() { return Shared("axis", Tensor::IntScalar(1, DataType::kInt32)); }
  ValueId FirstAxis() { return Shared("axes", Tensor::Ints(std::vector<int64_t>{0}, DataType::kInt32)); }

  // The input [1, batch, columns] as [batch, columns].
  ValueId Row(int input, int64_t columns) {
    const Graph& g = edit_.graph();
    const ValueId x = g.input(whole_, input);
    if (g.op(x) == OpKind::kUnsqueeze && IsFirstAxis(g, g.producer(x))) return g.input(g.producer(x), 0);
    return parts_.Apply(OpKind::kSqueeze, {x, FirstAxis()}, Rows(columns));
  }

  // concat(x, h) times the rows of these gates, transposed and one under the other, plus their biases.
  ValueId Product(const std::vector<ValueId>& operands, const std::vector<int>& gates, std::string_view word) {
    const Graph& g = edit_.graph();
    const int64_t n = sizes_.hidden, columns = static_cast<int64_t>(gates.size()) * n;
    std::vector<float> weights, sums;
    for (const auto& [input, rows] : {std::pair(kRecurrentW, sizes_.input), std::pair(kRecurrentR, n)}) {
      const std::vector<float> all = g.ConstantTensor(g.input(whole_, input))->ToFloats();
      for (int64_t row = 0; row < rows; ++row) {
        for (const int gate : gates) {
          for (int64_t u = 0; u < n; ++u) weights.push_back(all[(gate * n + u) * rows + row]);
        }
      }
    }
    const ValueId w = Shared(word, *Tensor::Of<float>({sizes_.input + n, columns}, weights).ConvertTo(type_));
    const ValueId together =
        parts_.Apply(OpKind::kConcat, {operands[0], operands[1], ColumnAxis()}, Rows(sizes_.input + n));
    const ValueId product = parts_.Apply(OpKind::kMatMul, {together, w}, Rows(columns));
    if (!g.input(whole_, kRecurrentB).valid()) return product;
    const std::vector<float> all = g.ConstantTensor(g.input(whole_, kRecurrentB))->ToFloats();
    const auto half = static_cast<int64_t>(all.size()) / 2;
    for (const int gate : gates) {
      for (int64_t u = 0; u < n; ++u) sums.push_back(all[gate * n + u] + all[half + gate * n + u]);
    }
    return WithBias(product, word, sums);
  }

  // x or h times its rows of a gru's third gate, transposed, plus its own bias.
  ValueId CandidateOf(ValueId operand, int weights, std::string_view word) {
    const Graph& g = edit_.graph();
    const int64_t n = sizes_.hidden, rows = weights == kRecurrentW ? sizes_.input : n;
    const std::vector<float> all = g.ConstantTensor(g.input(whole_, weights))->ToFloats();
    std::vector<float> columns;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t u = 0; u < n; ++u) columns.push_back(all[(2 * n + u) * rows + row]);
    }
    const ValueId w = Shared(word, *Tensor::Of<float>({rows, n}, columns).ConvertTo(type_));
    const ValueId product = parts_.Apply(OpKind::kMatMul, {operand, w}, Rows(n));
    if (!g.input(whole_, kRecurrentB).valid()) return product;
    const std::vector<float> biases = g.ConstantTensor(g.input(whole_, kRecurrentB))->ToFloats();
    const auto first = biases.begin() + (weights == kRecurrentW ? 2 : 5) * n;
    return WithBias(product, word, {first, first + n});
  }

  ValueId WithBias(ValueId product, std::string_view word, const std::vector<float>& bias) {
    const auto columns = static_cast<int64_t>(bias.size());
    const ValueId b = Shared(Concat(word, "_bias"), *Tensor::Of<float>({columns}, bias).ConvertTo(type_));
    Attributes layout;
    layout.Set("layout", std::string("NHWC"));
    return parts_.Apply(OpKind::kBiasAdd, {product, b}, Rows(columns), std::move(layout));
  }

  std::vector<ValueId> Split(ValueId x, int count) {
    Node split;
    split.op = OpKind::kSplit;
    split.inputs = {x, kNoValue, ColumnAxis()};
    const NodeId id = parts_.AddNode(std::move(split), std::vector<ValueSpec>(count, Rows(sizes_.hidden)));
    return edit_.graph().node(id).outputs;
  }

  // [batch, hidden] to whoever reads output i: as it is to those who take the first dimension away.
  void Hand(int i, ValueId rows) {
    const Graph& g = edit_.graph();
    const ValueId old = g.output(whole_, i);
    if (!old.valid()) return;
    for (const Use& use : std::vector<Use>(g.uses(old))) {
      if (g.op(use.node) != OpKind::kSqueeze || use.index != 0 || !IsFirstAxis(g, use.node)) continue;
      if (i == 0) continue;  // [steps, directions, ..]
      const ValueId read = g.output(use.node);
      Node same;  // takes the place and the name of the squeeze
      same.op = OpKind::kIdentity;
      same.inputs = {rows};
      same.device = g.node(use.node).device;
      same.origin = g.node(use.node).origin;
      if (g.IsOutput(read) || g.IsCaptured(read) || g.HasControlEdges(use.node)) {
        edit_.ReplaceNode(use.node, edit_.AddNode(std::move(same), {Rows(sizes_.hidden)}));
      } else {
        edit_.SetValueName(read, "");
        edit_.ReplaceUses(read, rows);
      }
    }
    if (g.uses(old).empty() && !g.IsOutput(old)) return;
    const std::vector<int64_t> first(i == 0 ? 2 : 1, 0);
    ValueId full = rows;
    std::vector<Dim> dims = {sizes_.batch, Dim::Of(sizes_.hidden)};
    for (size_t k = 0; k < first.size(); ++k) {
      dims.insert(dims.begin(), Dim::Of(1));
      full = parts_.Apply(OpKind::kUnsqueeze, {full, FirstAxis()}, {type_, Shape(dims), ""});
    }
    edit_.ReplaceUses(old, full);
  }

  GraphEditor& edit_;
  const NodeId whole_;
  Parts parts_;
  const Sizes sizes_;
  const DataType type_;
};

}  // namespace

absl::Status SplitRecurrent::Run(GraphEditor& edit, PassContext&) const {
  const Graph& g = edit.graph();
  bool any = false;
  for (const NodeId id : g.nodes()) {
    if (!g.alive(id) || (g.op(id) != OpKind::kLstm && g.op(id) != OpKind::kGru)) continue;
    if (file_.Writes(g, id)) continue;
    const std::optional<Sizes> sizes = SizesOfOneStep(g, id);
    if (!sizes.has_value()) continue;
    Writer writer(edit, id, *sizes);
    g.op(id) == OpKind::kLstm ? writer.Lstm() : writer.Gru();
    any = true;
  }
  if (any) edit.RemoveDeadNodes();
  return absl::OkStatus();
}

}  // namespace halftone

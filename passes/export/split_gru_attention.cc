// SPDX-License-Identifier: Apache-2.0
#include "passes/export/split_gru_attention.h"

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "ir/recurrent.h"
#include "passes/export/parts.h"

namespace halftone {
namespace {

struct Sizes {
  int64_t steps, input, hidden;
  Dim batch;
};

// Why this gru cannot be written step by step; "": it can.
std::string WhyNot(const Graph& g, NodeId gru, const RecurrentOptions& options, const RecurrentSizes& sizes) {
  using enum GateActivation::Kind;
  if (options.directions() != 1) return "two directions";
  if (options.batch_first) return "the batch is first";
  if (options.clip != 0) return "a clip";
  if (options.activations[0][0].kind != kSigmoid || options.activations[0][1].kind != kTanh) return "other activations";
  if (g.input(gru, kRecurrentLengths).valid()) return "sequence lengths";
  for (const int i : {kRecurrentW, kRecurrentR, kRecurrentB}) {
    if (g.input(gru, i).valid() && !g.IsConstant(g.input(gru, i))) return "weights that are computed";
  }
  if (!sizes.steps.known() || !sizes.input.known() || !sizes.hidden.known())
    return "a number of steps that is not known";
  if (!g.input(gru, kRecurrentH).valid() && !sizes.batch.known()) return "a batch that is not known";
  return "";
}

// One gru as parts.
class Writer {
 public:
  Writer(GraphEditor& edit, NodeId gru, const Sizes& sizes, bool linear)
      : edit_(edit),
        gru_(gru),
        parts_(edit, gru),
        sizes_(sizes),
        linear_(linear),
        type_(edit.graph().type(edit.graph().input(gru, kRecurrentX))) {}

  void Write(bool reverse) {
    const Graph& g = edit_.graph();
    MakeConstants();
    const std::vector<ValueId> x = Steps(g.input(gru_, kRecurrentX), sizes_.input);
    const std::vector<ValueId> attention = Steps(g.input(gru_, kGruAttention), 1);
    ValueId h = InitialState();
    std::vector<ValueId> states(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t t = reverse ? x.size() - 1 - i : i;
      h = Step(x[t], attention[t], h);
      states[t] = h;
    }
    Replace(0, [&] {
      std::vector<ValueId> rows;
      for (const ValueId state : states) {
        rows.push_back(Reshape(state, {1, 1, -1, sizes_.hidden}, {Dim::Of(1), Dim::Of(1), sizes_.batch, hidden()}));
      }
      if (rows.size() == 1) return rows[0];
      rows.push_back(parts_.Constant("axis", Tensor::Of<int32_t>({}, std::vector<int32_t>{0})));
      return Apply(OpKind::kConcat, rows, {Dim::Of(sizes_.steps), Dim::Of(1), sizes_.batch, hidden()});
    });
    Replace(1, [&] { return Reshape(h, {1, -1, sizes_.hidden}, {Dim::Of(1), sizes_.batch, hidden()}); });
  }

 private:
  Dim hidden() const { return Dim::Of(sizes_.hidden); }

  ValueId Apply(OpKind op, std::vector<ValueId> inputs, std::vector<Dim> dims) {
    return parts_.Apply(op, std::move(inputs), {type_, Shape(std::move(dims)), ""});
  }
  ValueId Rows(OpKind op, std::vector<ValueId> inputs, int64_t columns) {
    return Apply(op, std::move(inputs), {sizes_.batch, Dim::Of(columns)});
  }
  ValueId Reshape(ValueId x, const std::vector<int64_t>& to, std::vector<Dim> dims) {
    const ValueId shape = parts_.Constant("shape", Tensor::Of<int64_t>({static_cast<int64_t>(to.size())}, to));
    return Apply(OpKind::kReshape, {x, shape}, std::move(dims));
  }
  // Rows `first` to `last` of a matrix of `columns`, transposed.
  ValueId Transposed(std::string_view word, const std::vector<float>& rows, int64_t first, int64_t last,
                     int64_t columns) {
    std::vector<float> elements;
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t r = first; r < last; ++r) elements.push_back(rows[r * columns + c]);
    }
    return Floats(word, {columns, last - first}, elements);
  }
  ValueId Floats(std::string_view word, std::vector<int64_t> dims, const std::vector<float>& elements) {
    return parts_.Constant(word, *Tensor::Of<float>(std::move(dims), elements).ConvertTo(type_));
  }

  void MakeConstants() {
    const Graph& g = edit_.graph();
    const int64_t n = sizes_.hidden;
    const std::vector<float> w = g.ConstantTensor(g.input(gru_, kRecurrentW))->ToFloats();
    const std::vector<float> r = g.ConstantTensor(g.input(gru_, kRecurrentR))->ToFloats();
    std::vector<float> b(6 * n, 0.0f);
    if (g.input(gru_, kRecurrentB).valid()) b = g.ConstantTensor(g.input(gru_, kRecurrentB))->ToFloats();
    const auto sum = [&](int64_t i) { return b[i] + b[3 * n + i]; };
    std::vector<float> gates, candidate, reset;
    for (int64_t i = 0; i < 2 * n; ++i) gates.push_back(sum(i));
    for (int64_t i = 2 * n; i < 3 * n; ++i) {
      candidate.push_back(linear_ ? b[i] : sum(i));
      reset.push_back(b[3 * n + i]);
    }
    w_gates_ = Transposed("w_gates", w, 0, 2 * n, sizes_.input);
    w_candidate_ = Transposed("w_candidate", w, 2 * n, 3 * n, sizes_.input);
    r_gates_ = Transposed("r_gates", r, 0, 2 * n, n);
    r_candidate_ = Transposed("r_candidate", r, 2 * n, 3 * n, n);
    b_gates_ = Floats("b_gates", {2 * n}, gates);
    b_candidate_ = Floats("b_candidate", {n}, candidate);
    if (linear_) b_reset_ = Floats("b_reset", {n}, reset);
    one_ = parts_.Number("one", 1, type_);
  }

  // [steps, batch, columns] as one matrix a step.
  std::vector<ValueId> Steps(ValueId x, int64_t columns) {
    std::vector<ValueId> steps{x};
    if (sizes_.steps > 1) {
      const Graph& g = edit_.graph();
      const std::vector<int64_t> ones(sizes_.steps, 1);
      Node split;
      split.op = OpKind::kSplit;
      split.inputs = {x, parts_.Constant("sizes", Tensor::Of<int64_t>({sizes_.steps}, ones)),
                      parts_.Constant("axis", Tensor::Of<int32_t>({}, std::vector<int32_t>{0}))};
      const Shape one({Dim::Of(1), sizes_.batch, Dim::Of(columns)});
      const NodeId node = parts_.AddNode(std::move(split), std::vector<ValueSpec>(sizes_.steps, {type_, one, ""}));
      steps = g.node(node).outputs;
    }
    for (ValueId& step : steps) step = Reshape(step, {-1, columns}, {sizes_.batch, Dim::Of(columns)});
    return steps;
  }

  ValueId InitialState() {
    const ValueId given = edit_.graph().input(gru_, kRecurrentH);
    if (given.valid()) return Reshape(given, {-1, sizes_.hidden}, {sizes_.batch, hidden()});
    const std::vector<float> zeros(sizes_.batch.value * sizes_.hidden, 0.0f);
    return Floats("initial_h", {sizes_.batch.value, sizes_.hidden}, zeros);
  }

  ValueId Step(ValueId x, ValueId attention, ValueId h) {
    const int64_t n = sizes_.hidden;
    ValueId gates =
        Rows(OpKind::kAdd, {Rows(OpKind::kMatMul, {x, w_gates_}, 2 * n), Rows(OpKind::kMatMul, {h, r_gates_}, 2 * n)},
             2 * n);
    gates = Rows(OpKind::kSigmoid, {Rows(OpKind::kAdd, {gates, b_gates_}, 2 * n)}, 2 * n);
    Node halves;
    halves.op = OpKind::kSplit;
    halves.inputs = {gates, parts_.Constant("sizes", Tensor::Of<int64_t>({2}, std::vector<int64_t>{n, n})),
                     parts_.Constant("axis", Tensor::Of<int32_t>({}, std::vector<int32_t>{1}))};
    const Shape half({sizes_.batch, Dim::Of(n)});
    const NodeId split = parts_.AddNode(std::move(halves), {{type_, half, ""}, {type_, half, ""}});
    const ValueId update = edit_.graph().output(split, 0), reset = edit_.graph().output(split, 1);
    const ValueId kept = Rows(OpKind::kMul, {Rows(OpKind::kSub, {one_, attention}, 1), update}, n);
    ValueId recurrent;
    if (linear_) {
      recurrent = Rows(OpKind::kAdd, {Rows(OpKind::kMatMul, {h, r_candidate_}, n), b_reset_}, n);
      recurrent = Rows(OpKind::kMul, {reset, recurrent}, n);
    } else {
      recurrent = Rows(OpKind::kMatMul, {Rows(OpKind::kMul, {reset, h}, n), r_candidate_}, n);
    }
    ValueId candidate = Rows(OpKind::kAdd, {Rows(OpKind::kMatMul, {x, w_candidate_}, n), recurrent}, n);
    candidate = Rows(OpKind::kTanh, {Rows(OpKind::kAdd, {candidate, b_candidate_}, n)}, n);
    const ValueId back = Rows(OpKind::kMul, {kept, Rows(OpKind::kSub, {h, candidate}, n)}, n);
    return Rows(OpKind::kAdd, {candidate, back}, n);
  }

  // Replaces output i, if it exists, by what `make` makes.
  template <typename Make>
  void Replace(int i, Make make) {
    const Graph& g = edit_.graph();
    const std::vector<ValueId>& outputs = g.node(gru_).outputs;
    if (i >= static_cast<int>(outputs.size()) || !outputs[i].valid()) return;
    const ValueId old = outputs[i];
    edit_.ReplaceUses(old, make());
  }

  GraphEditor& edit_;
  const NodeId gru_;
  Parts parts_;
  const Sizes sizes_;
  const bool linear_;
  const DataType type_;
  ValueId w_gates_, w_candidate_, r_gates_, r_candidate_, b_gates_, b_candidate_, b_reset_, one_;
};

}  // namespace

absl::Status SplitGruAttention::Run(GraphEditor& edit, PassContext&) const {
  const Graph& g = edit.graph();
  bool any = false;
  for (const NodeId id : g.nodes()) {
    if (g.op(id) != OpKind::kGru || !g.input(id, kGruAttention).valid() || file_.Writes(g, id)) continue;
    HALFTONE_ASSIGN_OR_RETURN(const RecurrentOptions options, ResolveRecurrent(g.op(id), g.node(id).attributes));
    std::vector<Shape> shapes;
    for (const ValueId input : g.node(id).inputs) shapes.push_back(input.valid() ? g.shape(input) : Shape());
    HALFTONE_ASSIGN_OR_RETURN(const RecurrentSizes sizes, SizesOfRecurrent(options, g.node(id).attributes, shapes));
    const std::string refusal = WhyNot(g, id, options, sizes);
    if (!refusal.empty()) {
      return absl::UnimplementedError(
          Concat("node '", g.Label(id), "': a gru with attention cannot be written in standard ops: ", refusal));
    }
    Writer writer(edit, id, {sizes.steps.value, sizes.input.value, sizes.hidden.value, sizes.batch},
                  options.linear_before_reset);
    writer.Write(options.reverse[0]);
    any = true;
  }
  if (any) edit.RemoveDeadNodes();
  return absl::OkStatus();
}

}  // namespace halftone

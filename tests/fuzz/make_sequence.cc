// SPDX-License-Identifier: Apache-2.0
// Recurrent ops, attention, losses, signals, random numbers, control flow.

#include <memory>

#include "base/strings.h"
#include "ir/text.h"
#include "tests/fuzz/generators.h"

namespace halftone::fuzz {
namespace {

using enum OpKind;

void RecurrentNode(Maker& m, OpKind op) {
  const int64_t time = m.Int(1, 5), batch = m.Int(1, 3), size = m.Int(2, 5), hidden = m.OneOf<int64_t>({2, 3, 8});
  const int64_t gates = op == kLstm ? 4 : op == kGru ? 3 : 1;
  const char* direction = m.OneOf<const char*>({"forward", "reverse", "bidirectional"});
  const int64_t both = std::string(direction) == "bidirectional" ? 2 : 1;
  const ValueId x = m.Fresh(DataType::kFloat32, {time, batch, size}, -2, 2);
  std::vector<ValueId> inputs = {x, m.Weights({both, gates * hidden, size}), m.Weights({both, gates * hidden, hidden})};
  if (m.Chance(70)) inputs.push_back(m.Weights({both, 2 * gates * hidden}));
  if (inputs.size() == 4 && m.Chance(40)) {
    inputs.push_back(kNoValue);
    inputs.push_back(m.Fresh(DataType::kFloat32, {both, batch, hidden}, -1, 1));
  }
  if (op == kGru && m.Chance(30)) {
    inputs.resize(6, kNoValue);
    inputs.push_back(m.Fresh(DataType::kFloat32, {time, batch, 1}, 0, 1));  // attention
  }
  Attributes attributes = With({{"hidden_size", Number(hidden)}, {"direction", Text(direction)}});
  if (op == kGru && m.Chance(50)) attributes.Set("linear_before_reset", true);
  m.Add(op, inputs, attributes, std::vector<DataType>(op == kLstm ? 3 : 2, DataType::kUnknown));
}

void AttentionNode(Maker& m, OpKind op) {
  const int64_t batch = m.Int(1, 2), time = m.Int(2, 5), heads = m.Int(1, 2), size = heads * m.Int(2, 4);
  const ValueId x = m.Fresh(DataType::kFloat32, {batch, time, size}, -1, 1);
  Attributes attributes = With({{"num_heads", Number(heads)}});
  if (m.Chance(40)) attributes.Set("unidirectional", true);
  m.Add(op, {x, m.Weights({size, 3 * size}), m.Weights({3 * size})}, attributes);
}

void LossNode(Maker& m, OpKind op) {
  const int64_t n = m.Int(2, 5), classes = m.Int(2, 6);
  const ValueId scores = m.Fresh(DataType::kFloat32, {n, classes}, -2, 2);
  std::vector<ValueId> inputs = {scores, m.Fresh(DataType::kInt64, {n}, 0, static_cast<double>(classes - 1))};
  if (m.Chance(40)) inputs.push_back(m.Weights({classes}, 0.5, 2));
  m.Add(op, inputs, With({{"reduction", Text(m.OneOf<const char*>({"mean", "sum", "none"}))}}));
}

void DftNode(Maker& m, OpKind op) {
  const ValueId x = m.Fresh(DataType::kFloat32, {m.Int(1, 2), m.Int(3, 12), 1}, -2, 2);
  m.Add(op, {x, kNoValue, m.IntScalar(1)}, m.Chance(50) ? Attributes() : With({{"onesided", true}}));
}

void StftNode(Maker& m, OpKind op) {
  const ValueId x = m.Fresh(DataType::kFloat32, {m.Int(1, 2), 24, 1}, -2, 2);
  m.Add(op, {x, m.IntScalar(m.Int(2, 5)), m.Weights({8}, 0.25, 1), m.IntScalar(8)},
        m.Chance(50) ? Attributes() : With({{"onesided", false}}));
}

void WindowNode(Maker& m, OpKind op) {
  m.Add(op, {m.IntScalar(m.Int(2, 16))},
        With({{"mode", Text(m.OneOf<const char*>({"hann", "hamming", "blackman"}))}, {"periodic", m.Chance(50)}}),
        {DataType::kFloat32});
}

void MelNode(Maker& m, OpKind op) {
  m.Add(op,
        {m.IntScalar(m.Int(4, 8)), m.IntScalar(32), m.IntScalar(8000), m.Constant(Tensor::Scalar(20)),
         m.Constant(Tensor::Scalar(4000))},
        {}, {DataType::kFloat32});
}

void RandomNode(Maker& m, OpKind op) {
  m.Add(op, {m.Ints(m.RandomDims(1, 3))}, With({{"seed", Number(m.Int(1, 99))}}), {DataType::kFloat32});
}

// --- Control flow. The nested graphs are written as text.
AttributeValue Nested(Maker& m, const std::string& text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  if (!graph.ok()) m.Fail(graph.status());
  return std::shared_ptr<const Graph>(std::make_shared<Graph>(graph.ok() ? *std::move(graph) : Graph()));
}

std::string TypeOf(Maker& m, ValueId x) { return Concat("f32", Shape::Of(m.dims(x)).ToString()); }

void IfNode(Maker& m, OpKind op) {
  const ValueId x = m.Any({.min_rank = 1});
  const std::string type = TypeOf(m, x);
  const ValueId condition = m.Fresh(DataType::kBool, {}, 0, 1, 30);
  m.Add(op, {condition, x},
        With({{"then", Nested(m, Concat("graph (a: ", type, ") { return tanh(a) }"))},
              {"else", Nested(m, Concat("graph (a: ", type, ") { return mul(relu(a), -0.5) }"))}}));
}

void LoopNode(Maker& m, OpKind op) {
  const ValueId x = m.Any({.min_rank = 1, .low = -2, .high = 2});
  const std::string body = Concat("graph (i: s64[], going: bool[], a: ", TypeOf(m, x),
                                  ") { b = add(mul(a, 0.5), 0.25)  return going, b, b }");
  const ValueId going = m.Constant(*Tensor::IntScalar(1).ConvertTo(DataType::kBool));
  m.Add(op, {m.IntScalar(m.Int(0, 3)), going, x}, With({{"body", Nested(m, body)}}),
        {DataType::kUnknown, DataType::kUnknown});
}

void WhileNode(Maker& m, OpKind op) {
  const ValueId x = m.Any({.min_rank = 1, .low = -2, .high = 2});
  const std::string states = Concat("(i: s64[], a: ", TypeOf(m, x), ")");
  m.Add(op, {m.IntScalar(m.Int(0, 3)), x},
        With({{"condition", Nested(m, Concat("graph ", states, " { return less(i, 4) }"))},
              {"body", Nested(m, Concat("graph ", states, " { return add(i, 1), mul(a, 0.75) }"))}}),
        {DataType::kUnknown, DataType::kUnknown});
}

void ScanNode(Maker& m, OpKind op) {
  const int64_t time = m.Int(1, 4), width = m.Int(1, 5);
  const ValueId state = m.Fresh(DataType::kFloat32, {width}, -1, 1),
                x = m.Fresh(DataType::kFloat32, {time, width}, -1, 1);
  const std::string body =
      Concat("graph (s: f32[", width, "], a: f32[", width, "]) { t = add(s, a)  return t, relu(t) }");
  m.Add(op, {state, x}, With({{"body", Nested(m, body)}, {"num_scan_inputs", Number(1)}}),
        {DataType::kUnknown, DataType::kUnknown});
}

void CallNode(Maker& m, OpKind op) {
  const ValueId x = m.Any({.min_rank = 1});
  m.Add(op, {x}, With({{"body", Nested(m, Concat("graph (a: ", TypeOf(m, x), ") { return sigmoid(a) }"))}}));
}

constexpr Generator kTable[] = {
    {kLstm, RecurrentNode},
    {kGru, RecurrentNode},
    {kRnn, RecurrentNode},
    {kAttention, AttentionNode},
    {kNegativeLogLikelihood, LossNode},
    {kSoftmaxCrossEntropy, LossNode},
    {kDft, DftNode},
    {kStft, StftNode},
    {kWindow, WindowNode},
    {kMelWeightMatrix, MelNode},
    {kRandomUniform, RandomNode},
    {kRandomNormal, RandomNode},
    {kIf, IfNode},
    {kLoop, LoopNode},
    {kScan, ScanNode},
    {kWhile, WhileNode},
    {kCall, CallNode},
};

}  // namespace

std::span<const Generator> SequenceGenerators() { return kTable; }

}  // namespace halftone::fuzz

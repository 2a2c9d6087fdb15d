// SPDX-License-Identifier: Apache-2.0
// Fused ops, and what is fused into convolutions and matmuls.

#include <string>
#include <utility>

#include "tests/fuzz/generators.h"

namespace halftone::fuzz {
namespace {

using enum OpKind;

// y has the shape of the first or of the second input, and all others broadcast to it. A divisor is not near 0.
void BinaryChainNode(Maker& m, OpKind op) {
  const ValueId x = m.Any({.min_rank = 1});
  const int64_t steps = m.Int(1, 3);
  std::vector<std::string> ops;
  std::vector<ValueId> inputs = {x};
  for (int64_t i = 0; i < steps; ++i) {
    ops.push_back(m.OneOf<std::string>({"add", "sub", "rsub", "mul", "div", "max", "min"}));
    const bool divides = ops.back() == "div";
    const Dims dims = m.Chance(40) ? m.dims(x) : m.Broadcastable(m.dims(x));
    inputs.push_back(m.Fresh(DataType::kFloat32, dims, divides ? 1 : -4, divides ? 7 : 4, 30));
  }
  if (m.Chance(15)) {  // the second input divided by the first
    inputs[0] = m.Fresh(DataType::kFloat32, m.Broadcastable(m.dims(x)), 1, 7, 30);
    inputs[1] = x;
    ops[0] = "rdiv";
  } else if (ops[0] != "div" && m.Chance(25)) {
    std::swap(inputs[0], inputs[1]);
  }
  Attributes attributes;
  attributes.Set("ops", ops);
  Activate(m, attributes);
  m.Add(op, inputs, attributes);
}

void ScaledAttentionNode(Maker& m, OpKind op) {
  const int64_t s = m.Int(1, 6), t = m.Int(1, 6), depth = m.OneOf<int64_t>({2, 4, 5, 16}), width = m.Int(1, 9);
  const Dims lead = m.OneOf<Dims>({{}, {m.Int(1, 3)}, {m.Int(1, 2), m.Int(2, 3)}});
  const bool transposed = m.Chance(30);
  const auto of = [&](int64_t rows, int64_t columns) {
    Dims dims = lead;
    dims.insert(dims.end(), {rows, columns});
    return dims;
  };
  const auto fresh = [&](const Dims& dims) { return m.Fresh(DataType::kFloat32, dims, -2, 2, 10); };
  const ValueId q = fresh(of(s, depth)), k = fresh(transposed ? of(depth, t) : of(t, depth)), v = fresh(of(t, width));
  std::vector<ValueId> inputs = {q, k, v};
  if (m.Chance(60)) inputs.push_back(fresh(m.Chance(30) ? of(s, t) : m.Broadcastable(of(s, t))));
  Attributes attributes;
  if (m.Chance(40)) attributes.Set("scale", Real(m.OneOf<double>({0.125, 0.5, 1})));
  if (transposed) attributes.Set("k_transposed", true);
  m.Add(op, inputs, attributes);
}

void L2LossNode(Maker& m, OpKind op) {
  std::vector<ValueId> inputs = {m.Any({})};
  if (m.Chance(40)) inputs.push_back(m.Fresh(DataType::kFloat32, m.RandomDims(0, 3), -2, 2));
  m.Add(op, inputs);
}

constexpr Generator kTable[] = {
    {kBinaryChain, BinaryChainNode},
    {kScaledDotProductAttention, ScaledAttentionNode},
    {kL2Loss, L2LossNode},
};

}  // namespace

void Activate(Maker& m, Attributes& attributes) {
  if (!m.Chance(30)) return;
  const char* name = m.OneOf<const char*>({"relu", "relu6", "clip", "elu", "leaky_relu", "tanh", "sigmoid"});
  attributes.Set("activation", Text(name));
  if (std::string(name) == "clip") {
    attributes.Set("activation_alpha", Real(-1));
    attributes.Set("activation_beta", Real(1.5));
  } else if (std::string(name) == "elu" || std::string(name) == "leaky_relu") {
    attributes.Set("activation_alpha", Real(0.25));
  }
}

void AddContraction(Maker& m, OpKind op, std::vector<ValueId> inputs, Attributes attributes) {
  if (op == kMatMul && m.Chance(20)) attributes.Set("scale", Real(m.OneOf<double>({0.125, 0.5, -1.5})));
  const ValueId y = m.Add(op, inputs, attributes);
  if (!m.status().ok() || !m.Chance(20)) return;
  inputs.resize(3, kNoValue);
  const bool broadcast = op == kMatMul && m.Chance(50);
  inputs.push_back(m.Fresh(DataType::kFloat32, broadcast ? m.Broadcastable(m.dims(y)) : m.dims(y), -4, 4, 20));
  if (attributes.has("activation") && m.Chance(40)) attributes.Set("activation_first", true);
  m.Add(op, inputs, attributes);
}

std::span<const Generator> FusedGenerators() { return kTable; }

}  // namespace halftone::fuzz

// SPDX-License-Identifier: Apache-2.0
// concat(conv(x_0, w_0), conv(x_1, w_1), ..)  with  x_0, x_1, .. = split(x)   =>   conv(x, [w_0, w_1, ..]) {group=n}
//
// Frameworks without grouped convolutions write the blocks of ResNeXt this way. Legal when split and concat are along
// the channels, the parts of the split are equal and each goes to one conv, in order, and the convs differ only in
// their constant weights and biases (all have a bias or none has), have no residual and are not grouped. Bit-exact: the
// same sums.

#include <vector>

#include "absl/strings/str_join.h"
#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

// The constants concatenated along dimension `axis`. REQUIRES: equal types, dimensions equal but for `axis`
Tensor Joined(const Graph& g, const std::vector<ValueId>& constants, int axis) {
  std::vector<int64_t> dims = g.ConstantTensor(constants[0])->dims();
  int64_t outer = 1;
  for (int i = 0; i < axis; ++i) outer *= dims[i];
  dims[axis] *= static_cast<int64_t>(constants.size());
  Tensor result(g.type(constants[0]), dims);
  const size_t run = g.ConstantTensor(constants[0])->byte_size() / static_cast<size_t>(outer);
  std::byte* to = result.mutable_raw();
  for (int64_t o = 0; o < outer; ++o) {
    for (const ValueId constant : constants) {
      std::copy_n(g.ConstantTensor(constant)->raw() + static_cast<size_t>(o) * run, run, to);
      to += run;
    }
  }
  return result;
}

bool SameConstant(const Graph& g, ValueId a, ValueId b) {
  if (a.valid() != b.valid()) return false;
  if (!a.valid()) return true;
  const Tensor *one = g.ConstantTensor(a), *other = g.ConstantTensor(b);
  return one != nullptr && other != nullptr && one->type() == other->type() && one->dims() == other->dims() &&
         ElementSize(one->type()) > 0;
}

// An attribute of a conv as text.
std::string Words(const Attributes& attributes, const std::string& name) {
  if (!attributes.has(name)) return "none";
  if (const auto numbers = attributes.Ints(name); !numbers.empty())
    return Concat("[", absl::StrJoin(numbers, ", "), "]");
  const float number = attributes.Float(name, static_cast<float>(attributes.Int(name, attributes.Bool(name, false))));
  return attributes.String(name, Concat(number));
}

// "strides [2, 1] and none": the first attribute that differs.
std::string Difference(const Attributes& a, const Attributes& b) {
  for (const Attributes* attributes : {&a, &b}) {
    for (const auto& [name, value] : *attributes) {
      const AttributeValue *one = a.find(name), *other = b.find(name);
      if (one == nullptr || other == nullptr || !SameValue(*one, *other))
        return Concat(name, " ", Words(a, name), " and ", Words(b, name));
    }
  }
  return "";
}

class FuseGroupedConv final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-grouped-conv"; }
  std::string_view equation() const override {
    return "concat(conv(x_0, w_0), conv(x_1, w_1), ..), x_i = split(x) => conv(x, [w_0, w_1, ..]) {group=n}";
  }
  float tolerance() const override { return kBitExact; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kConcat; }

  FindResult Find(const Graph& g, NodeId concat, const Target&) const override {
    const int count = static_cast<int>(g.node(concat).inputs.size()) - 1;
    const ValueId first = g.input(concat, 0);
    if (count < 2 || !first.valid() || g.op(first) != OpKind::kConv) return No("it does not concatenate convs");
    const NodeId conv = g.producer(first);
    const ValueId part = g.input(conv, 0);
    if (!part.valid() || g.op(part) != OpKind::kSplit) return No("the first conv does not read a split");
    const NodeId split = g.producer(part);
    const size_t parts = g.node(split).outputs.size();
    if (static_cast<int>(parts) != count)
      return Kept(Concat("not every part has a conv: ", parts, " parts, ", count, " concatenated"));
    const Attributes& one = g.node(conv).attributes;
    const int64_t groups = one.Int("group", 1);
    const std::string weights_layout = one.String("weights_layout", "OIHW");
    if (groups != 1 || weights_layout == "HWCM")
      return Kept(Concat("the convs are already grouped: ", groups, " with weights ", weights_layout));
    const std::optional<int> rank = ResultRank(g, conv);
    if (!rank.has_value() || *rank < 3) return Kept(Concat("the convs' rank is not known: ", Describe(g, first)));
    const int channel = ChannelAxis(g, conv, *rank);
    if (AxisOf(g, g.input(concat, count), *rank) != channel || AxisOf(g, g.input(split, 2), *rank) != channel)
      return Kept(Concat(
          DescribeBoth("split or concat is not along the channels", g, g.input(split, 2), g.input(concat, count)),
          ", the channels are ", channel));
    std::vector<NodeId> nodes = {concat, split};
    for (int i = 0; i < count; ++i) {
      const ValueId y = g.input(concat, i);
      if (!y.valid() || g.op(y) != OpKind::kConv)
        return Kept(Concat("one of the parts is not a conv: ", Describe(g, y)));
      const NodeId other = g.producer(y);
      nodes.push_back(other);
      if (g.input(other, 0) != g.output(split, i))
        return Kept(Concat("the convs do not read the parts in order: '", g.Label(other), "' reads ",
                           Describe(g, g.input(other, 0)), ", not part ", i));
      if (HasResidual(g, other))
        return Kept(Concat("a conv has a residual: ", Describe(g, g.input(other, kResidualInput))));
      if (!(g.node(other).attributes == one))
        return Kept(Concat("the convs differ: ", Difference(one, g.node(other).attributes)));
      for (const int input : {kWeightsInput, kBiasInput}) {
        if (!SameConstant(g, g.input(other, input), g.input(conv, input)))
          return Kept(DescribeBoth("weights or biases are not constants of one shape", g, g.input(conv, input),
                                   g.input(other, input)));
      }
      const Dim& size = g.shape(g.output(split, i)).has_rank() ? g.shape(g.output(split, i)).dim(channel) : Dim();
      if (!size.known() || size != g.shape(g.output(split, 0)).dim(channel))
        return Kept(DescribeBoth("the parts are not equal", g, g.output(split, 0), g.output(split, i)));
    }
    return Match(std::move(nodes), {g.input(split, 0)});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const NodeId concat = m.root(), conv = m.nodes()[2];
    const int count = static_cast<int>(m.nodes().size()) - 2;
    const auto joined = [&](int input, int axis, std::string_view suffix) {
      std::vector<ValueId> constants;
      for (int i = 0; i < count; ++i) constants.push_back(g.input(m.nodes()[2 + i], input));
      return edit.AddConstant(FreshName(g, Concat(g.Label(concat), "/", suffix)), Joined(g, constants, axis));
    };
    const bool last = g.node(conv).attributes.String("weights_layout", "OIHW") == "HWIO";
    const int output = last ? g.ConstantTensor(g.input(conv, kWeightsInput))->rank() - 1 : 0;
    const ValueId weights = joined(kWeightsInput, output, "weights");
    const ValueId bias = HasBias(g, conv) ? joined(kBiasInput, 0, "bias") : kNoValue;
    ReplaceByFused(edit, conv, concat, [&](NodeId fused) {
      edit.SetInput(fused, 0, m.value(0));
      edit.SetInput(fused, kWeightsInput, weights);
      if (bias.valid()) edit.SetInput(fused, kBiasInput, bias);
      edit.SetAttribute(fused, "group", static_cast<int64_t>(count));
    });
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseGroupedConv() { return std::make_unique<FuseGroupedConv>(); }

}  // namespace halftone

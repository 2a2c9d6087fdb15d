// SPDX-License-Identifier: Apache-2.0
// Fused contractions along the row of their spelling. The pass that spelled the node has checked that the op covers all
// of it (ir/file_dialect.h); an imported node that is unchanged is written as it was.

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/extra.h"
#include "formats/tensorflow/fused_words.h"
#include "formats/tensorflow/row_parts.h"
#include "formats/tensorflow/write_node.h"

namespace halftone::graphdef {
namespace {

using Kind = FusedStep::Kind;

// The entries as the file had them, if they still mean this; else ours.
absl::StatusOr<std::vector<std::string>> Words(const Node& node, const std::vector<FusedStep>& steps,
                                               std::string_view tf_op) {
  if (const AttributeValue* kept = node.extra.find("fused_ops")) {
    const auto* words = std::get_if<std::vector<std::string>>(kept);
    const bool same = words != nullptr && words->size() == steps.size() &&
                      std::equal(words->begin(), words->end(), steps.begin(),
                                 [](const std::string& word, const FusedStep& step) { return StepOf(word) == step; });
    if (same) return *words;
  }
  std::vector<std::string> words;
  for (const FusedStep& step : steps) {
    const std::string_view word = WordOf(step, FamilyOf(tf_op));
    if (word.empty()) {
      return absl::InternalError(
          Concat(tf_op, " cannot express a part of this node; a pass must split it off before export"));
    }
    words.emplace_back(word);
  }
  return words;
}

// The row of the older form where the file had that.
const OpRow& FormOf(const Node& node, const OpRow& row) {
  if (row.with.empty() || !node.extra.Bool(kExtraOlderForm, false)) return row;
  for (const OpRow* other : RowsNamed(row.tf_op)) {
    if (other->kind == row.kind && !other->without.empty()) return *other;
  }
  return row;
}

bool HasPads(const Attributes& attributes) {
  const std::vector<int64_t> pads = attributes.Ints("pads");
  return attributes.String("auto_pad", "NOTSET") == "NOTSET" &&
         std::any_of(pads.begin(), pads.end(), [](int64_t pad) { return pad != 0; });
}

// (begin, end) of every dimension.
std::vector<int64_t> AllPads(const Attributes& attributes, int spatial) {
  std::vector<int64_t> pads = attributes.Ints("pads");
  if (attributes.String("auto_pad", "NOTSET") != "NOTSET" || pads.empty()) pads.assign(2 * spatial, 0);
  const int first = attributes.String("layout", "NCHW") == "NHWC" ? 1 : 2;
  std::vector<int64_t> all(2 * (spatial + 2), 0);
  for (int i = 0; i < spatial; ++i) {
    all[2 * (first + i)] = pads[i];
    all[2 * (first + i) + 1] = pads[spatial + i];
  }
  return all;
}

Attributes WithoutPads(const Attributes& attributes) {
  Attributes result = attributes;
  result.Erase("pads");
  result.Set("auto_pad", std::string("VALID"));
  return result;
}

// A pad before a convolution, in the form of its op.
class Pads {
 public:
  Pads(GraphWriter& out, NodeId id, const OpRow& row) : out_(out), id_(id), row_(row) {}

  bool by_input() const { return row_.inputs.ends_with("Tpaddings"); }
  bool by_list() const {
    return std::any_of(row_.attrs.begin(), row_.attrs.end(),
                       [](const AttrRow& attr) { return attr.name == "padding_list"; });
  }
  // What the convolution reads.
  Source X() const {
    const NodeId pad = HelperOf(out_, id_, 0);
    return by_input() && pad.valid() ? out_.Input(pad, 0) : out_.Input(id_, 0);
  }
  absl::StatusOr<Source> Paddings() const {
    if (const NodeId pad = HelperOf(out_, id_, 0); pad.valid()) return out_.Input(pad, 1);
    const std::vector<int64_t> all = AllPads(attributes(), row_.spatial);
    std::vector<int32_t> cells(all.begin(), all.end());
    return out_.ConstNamed(Concat(out_.NameOf(id_), "/paddings"), Tensor::Of<int32_t>({row_.spatial + 2, 2}, cells),
                           out_.graph().node(id_).device);
  }
  const Attributes& attributes() const { return out_.graph().node(id_).attributes; }

 private:
  GraphWriter& out_;
  const NodeId id_;
  const OpRow& row_;
};

// The inputs after the operands, in the order of the steps.
absl::StatusOr<std::vector<Source>> Arguments(GraphWriter& out, NodeId id, const std::vector<FusedStep>& steps) {
  const Node& node = out.graph().node(id);
  std::vector<Source> sources;
  for (const FusedStep& step : steps) {
    if (step.kind == Kind::kBias) sources.push_back(out.Input(id, 2));
    if (step.kind == Kind::kResidual) sources.push_back(out.Input(id, 3));
    if (step.kind != Kind::kScale) continue;
    HALFTONE_ASSIGN_OR_RETURN(
        const Tensor scale,
        Tensor::Scalar(node.attributes.Float("scale", 1)).ConvertTo(out.graph().type(node.outputs[0])));
    sources.push_back(out.ConstNamed(Concat(out.NameOf(id), "/scale"), scale, node.device));
  }
  return sources;
}

// Attributes that the entries need, under the names of the row.
AttrValues WordAttrs(const Node& node, const OpRow& row, const std::vector<std::string>& words, size_t arguments) {
  AttrValues attrs;
  const auto knows = [&](std::string_view name, AttrForm form) {
    return std::any_of(row.attrs.begin(), row.attrs.end(),
                       [&](const AttrRow& attr) { return attr.name == name && attr.form == form; });
  };
  if (knows("fused_ops", AttrForm::kByRule)) attrs["fused_ops"] = StringsAttr(words);
  if (knows("num_args", AttrForm::kByRule)) attrs["num_args"] = IntAttr(static_cast<int64_t>(arguments));
  if (node.attributes.String("activation", "") == "leaky_relu") {
    attrs["leakyrelu_alpha"] =
        FloatAttr(node.attributes.Float("activation_alpha", ParametersOf(Activation::kLeakyRelu).alpha));
  }
  return attrs;
}

absl::Status WriteFusedConv(GraphWriter& out, NodeId id, const OpRow& row) {
  const Node& node = out.graph().node(id);
  const std::vector<FusedStep> steps = StepsOf(out.graph(), id);
  const Pads pads(out, id, row);
  if (steps.empty() && !pads.by_input() && !pads.by_list()) return WriteConv(out, id);  // nothing is fused any more
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<std::string> words, Words(node, steps, row.tf_op));
  HALFTONE_ASSIGN_OR_RETURN(const ConvWeights weights, ArrangeWeights(out, id));
  if (weights.depthwise != (row.tf_op.find("Depthwise") != std::string_view::npos)) {
    return absl::InternalError(Concat("a convolution of another kind than ", row.tf_op));
  }
  std::vector<Source> inputs = {pads.X(), weights.source};
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Source> arguments, Arguments(out, id, steps));
  inputs.insert(inputs.end(), arguments.begin(), arguments.end());
  AttrValues by_rule = WordAttrs(node, row, words, arguments.size());
  const Attributes without = WithoutPads(node.attributes);
  const Attributes* attributes = nullptr;
  if (pads.by_input()) {
    HALFTONE_ASSIGN_OR_RETURN(const Source paddings, pads.Paddings());
    inputs.push_back(paddings);
    if (HasPads(node.attributes)) attributes = &without;
  } else if (pads.by_list() && HasPads(node.attributes)) {
    by_rule["padding_list"] = IntsAttr(AllPads(node.attributes, row.spatial));
    attributes = &without;
  } else if (pads.by_list()) {
    by_rule["padding_list"];  // not set
  }
  return out.AddRow(id, row, inputs, attributes, by_rule);
}

absl::Status WriteFusedMatMul(GraphWriter& out, NodeId id, const OpRow& row) {
  const Graph& graph = out.graph();
  const Node& node = graph.node(id);
  const std::vector<FusedStep> steps = StepsOf(graph, id);
  const bool accumulates = row.outputs == "Tout";
  if (steps.empty() && !accumulates) return WriteMatMul(out, id);  // nothing is fused any more
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<std::string> words, Words(node, steps, row.tf_op));
  std::vector<Source> inputs;
  const bool through = ReadsThroughCasts(graph, id);
  for (int i = 0; i < 2; ++i) {
    inputs.push_back(through ? out.Input(graph.producer(node.inputs[i]), 0) : out.Input(id, i));
  }
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Source> arguments, Arguments(out, id, steps));
  inputs.insert(inputs.end(), arguments.begin(), arguments.end());
  AttrValues by_rule = WordAttrs(node, row, words, arguments.size());
  if (accumulates) by_rule["Tpost"] = TypeAttr(graph.type(node.outputs[0]));
  const bool rounds = node.attributes.has("math_mode") && !through;
  if (accumulates && (rounds || node.extra.has("is_bf16_math_mode"))) by_rule["is_bf16_math_mode"] = BoolAttr(rounds);
  return out.AddRow(id, row, inputs, nullptr, by_rule);
}

}  // namespace

absl::Status WriteFused(GraphWriter& out, NodeId id, const OpRow& row) {
  const OpRow& form = FormOf(out.graph().node(id), row);
  return row.kind == OpKind::kConv ? WriteFusedConv(out, id, form) : WriteFusedMatMul(out, id, form);
}

// The convolution is a helper.
absl::Status WriteConvBatchNorm(GraphWriter& out, NodeId id, const OpRow& row) {
  const Graph& graph = out.graph();
  const NodeId conv = HelperOf(out, id, 0);
  if (!conv.valid() || graph.op(conv) != OpKind::kConv) return WriteBatchNorm(out, id);
  const Node& node = graph.node(id);
  std::vector<FusedStep> steps = StepsOf(graph, conv);
  if (!steps.empty()) return absl::InternalError("a fused convolution before a batch norm that is one op with it");
  steps.push_back({Kind::kBatchNorm});
  if (node.attributes.has("activation")) {
    const auto activation = ActivationFromName(node.attributes.String("activation", ""));
    steps.push_back({Kind::kActivation, activation.value_or(Activation::kNone)});
  }
  const OpRow& form = FormOf(node, row);
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<std::string> words, Words(node, steps, row.tf_op));
  std::vector<Source> inputs = {out.Input(conv, 0), out.Input(conv, 1)};
  for (int i = 1; i < 5; ++i) inputs.push_back(out.Input(id, i));
  AttrValues by_rule = WordAttrs(node, form, words, 4);
  by_rule["epsilon"] = FloatAttr(node.attributes.Float("epsilon", 1e-5f));
  return out.AddRow(id, form, inputs, &graph.node(conv).attributes, by_rule);
}

}  // namespace halftone::graphdef

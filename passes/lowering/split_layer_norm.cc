#include "passes/lowering/split_layer_norm.h"

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "passes/fusion/contraction.h"

namespace halftone {
namespace {

// Writes parts behind the input of one layer norm.
class Parts {
 public:
  Parts(GraphEditor& edit, NodeId norm) : edit_(edit), norm_(norm) {}

  ValueId Constant(std::string_view word, Tensor tensor) {
    const Graph& g = edit_.graph();
    return edit_.AddConstant(FreshName(g, Concat(g.Label(norm_), "/", word)), std::move(tensor));
  }
  ValueId Apply(OpKind op, std::vector<ValueId> inputs, Shape shape) {
    const Graph& g = edit_.graph();
    Node node;
    node.op = op;
    if (op == OpKind::kAdd) node.spelling = "AddV2";
    if (op == OpKind::kReduceMean) node.attributes.Set("keepdims", true);
    node.inputs = std::move(inputs);
    node.device = g.node(norm_).device;
    node.origin = g.node(norm_).origin;
    node.name = FreshName(g, Concat(g.Label(norm_), "/", OpName(op)));
    return g.output(edit_.AddNode(std::move(node), {{g.type(g.output(norm_)), std::move(shape), ""}}));
  }

 private:
  GraphEditor& edit_;
  const NodeId norm_;
};

}  // namespace

absl::Status SplitLayerNorm::Run(GraphEditor& edit, PassContext&) const {
  const Graph& g = edit.graph();
  for (const NodeId id : g.nodes()) {
    const Node node = g.node(id);
    if (node.op != OpKind::kLayerNorm || node.attributes.Int("axis", -1) != -1) continue;
    if (node.outputs.size() != 1 || node.inputs.size() != 3 || !g.shape(node.inputs[0]).has_rank()) continue;
    if (DialectWrites(dialect_, g, id)) continue;
    const ValueId x = node.inputs[0];
    const Shape whole = g.shape(x);
    Shape row = whole;
    row.mutable_dim(row.rank() - 1) = Dim::Of(1);
    HALFTONE_ASSIGN_OR_RETURN(Tensor epsilon,
                              Tensor::Scalar(node.attributes.Float("epsilon", 1e-5f)).ConvertTo(g.type(x)));
    Parts parts(edit, id);
    const ValueId axes = parts.Constant("axes", Tensor::Of<int32_t>({1}, std::vector<int32_t>{-1}));
    const ValueId mean = parts.Apply(OpKind::kReduceMean, {x, axes}, row);
    const ValueId centred = parts.Apply(OpKind::kSub, {x, mean}, whole);
    const ValueId squares = parts.Apply(OpKind::kMul, {centred, centred}, whole);
    const ValueId variance = parts.Apply(OpKind::kReduceMean, {squares, axes}, row);
    const ValueId sum = parts.Apply(OpKind::kAdd, {variance, parts.Constant("epsilon", std::move(epsilon))}, row);
    const ValueId normal = parts.Apply(OpKind::kDiv, {centred, parts.Apply(OpKind::kSqrt, {sum}, row)}, whole);
    const ValueId scaled = parts.Apply(OpKind::kMul, {normal, node.inputs[1]}, whole);
    edit.ReplaceNode(id, g.producer(parts.Apply(OpKind::kAdd, {scaled, node.inputs[2]}, whole)));
  }
  return absl::OkStatus();
}

}  // namespace halftone

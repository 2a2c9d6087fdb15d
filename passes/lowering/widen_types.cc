#include "passes/lowering/widen_types.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "ir/nested.h"
#include "passes/fusion/contraction.h"

namespace halftone {
namespace {

constexpr std::string_view kIsland = "only nodes that the file holds in f32 are around it";

// Whether its types can change without anybody else knowing.
bool CanWiden(OpKind op) {
  if (op == OpKind::kInput || op == OpKind::kConstant || op == OpKind::kOpaque || HasNestedGraphs(op)) return false;
  return op < OpKind::kTensorArray || op > OpKind::kTensorArraySplit;  // these name their type in Node::extra
}

// Worth a cast in front: the types below f32 are there for these.
bool Multiplies(OpKind op) {
  const OpGroup group = Info(op).group;
  return group == OpGroup::kContraction || group == OpGroup::kRecurrent;
}

bool ReadsAnyType(OpKind op) { return op == OpKind::kCast || op == OpKind::kShape; }

// Types of values before any edit are remembered: they are what nodes that stay want.
class Widener {
 public:
  Widener(GraphEditor& edit, const TypeRefusal& refusal)
      : edit_(edit), g_(edit.graph()), refusal_(refusal), nodes_(g_.nodes()) {
    for (int i = 0; i < g_.num_values(); ++i) before_.push_back(g_.type(ValueId{i}));
  }

  // The reasons, by node: those that the rules refuse.
  const std::map<NodeId, std::string>& FindRefused() {
    for (const NodeId id : nodes_) {
      if (!CanWiden(g_.op(id)) || TypesBelowFloat32(g_, id).empty()) continue;
      if (std::string why = refusal_(id); !why.empty()) wide_.emplace(id, std::move(why));
    }
    return wide_;
  }

  bool AnyRefused() const { return !wide_.empty(); }

  // And those that are only between them.
  const std::map<NodeId, std::string>& AddIslands() {
    std::set<NodeId> seen;
    const std::map<NodeId, std::string> refused = wide_;
    for (const auto& [id, why] : refused) {
      for (const NodeId next : Neighbours(id)) {
        if (!seen.contains(next)) AddIsland(next, seen);
      }
    }
    return wide_;
  }

  absl::Status Widen() {
    for (const auto& [id, why] : wide_) {
      const std::vector<ValueId> outputs = g_.node(id).outputs;
      for (const ValueId output : outputs) {
        if (output.valid() && IsBelowFloat32(g_.type(output))) edit_.SetType(output, DataType::kFloat32);
      }
    }
    for (const NodeId id : nodes_) {
      for (size_t i = 0; i < g_.node(id).inputs.size(); ++i) {
        HALFTONE_RETURN_IF_ERROR(FixInput(id, static_cast<int>(i)));
      }
    }
    HALFTONE_RETURN_IF_ERROR(FixOutputs());
    RemoveCasts();
    return absl::OkStatus();
  }

 private:
  bool IsWide(NodeId id) const { return wide_.contains(id); }

  // Nodes that share a value below f32 with this one; a constant is nobody's bridge.
  std::vector<NodeId> Neighbours(NodeId id) const {
    std::vector<NodeId> result;
    const Node& node = g_.node(id);
    for (const ValueId input : node.inputs) {
      if (input.valid() && IsBelowFloat32(g_.type(input)) && !g_.IsConstant(input))
        result.push_back(g_.producer(input));
    }
    for (const ValueId output : node.outputs) {
      if (!output.valid() || !IsBelowFloat32(g_.type(output))) continue;
      for (const Use& use : g_.uses(output)) result.push_back(use.node);
    }
    return result;
  }

  // An output below f32, which needs its type in the end.
  bool MakesOutput(NodeId id) const {
    const std::vector<ValueId>& outputs = g_.node(id).outputs;
    return std::any_of(outputs.begin(), outputs.end(), [&](ValueId value) {
      return value.valid() && IsBelowFloat32(g_.type(value)) && g_.IsOutput(value);
    });
  }

  void AddIsland(NodeId first, std::set<NodeId>& seen) {
    std::vector<NodeId> work{first}, island;
    bool worthwhile = false;
    while (!work.empty()) {
      const NodeId id = work.back();
      work.pop_back();
      if (IsWide(id) || !seen.insert(id).second) continue;
      worthwhile |= !CanWiden(g_.op(id)) || Multiplies(g_.op(id)) || MakesOutput(id);
      island.push_back(id);
      for (const NodeId next : Neighbours(id)) work.push_back(next);
    }
    if (worthwhile) return;
    for (const NodeId id : island) wide_.emplace(id, kIsland);
  }

  absl::Status FixInput(NodeId id, int i) {
    const ValueId value = g_.input(id, i);
    if (!value.valid() || static_cast<size_t>(value.index) >= before_.size()) return absl::OkStatus();
    const DataType before = before_[value.index];
    if (!IsBelowFloat32(before)) return absl::OkStatus();
    const DataType wanted = IsWide(id) ? DataType::kFloat32 : before;
    if (g_.type(value) == wanted || (!IsWide(id) && ReadsAnyType(g_.op(id)))) return absl::OkStatus();
    HALFTONE_ASSIGN_OR_RETURN(const ValueId converted, Convert(value, wanted));
    const Node& node = g_.node(id);
    const int capture = i - static_cast<int>(node.inputs.size() - node.captures.size());
    const bool captured = capture >= 0 && !node.captures[capture].empty();
    edit_.SetInput(id, i, converted);
    if (captured && renamed_.insert(value).second) MoveNames(value, converted);
    return absl::OkStatus();
  }

  absl::Status FixOutputs() {
    std::vector<GraphOutput> outputs = g_.outputs();
    bool changed = false;
    for (GraphOutput& output : outputs) {
      const ValueId value = output.value;
      if (static_cast<size_t>(value.index) >= before_.size() || g_.type(value) == before_[value.index]) continue;
      HALFTONE_ASSIGN_OR_RETURN(output.value, Convert(value, before_[value.index]));
      if (renamed_.insert(value).second) MoveNames(value, output.value);
      changed = true;
    }
    if (changed) edit_.SetGraphOutputs(std::move(outputs));
    return absl::OkStatus();
  }

  // The names by which `from` is known outside are those of its cast from now on.
  void MoveNames(ValueId from, ValueId to) {
    const NodeId producer = g_.producer(from);
    const std::string node_name = g_.node(producer).name;
    if (!node_name.empty() && g_.node(producer).outputs.size() == 1) {
      edit_.SetName(producer, FreshName(g_, Concat(node_name, "/", DataTypeName(g_.type(from)))));
      edit_.SetName(g_.producer(to), node_name);
    }
    const std::string value_name = g_.value(from).name;
    if (value_name.empty()) return;
    edit_.SetValueName(from, "");
    edit_.SetValueName(to, value_name);
  }

  absl::StatusOr<ValueId> Convert(ValueId value, DataType type) {
    const auto key = std::pair(value, type);
    if (const auto it = converted_.find(key); it != converted_.end()) return it->second;
    const NodeId from = g_.producer(value);
    Node cast;
    cast.op = OpKind::kCast;
    cast.name = FreshName(
        g_, Concat(g_.value(value).name.empty() ? g_.Label(from) : g_.value(value).name, "/", DataTypeName(type)));
    cast.inputs = {value};
    cast.device = g_.node(from).device;
    const NodeId id = edit_.AddNode(std::move(cast), {{type, g_.shape(value), ""}});
    ValueId result = g_.output(id);
    if (g_.IsConstant(value) && !refusal_(id).empty()) {
      edit_.RemoveNode(id);
      HALFTONE_ASSIGN_OR_RETURN(result, ConvertConstant(value, type));
    }
    converted_.emplace(key, result);
    return result;
  }

  // A copy: the old one dies of disuse.
  absl::StatusOr<ValueId> ConvertConstant(ValueId value, DataType type) {
    const NodeId old = g_.producer(value);
    absl::StatusOr<Tensor> tensor = g_.ConstantTensor(value)->ConvertTo(type);
    if (!tensor.ok()) return Annotate(tensor.status(), Concat("constant '", g_.Label(old), "'"));
    const std::string name = g_.node(old).name, value_name = g_.value(value).name;
    const NodeId copy = edit_.Clone(old);
    if (!name.empty()) edit_.SetName(copy, FreshName(g_, Concat(name, "/", DataTypeName(type))));
    edit_.SetAttribute(copy, "value", *std::move(tensor));
    edit_.SetType(g_.output(copy), type);
    if (!value_name.empty()) edit_.SetValueName(g_.output(copy), FreshName(g_, value_name));
    return g_.output(copy);
  }

  // Casts of which both sides are f32 now.
  void RemoveCasts() {
    for (const NodeId id : nodes_) {
      if (!IsWide(id) || g_.op(id) != OpKind::kCast || g_.HasControlEdges(id)) continue;
      const ValueId x = g_.input(id, 0), y = g_.output(id);
      if (g_.type(x) != g_.type(y)) continue;
      if (!g_.IsOutput(y) && !g_.IsCaptured(y)) {
        edit_.ReplaceUses(y, x);
        edit_.RemoveNode(id);
      } else if (CanTakeName(x)) {
        edit_.ReplaceNode(id, g_.producer(x));
      }
    }
  }

  // Whether the node that makes x may be called as the only reader of x is.
  bool CanTakeName(ValueId x) const {
    const NodeId producer = g_.producer(x);
    const OpKind op = g_.op(producer);
    return op != OpKind::kInput && op != OpKind::kConstant && op != OpKind::kOpaque &&
           g_.node(producer).outputs.size() == 1 && g_.HasOneUser(x) && !g_.HasControlEdges(producer);
  }

  GraphEditor& edit_;
  const Graph& g_;
  const TypeRefusal& refusal_;
  const std::vector<NodeId> nodes_;
  std::vector<DataType> before_;        // by ValueId::index
  std::map<NodeId, std::string> wide_;  // f32 from now on, and why
  std::map<std::pair<ValueId, DataType>, ValueId> converted_;
  std::set<ValueId> renamed_;
};

// "3 nodes planned below f32 had to stay f32 in the file: 'a' (ONNX's Celu takes no bf16 up to opset 22), ..."
std::string Sentence(const Graph& g, const std::map<NodeId, std::string>& refused) {
  constexpr int kNamed = 3;
  int count = 0;
  std::string named;
  for (const auto& [id, why] : refused) {
    if (g.op(id) == OpKind::kCast) continue;
    if (count++ < kNamed) named += Concat(named.empty() ? "'" : ", '", g.Label(id), "' (", why, ")");
  }
  if (count == 0) return "";
  return Concat(count, count == 1 ? " node" : " nodes", " planned below f32 had to stay f32 in the file: ", named,
                count > kNamed ? ", ..." : "");
}

}  // namespace

absl::Status WidenTypes::Run(GraphEditor& edit, PassContext& context) const {
  if (types_ == nullptr) return absl::OkStatus();
  const Graph& g = edit.graph();
  const TypeRefusal refusal = types_(g);
  Widener widener(edit, refusal);
  const std::string sentence = Sentence(g, widener.FindRefused());
  if (!widener.AnyRefused()) return absl::OkStatus();
  for (const auto& [id, why] : widener.AddIslands()) {
    if (context.log != nullptr) context.log->Applied(name(), g, id, why);
  }
  if (!sentence.empty()) context.notes.push_back(sentence);
  HALFTONE_RETURN_IF_ERROR(widener.Widen());
  edit.RemoveDeadNodes();
  return absl::OkStatus();
}

}  // namespace halftone

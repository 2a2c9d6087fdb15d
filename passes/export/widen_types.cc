// SPDX-License-Identifier: Apache-2.0
#include "passes/export/widen_types.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "ir/nested.h"
#include "passes/precision/type_changes.h"

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

class Widener final : public TypeChanges {
 public:
  Widener(GraphEditor& edit, const TypeRefusal& refusal) : TypeChanges(edit), refusal_(refusal) {}

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
    HALFTONE_RETURN_IF_ERROR(FixReaders());
    RemoveCasts();
    return absl::OkStatus();
  }

 private:
  bool IsWide(NodeId id) const { return wide_.contains(id); }

  // Nodes that share a value below f32 with this one; a constant connects no nodes.
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

  std::optional<DataType> Wanted(NodeId id, int /*i*/, DataType before) const override {
    if (!IsBelowFloat32(before)) return std::nullopt;
    if (IsWide(id)) return DataType::kFloat32;
    if (ReadsAnyType(g_.op(id))) return std::nullopt;
    return before;
  }

  // A constant stays as small as it is where the file may have a cast after it.
  absl::StatusOr<ValueId> MakeConverted(ValueId value, DataType type) override {
    const NodeId cast = AddCast(value, type);
    if (!g_.IsConstant(value) || refusal_(cast).empty()) return g_.output(cast);
    edit_.RemoveNode(cast);
    return CopyConstant(value, type);
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

  const TypeRefusal& refusal_;
  std::map<NodeId, std::string> wide_;  // f32 from now on, and why
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

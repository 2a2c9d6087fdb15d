// SPDX-License-Identifier: Apache-2.0
// Gives nodes and values short names: "A", "B", .., "AA".
//
// Except inputs and outputs of the graph, and values that subgraphs read by name. Outputs do not change. Other texts of
// the file (attributes like "_class", functions of its library, metadata) stay unchanged.

#include <set>
#include <utility>

#include "base/strings.h"
#include "passes/transforms/passes.h"

namespace halftone {
namespace {

constexpr int kLetters = 26;

class ShortNames {
 public:
  explicit ShortNames(std::set<std::string> taken) : taken_(std::move(taken)) {}
  std::string Next() {
    std::string name;
    do {
      name = Of(next_++);
    } while (!taken_.insert(name).second);
    return name;
  }

 private:
  static std::string Of(int64_t number) {
    std::string name;
    for (++number; number > 0; number = (number - 1) / kLetters)
      name.insert(name.begin(), static_cast<char>('A' + (number - 1) % kLetters));
    return name;
  }
  std::set<std::string> taken_;
  int64_t next_ = 0;
};

bool IsKnown(const Graph& g, NodeId id) {
  if (g.op(id) == OpKind::kInput) return true;
  for (const ValueId output : g.node(id).outputs) {
    if (output.valid() && (g.IsOutput(output) || g.IsCaptured(output))) return true;
  }
  return false;
}

// Unnamed values stay unnamed: unnamed constants are attributes in files, and unnamed outputs are absent there.
struct Renaming {
  NodeId node;
  bool node_too = false;
  std::vector<ValueId> values;
};

class ObfuscateNames final : public Pass {
 public:
  std::string_view name() const override { return "obfuscate_names"; }

  absl::Status Run(GraphEditor& edit, PassContext&) const override {
    const Graph& g = edit.graph();
    std::set<std::string> taken;
    std::vector<Renaming> others;
    for (const NodeId id : g.nodes()) {
      if (!IsKnown(g, id)) {
        Renaming renaming{id, !g.node(id).name.empty(), {}};
        for (const ValueId output : g.node(id).outputs) {
          if (output.valid() && !g.value(output).name.empty()) renaming.values.push_back(output);
        }
        if (renaming.node_too || !renaming.values.empty()) others.push_back(std::move(renaming));
        continue;
      }
      taken.insert(g.node(id).name);
      for (const ValueId output : g.node(id).outputs) {
        if (output.valid()) taken.insert(g.value(output).name);
      }
    }
    for (const GraphOutput& output : g.outputs()) taken.insert(output.name);
    for (const Renaming& renaming : others) {  // a short name may still be used by a later renaming
      if (renaming.node_too) edit.SetName(renaming.node, "");
      for (const ValueId output : renaming.values) edit.SetValueName(output, "");
    }
    ShortNames names(std::move(taken));
    for (const Renaming& renaming : others) {
      const std::string name = names.Next();
      if (renaming.node_too) edit.SetName(renaming.node, name);
      for (const ValueId output : renaming.values) {
        const int port = g.value(output).port;
        edit.SetValueName(output, port == 0 ? name : Concat(name, ":", port));
      }
    }
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<Pass> MakeObfuscateNames() { return std::make_unique<ObfuscateNames>(); }

}  // namespace halftone

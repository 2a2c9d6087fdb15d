// SPDX-License-Identifier: Apache-2.0
// TensorFlow's auto_mixed_precision on the types of a graph: marks those that become bfloat16 (or float16).
//
// The steps, in this order:
//   allow             marks every type of an op on the allow list; only these start the paths of the next steps.
//   deny-propagation  denies the types of deny ops, and those of infer and clear ops on a path from a deny op to a deny
//                     or infer op. Denied types are never marked.
//   tensor-lists      gives the types of all ops that share a tensor list one mark. They are denied if one of them is,
//                     or if the list reaches a node that is not processed, a function or an input.
//   infer-between     marks infer and clear ops between two allow ops.
//   infer-after       optional: marks infer ops that directly follow a marked type and no denied one.
//   clear-adjacent    marks clear ops that are connected to a marked type through clear ops, except ops that read a
//                     variable.
//   not-supported     removes the marks of allow ops whose type may not be bfloat16 in TensorFlow's registry, or that
//                     also have quantized types. The paths that they started stay marked.
//   tensor-lists      again.
//   loop-edges        NextIteration and its Merges: marked only if all the Merges are.
//   casts             marks an existing cast to f32 if all its consumers are marked.
//
// Nodes that are not processed (preserved outputs, inputs, nodes on other devices) start no path, and paths do not pass
// through them; but deny and the last two steps treat them like other nodes. Infer and clear types are marked only if
// they are f32 and may be bfloat16; deny propagates through every type. A mark has an effect only on a type that is f32
// and a type attribute.
#ifndef HALFTONE_PASSES_PRECISION_AUTO_MIXED_PRECISION_H_
#define HALFTONE_PASSES_PRECISION_AUTO_MIXED_PRECISION_H_

#include <string>
#include <string_view>
#include <vector>

#include "passes/precision/op_lists.h"
#include "passes/precision/type_topology.h"

namespace halftone {

class AutoMixedPrecision {
 public:
  // Both must outlive this object. The edges of tensor lists are added to the topology.
  AutoMixedPrecision(TypeTopology& topology, const OpLists& lists);

  // Returns false if the graph has no allow op: then nothing is marked or denied.
  bool Run(bool mark_infer_after_allow);

  // Whether the type is marked, f32 and a type attribute (not a fixed type).
  bool IsMarked(int vertex) const;
  ListKind ListOf(int vertex) const { return lists_by_node_[topology_.vertices()[vertex].node]; }
  // The step that marked or denied the type; "" if none did.
  std::string_view StepOf(int vertex) const { return state_[vertex].step; }
  // The deny op from which deny-propagation reached this vertex; -1 for a deny op itself and for other steps.
  int CauseOf(int vertex) const { return state_[vertex].cause; }

  // The number of casts between marked and other types, one per (node, port). To the target type (casts of constants
  // and variables are not counted), or back to f32.
  int CountCasts(bool to_target) const;
  int CountMarked() const;

 private:
  struct State {
    bool allowed = false;
    bool denied = false;
    std::string_view step;
    int cause = -1;
  };
  struct TensorListCluster {
    std::vector<int> types;  // vertices
  };

  void AllowListed();
  void PropagateDeny();
  void MarkBetweenAllow();
  void MarkInferAfterAllow();
  void MarkClearNeighbours();
  void TakeBackNotSupported();
  void MatchLoopEdges();
  void MarkCasts();

  // tensor_lists.cc
  void FindTensorLists();
  void AddListEdges(const std::vector<int>& cluster);
  void MatchTensorLists();
  int ListType(int node) const;

  bool IsProcessed(int vertex) const { return topology_.node_of(vertex).processed; }
  bool IsAllowRoot(int vertex) const { return ListOf(vertex) == ListKind::kAllow && IsProcessed(vertex); }
  // Whether the type may be marked: it is f32, may be the target type, and is processed and not denied.
  bool MayMark(int vertex) const;
  bool ReadsVariable(int node) const;
  int num_vertices() const { return static_cast<int>(topology_.vertices().size()); }
  void Allow(int vertex, std::string_view step);
  void Deny(int vertex, std::string_view step, int cause = -1);
  void TakeBack(int vertex, std::string_view step);

  // Adds the vertices that can be reached from `root` to `reached`, and calls `visit` for each, including the root. The
  // walk enters only vertices that are not yet in `reached` and for which `enter` returns true.
  template <typename Enter, typename Visit>
  void Walk(int root, bool forward, bool backward, std::vector<bool>& reached, Enter enter, Visit visit) const {
    std::vector<int> work = {root};
    reached[root] = true;
    while (!work.empty()) {
      const int at = work.back();
      work.pop_back();
      visit(at);
      const TypeTopology::Vertex& vertex = topology_.vertices()[at];
      for (const auto* neighbours : {forward ? &vertex.fanout : nullptr, backward ? &vertex.fanin : nullptr}) {
        if (neighbours == nullptr) continue;
        for (const int next : *neighbours) {
          if (reached[next] || !enter(next)) continue;
          reached[next] = true;
          work.push_back(next);
        }
      }
    }
  }

  TypeTopology& topology_;
  const OpLists& lists_;
  std::vector<ListKind> lists_by_node_;
  std::vector<State> state_;  // by vertex
  std::vector<TensorListCluster> clusters_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_AUTO_MIXED_PRECISION_H_

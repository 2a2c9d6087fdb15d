// TensorFlow's algorithm on the types of a graph: which of them become bfloat16 (or float16). Steps, in this order:
//
//   allow             every type of an op on the allow list; only these start the paths below
//   deny-propagation  deny ops, and infer or clear ops on a path from a deny op to a deny or infer op, are never
//   marked tensor-lists      types of the ops that share a tensor list get one colour: denied if one of them is, or if
//   the list
//                     reaches a node that is not processed or a border (a function's, an input's)
//   infer-between     infer and clear ops between two allow ops
//   infer-after       only if asked: infer ops that directly follow a marked type, and no denied one
//   clear-adjacent    clear ops connected to a marked type through clear ops, but what reads a variable
//   not-supported     marked types of allow ops that the registry does not let be bfloat16, or that have quantized
//                     types beside them, are taken back: they have started paths all the same
//   tensor-lists      again
//   loop-edges        NextIteration and its Merges: marked only if all the Merges are
//   casts             an existing cast to f32 whose readers are all marked
//
// Who looks at what. Nodes that are not processed (outputs that are kept, inputs, other devices) start no path and are
// not walked through, but deny and the last two steps take them as any other. Infer and clear types are entered only if
// they are f32 and may be bfloat16; deny goes through any type. What is marked at the end counts where it is f32 and
// no fixed type.
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
  // Both must outlive the painter; the topology gains the edges that tensor lists make.
  AutoMixedPrecision(TypeTopology& topology, const OpLists& lists);

  // False: the graph has no allow op, so nothing is marked nor denied.
  bool Run(bool mark_infer_after_allow);

  // Marked, f32, and no fixed type.
  bool IsMarked(int vertex) const;
  bool IsAllowed(int vertex) const { return state_[vertex].allowed; }
  bool IsDenied(int vertex) const { return state_[vertex].denied; }
  ListKind ListOf(int vertex) const { return lists_by_node_[topology_.vertices()[vertex].node]; }
  // The step that decided; "" if none did.
  std::string_view StepOf(int vertex) const { return state_[vertex].step; }
  // The deny op at whose end a path begins that denied this vertex; -1 for itself and other steps.
  int CauseOf(int vertex) const { return state_[vertex].cause; }

  // Casts that the borders between marked and other types need, one a (node, port): to the target type, without those
  // of constants and variables, and back to f32.
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
  // Whether a path may enter it: f32, may change, not denied.
  bool MayMark(int vertex) const;
  bool ReadsVariable(int node) const;
  int num_vertices() const { return static_cast<int>(topology_.vertices().size()); }
  void Allow(int vertex, std::string_view step);
  void Deny(int vertex, std::string_view step, int cause = -1);
  void TakeBack(int vertex, std::string_view step);

  // Adds what can be reached from `root` to `reached`: through vertices that are not yet in it and that `enter` lets
  // in. Calls `visit` for each, the root too.
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

// SPDX-License-Identifier: Apache-2.0
// The builder of plans, in five files: plan_builder.cc (the nodes, in order), plan_constants.cc (what is needed, known
// and runnable), plan_layouts.cc (how images lie), plan_placement.cc (where values lie, conversions), wide_graph.cc
// (f16 in f32). Private to runtime/plan.
#ifndef HALFTONE_RUNTIME_PLAN_PLAN_BUILDER_INTERNAL_H_
#define HALFTONE_RUNTIME_PLAN_PLAN_BUILDER_INTERNAL_H_

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/shape_values.h"
#include "runtime/plan/plan_builder.h"
#include "runtime/plan/runnable.h"
#include "runtime/plan/wide_graph.h"

namespace halftone {

// A value in the layout it has in one block.
struct Variant {
  Placement placement;
  int block = -1;
};

// Where a value is. The first variant is as its producer left it; others were converted from it.
struct Located {
  std::vector<int64_t> dims;
  std::optional<Tensor> constant;
  std::vector<Variant> variants;
  // The first variant holds more than the value's type can: a cast that is not carried out yet. It may be read through
  // a conversion to the value's type only.
  bool unrounded = false;
  int uses_left = 0;  // by needed nodes that were not planned yet, and as outputs of the graph
};

class PlanBuilder final {
 public:
  PlanBuilder(const Graph& graph, const PlanRequest& request)
      : graph_(graph),
        request_(request),
        backend_(request.backend),
        known_(graph),
        needed_(NeededNodes(graph)),
        values_(graph.num_values()) {}

  absl::StatusOr<PlannedGraph> Build();

 private:
  class Context;
  class WideContext;

  Located& At(ValueId value) { return values_[value.index]; }
  const Located& At(ValueId value) const { return values_[value.index]; }
  bool IsRead(ValueId value) const;         // by a node, or as an output
  bool IsFolded(NodeId node) const;         // every output that is read is constant
  bool HasEmptyInput(NodeId node) const;    // of no elements
  bool OutputsAreEmpty(NodeId node) const;  // each that is read

  // plan_constants.cc
  absl::Status CheckSizes() const;
  absl::Status FindConstants();
  absl::Status FoldNode(NodeId node);
  absl::Status CheckRunnable() const;
  void CountUses();

  // plan_builder.cc
  absl::Status PlanNode(NodeId node);
  bool PlanCast(NodeId node);
  void PlanEmpty(NodeId node);
  absl::StatusOr<std::optional<Prepared>> Prepare(NodeId node, std::vector<std::string>& reasons);
  absl::Status Accept(NodeId node, Prepared prepared);
  struct Work {
    StepKind kind;
    Implementation kernel;
  };
  static Work WorkOf(const Prepared& prepared);
  StepInfo Describe(NodeId node, Work work) const;
  static void SetTypesAsRun(const Prepared& prepared, StepInfo& info);
  void SetLifetimes();

  // plan_layouts.cc
  void ChooseLayouts();
  std::vector<NodeId> Convolutions() const;
  bool HasLargeImages(std::span<const NodeId> convs) const;
  bool PassesLayoutOn(NodeId node) const;
  bool JoinsUnevenBlocks(NodeId node) const;
  std::vector<std::optional<LayoutSeconds>> SecondsByLayout(std::span<const NodeId> convs) const;

  // plan_placement.cc
  void PlaceInputs();
  absl::Status PlaceOutputs();
  int AddBlock(Block block);
  int AddScratch(size_t bytes);  // of the step that is added next
  void PutOn(ValueId value, Placement placement, int block);
  void TakeFrom(ValueId value, int block);  // it is no longer there
  void CountUse(ValueId value);
  bool DiesWithOneUse(int block) const;
  Placement PlacementOf(ValueId value) const;
  DataType ExactType(ValueId value) const;
  absl::StatusOr<int> Obtain(ValueId value, const Placement& wanted, const std::string& asker, bool owned);
  absl::StatusOr<Variant> SourceFor(ValueId value, DataType wanted, const std::string& asker);
  absl::StatusOr<int> Convert(ValueId value, const Variant& from, const Placement& to, const std::string& asker,
                              bool owned);

  const Graph& graph_;
  const PlanRequest& request_;
  const Backend& backend_;
  ShapeValues known_;
  const std::vector<NodeId> needed_;  // in topological order
  std::vector<Located> values_;
  std::map<NodeId, ImageLayout> layouts_;  // of those that have the choice
  std::vector<int> uses_left_;             // by block: of the values that lie there
  PlannedGraph plan_;
};

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_PLAN_BUILDER_INTERNAL_H_

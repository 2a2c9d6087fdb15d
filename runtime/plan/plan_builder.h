// SPDX-License-Identifier: Apache-2.0
// From a graph to the steps of a plan: which kernel, where each value lies, how long it lives. Private to runtime/plan.
#ifndef HALFTONE_RUNTIME_PLAN_PLAN_BUILDER_H_
#define HALFTONE_RUNTIME_PLAN_PLAN_BUILDER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "runtime/plan/kernel.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_request.h"

namespace halftone {

class WideGraph;

// A piece of memory. Several values may lie in it: views, and results written over an input.
struct Block {
  enum class Kind { kArena, kScratch, kInput, kConstant };
  Kind kind = Kind::kArena;
  size_t bytes = 0;
  int first_step = 0;                      // kArena, kScratch: alive from this step
  int last_step = 0;                       // to this one
  int input = -1;                          // kInput: which of the graph's inputs
  std::shared_ptr<const Buffer> constant;  // kConstant
  ValueId value;                           // the first that lay there

  bool InArena() const { return (kind == Kind::kArena || kind == Kind::kScratch) && last_step >= 0; }
};

struct PlannedStep {
  StepInfo info;
  std::unique_ptr<Step> step;         // null: nothing to do at run time
  std::vector<int> inputs;            // blocks
  std::vector<int> outputs;           // blocks; -1: not used
  std::vector<Placement> placements;  // of a node's outputs; empty for a conversion
  int scratch = -1;                   // block; -1: it wants none
  double spent_us = 0;                // while times are taken
};

struct PlannedGraph {
  std::vector<PlannedStep> steps;
  std::vector<Block> blocks;
  std::vector<int> inputs;   // blocks, in the order of graph.inputs()
  std::vector<int> outputs;  // blocks, plain, in the order of graph.outputs()
  std::vector<std::vector<int64_t>> output_dims;
  std::shared_ptr<WideGraph> wide;  // steps may refer to it
};

// Steps may refer to `graph`, which must outlive them and stay where it is.
absl::StatusOr<PlannedGraph> PlanGraph(const Graph& graph, const PlanRequest& request);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_PLAN_BUILDER_H_

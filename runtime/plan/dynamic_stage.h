// SPDX-License-Identifier: Apache-2.0
// One part of a plan that is made in parts: what is done next with what is known, and what may follow. Private to
// runtime/plan.
//
// A stage has the graph with all shapes that are known at this point. It does one thing:
//   bind   small integers that are there and decide the shape of a later node become constants of the graph;
//   host   nodes whose shapes depend on their data are computed by the reference function (or as control flow);
//   plan   every other node that can be computed by now, as one ordinary plan;
//   done   all outputs are there.
// What follows depends on the dimensions and bound elements that this makes known: they are the key of the next stage.
#ifndef HALFTONE_RUNTIME_PLAN_DYNAMIC_STAGE_H_
#define HALFTONE_RUNTIME_PLAN_DYNAMIC_STAGE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "runtime/plan/bound_shapes.h"
#include "runtime/plan/plan_request.h"
#include "runtime/plan/static_plan.h"

namespace halftone {

struct Stage {
  enum class Kind { kInputs, kBind, kHost, kPlan, kDone };

  Kind kind = Kind::kInputs;
  Graph graph;
  KnownDims dims;                    // of the values that were computed before this stage, and of the inputs
  std::vector<ValueId> bound;        // kBind
  std::vector<NodeId> nodes;         // kHost, in order; none reads another
  std::vector<double> spent_us;      // kHost: while times are taken
  std::unique_ptr<StaticPlan> plan;  // kPlan
  std::vector<ValueId> plan_inputs;  // in the order of the plan's graph
  std::vector<ValueId> plan_outputs;

  struct Next {
    std::string key;
    int stage = -1;
    uint64_t last_use = 0;
  };
  std::vector<Next> next;
  int without_binding = -1;  // kBind: the stage that goes on without, where the elements change all the time
  uint64_t epoch = 0;        // of the last run that came by
};

// Decides what a stage of this graph does, and plans it. `may_bind`: false where binding was tried.
// Errors: UNIMPLEMENTED names the nodes at which nothing goes on.
absl::StatusOr<std::unique_ptr<Stage>> MakeStage(Graph graph, KnownDims dims, bool may_bind,
                                                 const PlanRequest& request);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_DYNAMIC_STAGE_H_

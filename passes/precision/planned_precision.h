// SPDX-License-Identifier: Apache-2.0
// The result of a planner.
#ifndef HALFTONE_PASSES_PRECISION_PLANNED_PRECISION_H_
#define HALFTONE_PASSES_PRECISION_PLANNED_PRECISION_H_

#include <string>
#include <vector>

#include "ir/precision_plan.h"

namespace halftone {

// The decision of the planner "lists" for one type attribute of one node as the file spells it, whether or not that
// node can be changed here. Fixed types and types other than float32 have no row.
struct TypeAttributeDecision {
  std::string node;                    // name of the node
  std::string op;                      // as the planner counts it: "FusedBatchNormV2" for FusedBatchNorm
  std::string type_attr;               // "T"
  int index = -1;                      // in a list attribute
  std::string list;                    // the list of the op; "" if it is on none
  DataType type = DataType::kFloat32;  // or kBFloat16, kFloat16
  std::string step;                    // the step that decided; if none did, the name of the list or ""
  std::string reason;
  NodeId id;  // the node whose planned variable (type_variables.h) this row decides; kNoNode if none
};

struct PlannedPrecision {
  PrecisionPlan plan;
  std::string summary;  // one sentence, as the framework whose planner it is prints it
  std::vector<std::string> warnings;
  std::vector<TypeAttributeDecision> attributes =
      {};  // of planner lists: every float type attribute, in the file's order
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_PLANNED_PRECISION_H_

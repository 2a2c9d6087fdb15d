// What a planner hands back.
#ifndef HALFTONE_PASSES_PRECISION_PLANNED_PRECISION_H_
#define HALFTONE_PASSES_PRECISION_PLANNED_PRECISION_H_

#include <string>
#include <vector>

#include "ir/precision_plan.h"

namespace halftone {

// What the planner "lists" says of one type attribute of one node as the file spells it, whether or not we can change
// that node. Fixed types and types other than float32 have no row.
struct TypeAttributeDecision {
  std::string node;                    // its name
  std::string op;                      // as the planner counts it: "FusedBatchNormV2" for the first version
  std::string type_attr;               // "T"
  int index = -1;                      // in a list attribute
  std::string list;                    // that the op is on; "" if on none
  DataType type = DataType::kFloat32;  // or kBFloat16, kFloat16
  std::string step;                    // that decided; where none did the list's name, or ""
  std::string reason;
  NodeId id;  // whose marked variable (type_variables.h) is decided by it; kNoNode if no node's is
};

struct PlannedPrecision {
  PrecisionPlan plan;
  std::string summary;  // one sentence, in the words of the framework whose planner it is
  std::vector<std::string> warnings;
  std::vector<TypeAttributeDecision> attributes =
      {};  // of planner lists: every float type attribute, in the file's order
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_PLANNED_PRECISION_H_

// What a precision planner decides: plain data, an edit of nothing.
#ifndef HALFTONE_IR_PRECISION_PLAN_H_
#define HALFTONE_IR_PRECISION_PLAN_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace halftone {

// Colours of TensorFlow's auto_mixed_precision. kNone: on no list, or not a float.
enum class Colour : uint8_t { kNone, kAllow, kInfer, kDeny, kClear };

// The decision for one type variable of one node.
struct Decision {
  DataType type = DataType::kFloat32;  // kFloat32 or kBFloat16
  std::string reason;                  // the rule and the fact, for people: "allow list: Conv2D"
  std::string type_attribute;          // TensorFlow's name of the type variable, "T"
  std::string list;                    // the list the op stands on: "allow", "infer", "deny", "clear", ""
  std::string step;                    // which step of the planner decided: "allow", "deny-propagation", "infer-between", ...
};

// Keyed by (node of the graph that was planned, type variable). Passes that fuse afterwards keep Node::origin, so that a
// decision is found by the origin of the new node. Thread-compatible value type.
struct PrecisionPlan {
  std::string planner;  // "lists"
  std::map<std::pair<NodeId, char>, Decision> decisions;

  // nullptr if nothing was decided for this node: then it keeps its types.
  const Decision* Find(const Graph& graph, NodeId node, char type_variable = 'T') const {
    const auto it = decisions.find({graph.node(node).origin, type_variable});
    return it == decisions.end() ? nullptr : &it->second;
  }
  // kFloat32 if nothing was decided.
  DataType TypeOf(const Graph& graph, NodeId node, char type_variable = 'T') const {
    const Decision* decision = Find(graph, node, type_variable);
    return decision == nullptr ? DataType::kFloat32 : decision->type;
  }
};

}  // namespace halftone

#endif  // HALFTONE_IR_PRECISION_PLAN_H_

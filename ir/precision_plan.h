// SPDX-License-Identifier: Apache-2.0
// What a precision planner decides: plain data, an edit of nothing.
#ifndef HALFTONE_IR_PRECISION_PLAN_H_
#define HALFTONE_IR_PRECISION_PLAN_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace halftone {

// The op lists of TensorFlow's auto_mixed_precision. kNone: the op is on no list.
enum class ListKind : uint8_t { kNone, kAllow, kInfer, kDeny, kClear };

// The decision for one type variable of one node.
//
// `rule` is a stable name for programs: FAMILY.WORD. Families:
//   lists.*      the planner "lists": lists.STEP of the step that decided ("lists.allow", "lists.deny-propagation",
//                "lists.infer-between", "lists.clear-adjacent", "lists.loop-edges", "lists.casts",
//                "lists.statistics"), or why no step did ("lists.on-no-list", ...)
//   placement.*  the planner "placement": placement.marked, placement.orphan, placement.not-listed,
//                placement.dynamic-shape, placement.scale-order, placement.statistics
//   policy.*     edits of the policy: policy.precision, policy.min-precision, policy.max-precision,
//                policy.first-layer, policy.last-layer, policy.follows (its inputs became f32), policy.tied, policy.not-possible
//   target.*     the node cannot be converted: target.opaque, target.nested, target.device, target.input-type,
//                target.no-kernel, target.float16-range, target.not-native
//   baseline.*   nothing was planned: baseline.fp32, baseline.kept
//   conversion.*  the node came later: conversion.made (by a pass), conversion.cast, conversion.quantize
//   file.*       the file cannot hold it so: file.types
struct Decision {
  DataType type = DataType::kFloat32;  // kFloat32, kBFloat16 or kFloat16
  std::string reason;                  // the rule and the fact, for people: "allow list: Conv2D"
  std::string type_attribute;          // TensorFlow's name of the type variable, "T"
  std::string list;                    // the list the op stands on: "allow", "infer", "deny", "clear", ""
  std::string step;                    // of the planner, that decided: "allow", "deny-propagation", ...
  std::string rule = {};
  // For a converted conv or matmul: its result stays f32, because all its consumers read f32, so that no cast is
  // needed.
  bool f32_output = false;

  bool IsReduced() const { return type != DataType::kFloat32; }
};

// Keyed by (node of the graph that was planned, type variable). Passes that fuse afterwards keep Node::origin, so that
// a decision is found by the origin of the new node. Thread-compatible value type.
struct PrecisionPlan {
  std::string planner;  // "lists", "placement"
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

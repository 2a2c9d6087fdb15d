// SPDX-License-Identifier: Apache-2.0
// The content of the subgraphs of a node (If, Loop, Scan): names that they read from outer scopes, names that they
// define, nodes.
#ifndef HALFTONE_FORMATS_ONNX_SUBGRAPHS_H_
#define HALFTONE_FORMATS_ONNX_SUBGRAPHS_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"

namespace halftone::onnx_format {

bool HasSubgraph(const onnx::NodeProto& node);

// Names of values outside of the node that its subgraphs read, each once, in the order of their first appearance.
// These functions recurse over subgraphs, of which the validator allows 24 levels.
std::vector<std::string> CapturedNames(const onnx::NodeProto& node);

// Names of the values that the graph itself makes; its inputs and initializers too.
std::set<std::string> NamesMadeIn(const onnx::GraphProto& graph);
// And those inside its nodes.
void AddAllNames(const onnx::GraphProto& graph, std::set<std::string>& names);

// Every name that a value inside the node's subgraphs has: no value outside may take one of them.
void AddNamesInside(const onnx::NodeProto& node, std::set<std::string>& names);

// Calls `visit` with the node and every node inside its subgraphs.
void VisitNodes(const onnx::NodeProto& node, const std::function<void(const onnx::NodeProto&)>& visit);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_SUBGRAPHS_H_

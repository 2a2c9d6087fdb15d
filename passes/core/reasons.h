// SPDX-License-Identifier: Apache-2.0
// Texts for the reasons of rules: names, types and values.
#ifndef HALFTONE_PASSES_CORE_REASONS_H_
#define HALFTONE_PASSES_CORE_REASONS_H_

#include <string>

#include "absl/status/status.h"
#include "ir/graph.h"

namespace halftone {

// "'add_3' f32[1,64,N]"; for a constant of up to four numbers "'w' f32[2] {1, 2}".
std::string Describe(const Graph& graph, ValueId value);

// "'conv1' (conv): no kernel with a residual before tanh".
std::string Describe(const Graph& graph, NodeId node, const absl::Status& refused);

// "another shape: 'a' f32[2,3] and 'b' f32[3]", where `what` is "another shape".
std::string DescribeBoth(std::string_view what, const Graph& graph, ValueId a, ValueId b);

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_REASONS_H_

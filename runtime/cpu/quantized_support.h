// SPDX-License-Identifier: Apache-2.0
// Whether a node has a kernel for integers. Private to runtime/cpu.
#ifndef HALFTONE_RUNTIME_CPU_QUANTIZED_SUPPORT_H_
#define HALFTONE_RUNTIME_CPU_QUANTIZED_SUPPORT_H_

#include <span>

#include "absl/status/status.h"
#include "ir/graph.h"

namespace halftone {

// See Target::SupportsQuantized (ir/target.h).
absl::Status SupportsQuantizedNode(const Graph& graph, NodeId node, std::span<const ValueId> inputs, ValueId output);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_CPU_QUANTIZED_SUPPORT_H_

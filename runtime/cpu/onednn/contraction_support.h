// SPDX-License-Identifier: Apache-2.0
// What oneDNN's conv, matmul and gemm can do before shapes and layouts are known: for
// Kernel::SupportsFused and WritesType. Private to runtime/cpu/onednn.
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_CONTRACTION_SUPPORT_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_CONTRACTION_SUPPORT_H_

#include "absl/status/status.h"
#include "ir/graph.h"
#include "ir/target.h"

namespace halftone::onednn {

// See Kernel::SupportsFused.
absl::Status SupportsFusedContraction(const Graph& graph, NodeId node, const FusedParts& parts);

// See Kernel::WritesType.
bool ContractionWritesType(const Graph& graph, NodeId node, DataType operand, DataType result);

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_CONTRACTION_SUPPORT_H_

// SPDX-License-Identifier: Apache-2.0
// Fusing a pad into the padding of the convolution that reads it.
#ifndef HALFTONE_PASSES_FUSION_PADS_H_
#define HALFTONE_PASSES_FUSION_PADS_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ir/graph.h"

namespace halftone {

// The pads of a node that pads x of `rank` dimensions with constant zeros: begins, then ends. Otherwise the reason why
// there are none.
std::variant<std::vector<int64_t>, std::string> ZeroPads(const Graph& g, NodeId pad, int rank);

// "" if `conv` can take over the padding of the node `pad`, which it reads directly or through nodes that keep shapes
// and zeros; else the reason: the pad fills with a value other than zero, the pads are not constant, not only spatial
// or not smaller than the kernel, or the conv's own padding depends on its input size.
std::string CannotPad(const Graph& g, NodeId conv, NodeId pad);

// The conv's attribute "pads" with the pads of `pad` added. REQUIRES: CannotPad is ""
std::vector<int64_t> PadsTogether(const Graph& g, NodeId conv, NodeId pad);

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_PADS_H_

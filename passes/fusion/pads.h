// A pad in front of a convolution as the convolution's own padding.
#ifndef HALFTONE_PASSES_FUSION_PADS_H_
#define HALFTONE_PASSES_FUSION_PADS_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ir/graph.h"

namespace halftone {

// Begins, then ends, of every dimension of x of `rank` dimensions, of a node that pads with constant zeros; else a
// sentence that says why there are none.
std::variant<std::vector<int64_t>, std::string> ZeroPads(const Graph& g, NodeId pad, int rank);

// "" if `conv` can pad as the node `pad` does, in front of it or of nodes that keep shapes and zeros; else why not: it
// fills with another value than zero, the pads are no constants, not spatial alone or wider than the kernel, or the
// conv's own padding depends on its input.
std::string CannotPad(const Graph& g, NodeId conv, NodeId pad);

// The conv's attribute "pads" with the pad's added. REQUIRES: CannotPad is ""
std::vector<int64_t> PadsTogether(const Graph& g, NodeId conv, NodeId pad);

}  // namespace halftone

#endif  // HALFTONE_PASSES_FUSION_PADS_H_

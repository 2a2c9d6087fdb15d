// SPDX-License-Identifier: Apache-2.0
#include "passes/fusion/pads.h"

#include <optional>

#include "passes/fusion/contraction.h"

namespace halftone {
namespace {

// Begins, then ends, of every dimension of x. Empty if they are not constant, or `pads` has a different shape.
std::vector<int64_t> PadsOf(const Graph& g, NodeId pad, int rank) {
  const ValueId pads = g.input(pad, 1);
  const std::optional<std::vector<int64_t>> numbers = pads.valid() ? g.ConstantInts(pads) : std::nullopt;
  if (!numbers.has_value() || static_cast<int>(numbers->size()) != 2 * rank) return {};
  const int form = g.ConstantTensor(pads)->rank();
  if (form == 1) return *numbers;
  std::vector<int64_t> result(2 * rank);
  for (int i = 0; i < rank; ++i) {  // [rank, 2]
    result[i] = (*numbers)[2 * i];
    result[rank + i] = (*numbers)[2 * i + 1];
  }
  return result;
}

// "" if the pad fills with zeros, else the reason.
std::string NoZeros(const Graph& g, NodeId pad) {
  if (g.node(pad).attributes.String("mode", "constant") != "constant") return "the pad does not fill with a constant";
  const ValueId value = g.input(pad, 2);
  if (value.valid() && g.ConstantScalar(value).value_or(1) != 0) return "the pad does not fill with zero";
  return g.input(pad, 3).valid() ? "the pad has an axes input" : "";
}

// Sizes of the kernel over the spatial dimensions, dilated. Empty if they are not known.
std::vector<int64_t> KernelReach(const Graph& g, NodeId conv, int rank) {
  const Shape& weights = g.shape(g.input(conv, kWeightsInput));
  if (!weights.has_rank() || weights.rank() != rank) return {};
  const int first = g.node(conv).attributes.String("weights_layout", "OIHW") == "OIHW" ? 2 : 0;
  const std::vector<int64_t> dilations = g.node(conv).attributes.Ints("dilations", std::vector<int64_t>(rank - 2, 1));
  std::vector<int64_t> reach;
  for (int i = 0; i < rank - 2; ++i) {
    if (!weights.dim(first + i).known() || dilations.size() != static_cast<size_t>(rank - 2)) return {};
    reach.push_back((weights.dim(first + i).value - 1) * dilations[i] + 1);
  }
  return reach;
}

// The conv's pads with the pads of `pad` added; empty if that is not possible.
std::vector<int64_t> Spatial(const Graph& g, NodeId conv, NodeId pad) {
  const std::optional<int> rank = ResultRank(g, conv);
  if (!rank.has_value() || *rank < 3) return {};
  const std::vector<int64_t> all = PadsOf(g, pad, *rank);
  const std::vector<int64_t> reach = KernelReach(g, conv, *rank);
  if (all.empty() || reach.empty()) return {};
  const bool nchw = g.node(conv).attributes.String("layout", "NCHW") == "NCHW";
  const int first = nchw ? 2 : 1;
  const int channel = nchw ? 1 : *rank - 1;
  for (const int fixed : {0, channel}) {
    if (all[fixed] != 0 || all[*rank + fixed] != 0) return {};
  }
  const int spatial = *rank - 2;
  std::vector<int64_t> pads(2 * spatial, 0);
  if (g.node(conv).attributes.String("auto_pad", "NOTSET") == "NOTSET") {
    pads = g.node(conv).attributes.Ints("pads", pads);
    if (static_cast<int>(pads.size()) != 2 * spatial) return {};
  }
  for (int i = 0; i < 2 * spatial; ++i) {
    const int64_t more = all[(i / spatial) * *rank + first + i % spatial];
    pads[i] += more;
    if (more < 0 || pads[i] >= reach[i % spatial]) return {};
  }
  return pads;
}

}  // namespace

std::variant<std::vector<int64_t>, std::string> ZeroPads(const Graph& g, NodeId pad, int rank) {
  if (std::string reason = NoZeros(g, pad); !reason.empty()) return reason;
  std::vector<int64_t> pads = PadsOf(g, pad, rank);
  if (pads.empty()) return "the pads are not constant";
  return pads;
}

std::string CannotPad(const Graph& g, NodeId conv, NodeId pad) {
  if (std::string reason = NoZeros(g, pad); !reason.empty()) return reason;
  const std::string auto_pad = g.node(conv).attributes.String("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") return "the conv's own padding depends on its input size";
  if (Spatial(g, conv, pad).empty()) return "the pad is not constant, not smaller than the kernel, or not only spatial";
  return "";
}

std::vector<int64_t> PadsTogether(const Graph& g, NodeId conv, NodeId pad) { return Spatial(g, conv, pad); }

}  // namespace halftone

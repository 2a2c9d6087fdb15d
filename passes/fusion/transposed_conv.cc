// SPDX-License-Identifier: Apache-2.0
#include "passes/fusion/transposed_conv.h"

#include "ir/transposed_window.h"
#include "passes/fusion/contraction.h"

namespace halftone {

int FirstKernelAxis(const Graph& g, NodeId conv) {
  return g.node(conv).attributes.String("weights_layout", "IOHW") == "IOHW" ? 2 : 0;
}

std::vector<int64_t> TransposedPads(const Graph& g, NodeId conv) {
  const Attributes& attributes = g.node(conv).attributes;
  const Shape &x = g.shape(g.input(conv, 0)), &weights = g.shape(g.input(conv, kWeightsInput)),
              &y = g.shape(g.output(conv));
  if (!weights.has_rank() || weights.rank() < 3) return {};
  const int rank = weights.rank(), spatial = rank - 2;
  const bool given = g.input(conv, kOutputShapeInput).valid();
  if (!given && attributes.String("auto_pad", "NOTSET") == "NOTSET" && attributes.Ints("output_shape").empty()) {
    std::vector<int64_t> pads = attributes.Ints("pads", std::vector<int64_t>(2 * spatial, 0));
    return static_cast<int>(pads.size()) == 2 * spatial ? pads : std::vector<int64_t>();
  }
  if (!x.has_rank() || x.rank() != rank || !y.has_rank() || y.rank() != rank) return {};
  const int first = attributes.String("layout", "NCHW") == "NCHW" ? 2 : 1, kernel_first = FirstKernelAxis(g, conv);
  std::vector<int64_t> image, kernel, result;
  for (int i = 0; i < spatial; ++i) {
    if (!x.dim(first + i).known() || !y.dim(first + i).known() || !weights.dim(kernel_first + i).known()) return {};
    image.push_back(x.dim(first + i).value);
    kernel.push_back(weights.dim(kernel_first + i).value);
    result.push_back(y.dim(first + i).value);
  }
  if (!given) result.clear();
  const absl::StatusOr<TransposedWindow> window = ResolveTransposedWindow(attributes, image, kernel, result);
  if (!window.ok()) return {};
  std::vector<int64_t> pads = window->pads_begin;
  pads.insert(pads.end(), window->pads_end.begin(), window->pads_end.end());
  return pads;
}

void SetTransposedPads(GraphEditor& edit, NodeId conv, const std::vector<int64_t>& pads) {
  edit.SetAttribute(conv, "pads", pads);
  edit.EraseAttribute(conv, "auto_pad");
  edit.EraseAttribute(conv, "output_shape");
}

bool SaysTransposedPads(const Graph& g, NodeId conv) {
  return !g.input(conv, kOutputShapeInput).valid() || g.shape(g.input(conv, kWeightsInput)).rank() == 4;
}

}  // namespace halftone

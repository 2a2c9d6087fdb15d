// SPDX-License-Identifier: Apache-2.0
// The cheapest way to give each of many things one of two labels, where some pairs want the same one: a minimum cut.
// Private to runtime/plan.
#ifndef HALFTONE_RUNTIME_PLAN_MIN_CUT_H_
#define HALFTONE_RUNTIME_PLAN_MIN_CUT_H_

#include <span>
#include <vector>

namespace halftone {

// Of one thing; both >= 0.
struct LabelPrices {
  double first = 0, second = 0;
};

// What it costs if the labels of `a` and `b` differ; >= 0.
struct LabelEdge {
  int a = 0, b = 0;
  double price = 0;
};

// true: the second label. Where both cost the same, the first. Exact but on graphs on which that takes many rounds: then
// all get the one label that is cheaper. Deterministic.
std::vector<bool> CheapestLabels(std::span<const LabelPrices> prices, std::span<const LabelEdge> edges);

// What these labels cost.
double PriceOf(std::span<const LabelPrices> prices, std::span<const LabelEdge> edges, const std::vector<bool>& labels);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_MIN_CUT_H_

// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/min_cut.h"

#include <algorithm>

namespace halftone {
namespace {

// Dinic's algorithm: rounds of a search by breadth and blocking flows along it.
class MaxFlow final {
 public:
  explicit MaxFlow(int nodes) : arcs_of_(nodes), level_(nodes), next_(nodes) {}

  // Two arcs, each the other's reverse.
  void AddArcs(int from, int to, double there, double back) {
    arcs_of_[from].push_back(static_cast<int>(arcs_.size()));
    arcs_.push_back({to, there});
    arcs_of_[to].push_back(static_cast<int>(arcs_.size()));
    arcs_.push_back({from, back});
  }

  // Whether the flow is the largest after so many rounds.
  bool Run(int source, int sink, int most_rounds) {
    for (int round = 0; round < most_rounds; ++round) {
      FindLevels(source);
      if (level_[sink] < 0) return true;
      std::fill(next_.begin(), next_.end(), 0);
      while (Push(source, sink)) {
      }
    }
    return false;
  }

  // After Run: on the source's side of the smallest cut that is nearest to it.
  bool Reached(int node) const { return level_[node] >= 0; }

 private:
  struct Arc {
    int to;
    double room;
  };
  static constexpr double kNothing = 1e-12;  // seconds

  void FindLevels(int source) {
    std::fill(level_.begin(), level_.end(), -1);
    std::vector<int> queue = {source};
    level_[source] = 0;
    for (size_t i = 0; i < queue.size(); ++i) {
      for (const int index : arcs_of_[queue[i]]) {
        const Arc& arc = arcs_[index];
        if (arc.room <= kNothing || level_[arc.to] >= 0) continue;
        level_[arc.to] = level_[queue[i]] + 1;
        queue.push_back(arc.to);
      }
    }
  }

  // One path from source to sink; without recursion, for paths may be long.
  bool Push(int source, int sink) {
    std::vector<int> path;  // arcs
    int at = source;
    while (at != sink) {
      bool moved = false;
      for (int& i = next_[at]; i < static_cast<int>(arcs_of_[at].size()); ++i) {
        const int index = arcs_of_[at][i];
        if (arcs_[index].room <= kNothing || level_[arcs_[index].to] != level_[at] + 1) continue;
        path.push_back(index);
        at = arcs_[index].to;
        moved = true;
        break;
      }
      if (moved) continue;
      if (path.empty()) return false;
      at = arcs_[path.back() ^ 1].to;
      path.pop_back();
      ++next_[at];
    }
    double flow = arcs_[path.front()].room;
    for (const int index : path) flow = std::min(flow, arcs_[index].room);
    for (const int index : path) {
      arcs_[index].room -= flow;
      arcs_[index ^ 1].room += flow;
    }
    return true;
  }

  std::vector<Arc> arcs_;
  std::vector<std::vector<int>> arcs_of_;
  std::vector<int> level_, next_;
};

}  // namespace

std::vector<bool> CheapestLabels(std::span<const LabelPrices> prices, std::span<const LabelEdge> edges) {
  constexpr int kMostRounds = 256;
  const int count = static_cast<int>(prices.size()), source = count, sink = count + 1;
  // What is cut off from the source has the first label and pays for it.
  MaxFlow flow(count + 2);
  for (int i = 0; i < count; ++i) {
    const double least = std::min(prices[i].first, prices[i].second);
    flow.AddArcs(source, i, prices[i].first - least, 0);
    flow.AddArcs(i, sink, prices[i].second - least, 0);
  }
  for (const LabelEdge& edge : edges) {
    if (edge.a != edge.b) flow.AddArcs(edge.a, edge.b, edge.price, edge.price);
  }
  std::vector<bool> labels(prices.size(), false);
  if (flow.Run(source, sink, kMostRounds)) {
    for (int i = 0; i < count; ++i) labels[i] = flow.Reached(i);
    return labels;
  }
  const std::vector<bool> second(prices.size(), true);
  return PriceOf(prices, edges, second) < PriceOf(prices, edges, labels) ? second : labels;
}

double PriceOf(std::span<const LabelPrices> prices, std::span<const LabelEdge> edges, const std::vector<bool>& labels) {
  double sum = 0;
  for (size_t i = 0; i < prices.size(); ++i) sum += labels[i] ? prices[i].second : prices[i].first;
  for (const LabelEdge& edge : edges) sum += labels[edge.a] != labels[edge.b] ? edge.price : 0;
  return sum;
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// Microbenchmark of graphs that compute the same function: is a fused node faster than the nodes it replaces?
//
//   graph_microbenchmark --seconds S --threads K < graphs
//
// The graphs are text (ir/text.h), separated by lines "---". Runs of their plans are interleaved. The time of a graph is
// the sum of its steps without two kinds: steps of nodes named "given...", which only set the layout of inputs, and
// reorders after the last computing step, which only the graph outputs need. All graphs must have the outputs of the
// first one, within the tolerance of the reference functions. Prints one line of JSON:
//   {"fuses": true, "graphs": [{"us": 12.5, "turns_us": [12.5, ...], "steps": ["matmul+bias brgemm:avx512_core", ...]}, ...]}
// "us" is the median over "turns_us"; each turn runs all graphs. "fuses": the passes turn the first graph into one with
// the ops of the last graph; false where the target refuses the fusion or no rule matches.

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "passes/core/pass.h"
#include "passes/pipelines.h"
#include "runtime/cpu/target.h"
#include "runtime/engine.h"
#include "runtime/measure/statistics.h"
#include "runtime/plan/plan.h"
#include "tests/bench/microbenchmark_main.h"

namespace halftone {
namespace {

constexpr int kTurns = 9;
constexpr int kWarmUps = 3;
constexpr int kMostRepetitions = 20'000;
constexpr double kTolerance = 0.03;  // of outputs: bf16, and sums in another order

struct Candidate {
  std::unique_ptr<Plan> plan;
  std::vector<std::string> steps;
  std::vector<double> turns_us;
};

struct Microbenchmark {
  std::vector<Tensor> inputs;
  std::vector<Candidate> candidates;
};

absl::StatusOr<double> Turn(const Microbenchmark& benchmark, Candidate& candidate, int repetitions) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<StepInfo> steps, candidate.plan->Profile(benchmark.inputs, repetitions));
  double us = 0;
  candidate.steps.clear();
  const auto last = std::find_if(steps.rbegin(), steps.rend(), [](const StepInfo& s) { return s.op != "reorder"; });
  for (const StepInfo& step : std::span(steps).first(steps.rend() - last)) {
    if (step.label.starts_with("given") || !step.median_us.has_value()) continue;
    us += *step.median_us;
    candidate.steps.push_back(Concat(step.op, " ", step.kernel.name));
  }
  return us;
}

absl::Status CheckOutputs(const Microbenchmark& benchmark, const std::vector<Tensor>& expected,
                          const Candidate& candidate) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Tensor> results, candidate.plan->Run(benchmark.inputs));
  if (results.size() != expected.size()) return absl::InternalError("the graphs have different numbers of outputs");
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string difference = reference::Compare(results[i], expected[i], kTolerance, kTolerance);
    if (!difference.empty()) return absl::InternalError(Concat("the graphs have different outputs: ", difference));
  }
  return absl::OkStatus();
}

absl::Status Run(Microbenchmark& benchmark, double seconds) {
  double once_us = 0.1;
  for (Candidate& candidate : benchmark.candidates) {
    HALFTONE_ASSIGN_OR_RETURN(const double us, Turn(benchmark, candidate, kWarmUps));
    once_us = std::max(once_us, us);
  }
  const int repetitions =
      static_cast<int>(std::clamp<double>(seconds * 1e6 / kTurns / once_us, kWarmUps, kMostRepetitions));
  const size_t count = benchmark.candidates.size();
  for (int turn = 0; turn < kTurns; ++turn) {
    for (size_t i = 0; i < count; ++i) {
      Candidate& candidate = benchmark.candidates[turn % 2 == 0 ? i : count - 1 - i];  // the order alternates
      HALFTONE_ASSIGN_OR_RETURN(const double us, Turn(benchmark, candidate, repetitions));
      candidate.turns_us.push_back(us);
    }
  }
  return absl::OkStatus();
}

// The ops of the graph after the optimize pipeline, sorted. "given" values become graph outputs before it, so that
// nothing is fused into their producers.
absl::StatusOr<std::vector<OpKind>> OpsWhenOptimized(Graph graph) {
  {
    GraphEditor edit(graph);
    for (const NodeId id : graph.nodes()) {
      const std::string label = graph.Label(id);
      if (label.starts_with("given")) edit.AddGraphOutput(Concat("of_", label), graph.output(id));
    }
  }
  const std::unique_ptr<Target> target = MakeCpuTarget();
  RewriteLog log;
  PassContext context{.target = *target, .log = &log};
  HALFTONE_RETURN_IF_ERROR(MakeOptimizePipeline().Run(graph, context));
  std::vector<OpKind> ops;
  for (const NodeId id : graph.nodes()) {
    if (graph.op(id) != OpKind::kInput && graph.op(id) != OpKind::kConstant) ops.push_back(graph.op(id));
  }
  std::ranges::sort(ops);
  return ops;
}

absl::StatusOr<std::string> RunText(const std::string& text, int threads, double seconds) {
  Microbenchmark benchmark;
  std::vector<Tensor> expected;
  std::vector<Graph> graphs;
  for (const std::string& one : std::vector<std::string>(absl::StrSplit(text, "\n---\n"))) {
    HALFTONE_ASSIGN_OR_RETURN(Graph parsed, ParseGraph(one));
    const Graph& graph = graphs.emplace_back(std::move(parsed));
    Candidate& candidate = benchmark.candidates.emplace_back();
    HALFTONE_ASSIGN_OR_RETURN(candidate.plan, CompilePlan(graph, {.threads = threads}));
    if (benchmark.candidates.size() == 1) {
      benchmark.inputs = reference::RandomInputs(graph, /*seed=*/1);
      HALFTONE_ASSIGN_OR_RETURN(expected, candidate.plan->Run(benchmark.inputs));
    }
    HALFTONE_RETURN_IF_ERROR(CheckOutputs(benchmark, expected, candidate));
  }
  HALFTONE_RETURN_IF_ERROR(Run(benchmark, seconds));
  nlohmann::json out;
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<OpKind> first, OpsWhenOptimized(graphs.front()));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<OpKind> last, OpsWhenOptimized(graphs.back()));
  out["fuses"] = first == last;
  out["graphs"] = nlohmann::json::array();
  for (const Candidate& candidate : benchmark.candidates)
    out["graphs"].push_back(
        {{"us", Median(candidate.turns_us)}, {"turns_us", candidate.turns_us}, {"steps", candidate.steps}});
  return out.dump();
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) {
  return halftone::MicrobenchmarkMain(argc, argv, "graph_microbenchmark",
                                      "measures graphs that compute the same function", halftone::RunText);
}

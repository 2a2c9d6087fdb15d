// Graphs that compute the same, against each other: is a fused node faster than what it stands for?
//
//   race_graphs --seconds S --threads K < graphs
//
// The graphs are text (ir/text.h) with a line "---" between two. Their plans are profiled in turns; the time of a graph
// is that of all its steps but those of nodes named "given...", which only say how inputs lie, and the changes of
// layout at the very end, which results need that nobody else reads. All graphs must give the results of the first one,
// by the reference functions' tolerance. Prints one line of JSON:
//   {"fuses": true, "graphs": [{"us": 12.5, "turns_us": [12.5, ...], "steps": ["matmul+bias brgemm:avx512_core", ...]}, ...]}
// "us" is the median of the turns, which all graphs take in the same minute each. "fuses": the passes make of the first
// graph one that runs the ops of the last one; else the target refuses the fusion, or no rule finds it.

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
#include "tests/bench/race_main.h"

namespace halftone {
namespace {

constexpr int kTurns = 9;
constexpr int kWarmUps = 3;
constexpr int kMostRepetitions = 20'000;
constexpr double kTolerance = 0.03;  // of results, where types are narrow or sums are made in another order

struct Racer {
  std::unique_ptr<Plan> plan;
  std::vector<std::string> steps;
  std::vector<double> turns_us;
};

struct Race {
  std::vector<Tensor> inputs;
  std::vector<Racer> racers;
};

absl::StatusOr<double> Turn(const Race& race, Racer& racer, int repetitions) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<StepInfo> steps, racer.plan->Profile(race.inputs, repetitions));
  double us = 0;
  racer.steps.clear();
  const auto last = std::find_if(steps.rbegin(), steps.rend(), [](const StepInfo& s) { return s.op != "reorder"; });
  for (const StepInfo& step : std::span(steps).first(steps.rend() - last)) {
    if (step.label.starts_with("given") || !step.median_us.has_value()) continue;
    us += *step.median_us;
    racer.steps.push_back(Concat(step.op, " ", step.kernel));
  }
  return us;
}

absl::Status CheckAnswers(const Race& race, const std::vector<Tensor>& expected, const Racer& racer) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Tensor> results, racer.plan->Run(race.inputs));
  if (results.size() != expected.size()) return absl::InternalError("another number of results");
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string difference = reference::Compare(results[i], expected[i], kTolerance, kTolerance);
    if (!difference.empty()) return absl::InternalError(Concat("the graphs do not give the same: ", difference));
  }
  return absl::OkStatus();
}

absl::Status Run(Race& race, double seconds) {
  double once_us = 0.1;
  for (Racer& racer : race.racers) {
    HALFTONE_ASSIGN_OR_RETURN(const double us, Turn(race, racer, kWarmUps));
    once_us = std::max(once_us, us);
  }
  const int repetitions =
      static_cast<int>(std::clamp<double>(seconds * 1e6 / kTurns / once_us, kWarmUps, kMostRepetitions));
  const size_t count = race.racers.size();
  for (int turn = 0; turn < kTurns; ++turn) {
    for (size_t i = 0; i < count; ++i) {
      Racer& racer = race.racers[turn % 2 == 0 ? i : count - 1 - i];  // nobody is always first
      HALFTONE_ASSIGN_OR_RETURN(const double us, Turn(race, racer, repetitions));
      racer.turns_us.push_back(us);
    }
  }
  return absl::OkStatus();
}

// The kinds of the nodes that the passes leave of a graph, sorted. "Given" values become results first, so that nothing
// is fused into the nodes that make them.
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

absl::StatusOr<std::string> RaceText(const std::string& text, int threads, double seconds) {
  Race race;
  std::vector<Tensor> expected;
  std::vector<Graph> graphs;
  for (const std::string& one : std::vector<std::string>(absl::StrSplit(text, "\n---\n"))) {
    HALFTONE_ASSIGN_OR_RETURN(Graph parsed, ParseGraph(one));
    const Graph& graph = graphs.emplace_back(std::move(parsed));
    Racer& racer = race.racers.emplace_back();
    HALFTONE_ASSIGN_OR_RETURN(racer.plan, CompilePlan(graph, {.threads = threads}));
    if (race.racers.size() == 1) {
      race.inputs = reference::RandomInputs(graph, /*seed=*/1);
      HALFTONE_ASSIGN_OR_RETURN(expected, racer.plan->Run(race.inputs));
    }
    HALFTONE_RETURN_IF_ERROR(CheckAnswers(race, expected, racer));
  }
  HALFTONE_RETURN_IF_ERROR(Run(race, seconds));
  nlohmann::json out;
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<OpKind> first, OpsWhenOptimized(graphs.front()));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<OpKind> last, OpsWhenOptimized(graphs.back()));
  out["fuses"] = first == last;
  out["graphs"] = nlohmann::json::array();
  for (const Racer& racer : race.racers)
    out["graphs"].push_back({{"us", Median(racer.turns_us)}, {"turns_us", racer.turns_us}, {"steps", racer.steps}});
  return out.dump();
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) {
  return halftone::RaceMain(argc, argv, "race_graphs", "races graphs that compute the same", halftone::RaceText);
}

// All kernels that take one node, against each other: is the one that plans choose the fastest?
//
//   race_kernels --seconds S --threads K < graph
//
// The graph is text (ir/text.h); raced is the node that makes its first result. Every kernel of the table that takes
// the node, but the reference function, gets a plan of its own, and the plans are profiled in turns. A kernel's time is
// that of its step and of all changes of layout in its plan. Constants that fill half of a level 2 cache are read from
// memory, as in a model, which has more of them than caches hold: the caches are emptied before each run. Prints one line
// of JSON, the kernel that plans choose first:
//   {"op": "softmax", "kernels": [{"kernel": "jit:avx512_core", "us": 12.5}, ...]}

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "runtime/cpu/backend.h"
#include "runtime/measure/statistics.h"
#include "runtime/plan/backend_wrapper.h"
#include "runtime/plan/plan.h"
#include "tests/bench/race_main.h"

namespace halftone {
namespace {

constexpr int kTurns = 7;
constexpr int kWarmUps = 3;
constexpr int kMostRepetitions = 20'000;
constexpr size_t kLargeConstant = 512 << 10;  // bytes
constexpr size_t kSweptBytes = 64 << 20;      // more than caches hold
constexpr size_t kLine = 64;

// A kernel for one node alone, or for all nodes but that one.
class KernelFor final : public Kernel {
 public:
  KernelFor(const Kernel* kernel, NodeId node, bool is_raced) : kernel_(kernel), node_(node), is_raced_(is_raced) {}

  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    if ((context.id() == node_) != is_raced_) return absl::UnimplementedError("another kernel has this node");
    return kernel_->Prepare(context);
  }
  bool quantized() const override { return kernel_->quantized(); }

 private:
  const Kernel* kernel_;
  const NodeId node_;
  const bool is_raced_;
};

// oneDNN's backend, but one node has one kernel only, and its reference function; what makes its inputs has what plans
// choose for it.
class OneKernelBackend final : public BackendWrapper {
 public:
  OneKernelBackend(const Graph& graph, NodeId node, const Kernel* kernel)
      : BackendWrapper(CpuBackend()), op_(graph.op(node)) {
    const auto all = inside().Kernels(op_);
    kernels_.push_back(std::make_unique<KernelFor>(kernel, node, /*is_raced=*/true));
    for (const Kernel* other : all.first(all.size() - 1)) {
      kernels_.push_back(std::make_unique<KernelFor>(other, node, /*is_raced=*/false));
    }
    for (const auto& one : kernels_) list_.push_back(one.get());
    list_.push_back(all.back());
  }

  std::span<const Kernel* const> Kernels(OpKind op) const override { return op == op_ ? list_ : inside().Kernels(op); }

 private:
  const OpKind op_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<const Kernel*> list_;
};

struct Racer {
  std::unique_ptr<OneKernelBackend> backend;
  std::unique_ptr<Plan> plan;
  std::string kernel;
  std::vector<double> turns_us;
};

struct Race {
  Graph graph;
  NodeId node;
  int threads = 1;
  std::vector<Tensor> inputs;
  std::vector<Racer> racers;
  std::vector<char> swept;  // read and written before each run; empty: the constants are small
};

bool HasLargeConstant(const Graph& graph, NodeId node) {
  for (const ValueId input : graph.node(node).inputs) {
    const Tensor* constant = input.valid() ? graph.ConstantTensor(input) : nullptr;
    if (constant != nullptr && constant->byte_size() >= kLargeConstant) return true;
  }
  return false;
}

bool IsOfRace(const Race& race, const StepInfo& step) { return step.node == race.node || step.op == "reorder"; }

absl::StatusOr<double> WarmTurn(const Race& race, Racer& racer, int repetitions) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<StepInfo> steps, racer.plan->Profile(race.inputs, repetitions));
  double us = 0;
  for (const StepInfo& step : steps) us += IsOfRace(race, step) ? step.median_us.value_or(0) : 0;
  return us;
}

absl::StatusOr<double> ColdTurn(Race& race, Racer& racer, int repetitions) {
  std::vector<double> runs_us;
  const auto run = [&](std::span<const BoundStep> steps) -> absl::Status {
    for (int i = 0; i < repetitions; ++i) {
      for (size_t at = 0; at < race.swept.size(); at += kLine) ++race.swept[at];
      double us = 0;
      for (const BoundStep& step : steps) {
        const auto start = std::chrono::steady_clock::now();
        HALFTONE_RETURN_IF_ERROR(step.step->Run());
        const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
        us += IsOfRace(race, *step.info) ? taken.count() : 0;
      }
      runs_us.push_back(us);
    }
    return absl::OkStatus();
  };
  HALFTONE_RETURN_IF_ERROR(racer.plan->WithSteps(race.inputs, run));
  return Median(runs_us);
}

absl::StatusOr<double> Turn(Race& race, Racer& racer, int repetitions) {
  return race.swept.empty() ? WarmTurn(race, racer, repetitions) : ColdTurn(race, racer, repetitions);
}

std::string KernelOf(const Race& race, const Plan& plan) {
  std::string kernel;
  for (const StepInfo& step : plan.steps()) {
    if (step.node == race.node && step.op != "reorder") kernel = step.kernel;
  }
  return kernel;
}

// The kernels that take the node, in the order of the table, but the one of an ordinary plan first: a kernel before it
// takes the node only through casts.
absl::Status FindRacers(Race& race) {
  const auto kernels = CpuBackend().Kernels(race.graph.op(race.node));
  for (size_t i = 0; i + 1 < kernels.size(); ++i) {
    Racer racer;
    racer.backend = std::make_unique<OneKernelBackend>(race.graph, race.node, kernels[i]);
    HALFTONE_ASSIGN_OR_RETURN(racer.plan, Plan::Compile(race.graph, {.threads = race.threads}, *racer.backend));
    HALFTONE_RETURN_IF_ERROR(Turn(race, racer, kWarmUps).status());
    racer.kernel = KernelOf(race, *racer.plan);
    if (racer.kernel != "reference") race.racers.push_back(std::move(racer));
  }
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Plan> ordinary,
                            Plan::Compile(race.graph, {.threads = race.threads}, CpuBackend()));
  const std::string chosen = KernelOf(race, *ordinary);
  std::ranges::stable_partition(race.racers, [&](const Racer& racer) { return racer.kernel == chosen; });
  return absl::OkStatus();
}

absl::Status Run(Race& race, double seconds) {
  double once_us = 0;
  for (Racer& racer : race.racers) {
    HALFTONE_ASSIGN_OR_RETURN(const double us, Turn(race, racer, kWarmUps));
    once_us = std::max({once_us, us, 0.1});
  }
  const double turn_us = seconds * 1e6 / kTurns;
  const int repetitions = static_cast<int>(std::clamp<double>(turn_us / once_us, kWarmUps, kMostRepetitions));
  for (int turn = 0; turn < kTurns; ++turn) {
    for (Racer& racer : race.racers) {
      HALFTONE_ASSIGN_OR_RETURN(const double us, Turn(race, racer, repetitions));
      racer.turns_us.push_back(us);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> RaceText(const std::string& text, int threads, double seconds) {
  Race race;
  HALFTONE_ASSIGN_OR_RETURN(race.graph, ParseGraph(text));
  race.node = race.graph.producer(race.graph.outputs().front().value);
  race.threads = threads;
  race.inputs = reference::RandomInputs(race.graph, /*seed=*/1);
  if (HasLargeConstant(race.graph, race.node)) race.swept.assign(kSweptBytes, 0);
  HALFTONE_RETURN_IF_ERROR(FindRacers(race));
  HALFTONE_RETURN_IF_ERROR(Run(race, seconds));
  nlohmann::json out;
  out["op"] = std::string(OpName(race.graph.node(race.node).op));
  out["kernels"] = nlohmann::json::array();
  for (const Racer& racer : race.racers) {
    out["kernels"].push_back({{"kernel", racer.kernel}, {"us", Median(racer.turns_us)}});
  }
  return out.dump();
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) {
  return halftone::RaceMain(argc, argv, "race_kernels", "races all kernels that take a node", halftone::RaceText);
}

// SPDX-License-Identifier: Apache-2.0
// Microbenchmark of kernels: runs every kernel that supports one node. Is the kernel that plans select the fastest?
//
//   kernel_microbenchmark --seconds S --threads K < graph
//
// The graph is text (ir/text.h). The measured node is the producer of its first output. Each kernel of the kernel table
// that supports the node is a candidate with a plan of its own; the reference function is none. Runs of the candidates
// are interleaved. The time of a candidate is that of the measured step and of all reorders in its plan. Where the node
// has a constant of at least kLargeConstant bytes, the CPU caches are flushed before each run, because a whole model has
// more weights than its caches hold. Prints one line of JSON; the kernel that plans select comes first:
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
#include "tests/bench/microbenchmark_main.h"

namespace halftone {
namespace {

constexpr int kTurns = 7;
constexpr int kWarmUps = 3;
constexpr int kMostRepetitions = 20'000;
constexpr size_t kLargeConstant = 512 << 10;  // bytes
constexpr size_t kFlushBytes = 64 << 20;      // more than the caches hold
constexpr size_t kLine = 64;

// A kernel that is offered to the measured node only, or to all other nodes only.
class KernelFor final : public Kernel {
 public:
  KernelFor(const Kernel* kernel, NodeId node, bool is_measured)
      : kernel_(kernel), node_(node), is_measured_(is_measured) {}

  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    if ((context.id() == node_) != is_measured_) return absl::UnimplementedError("another kernel has this node");
    return kernel_->Prepare(context);
  }

 private:
  const Kernel* kernel_;
  const NodeId node_;
  const bool is_measured_;
};

// The CPU backend with one kernel, and the reference function, for the measured node. All other nodes have the kernels
// that plans select for them.
class OneKernelBackend final : public BackendWrapper {
 public:
  OneKernelBackend(const Graph& graph, NodeId node, const KernelRow& row)
      : BackendWrapper(CpuBackend()), op_(graph.op(node)) {
    const auto all = inside().Kernels(op_);
    Add(row, std::make_unique<KernelFor>(row.kernel, node, /*is_measured=*/true));
    for (const KernelRow& other : all.first(all.size() - 1)) {
      Add(other, std::make_unique<KernelFor>(other.kernel, node, /*is_measured=*/false));
    }
    rows_.push_back(all.back());
  }

  std::span<const KernelRow> Kernels(OpKind op) const override { return op == op_ ? rows_ : inside().Kernels(op); }

 private:
  void Add(const KernelRow& row, std::unique_ptr<Kernel> kernel) {
    rows_.push_back({kernel.get(), row.facts, row.missing});
    kernels_.push_back(std::move(kernel));
  }

  const OpKind op_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<KernelRow> rows_;
};

struct Candidate {
  std::unique_ptr<OneKernelBackend> backend;
  std::unique_ptr<Plan> plan;
  std::string kernel;
  std::vector<double> turns_us;
};

struct Microbenchmark {
  Graph graph;
  NodeId node;
  int threads = 1;
  std::vector<Tensor> inputs;
  std::vector<Candidate> candidates;
  std::vector<char> flush;  // written before each run to flush the caches; empty where all constants are small
};

bool HasLargeConstant(const Graph& graph, NodeId node) {
  for (const ValueId input : graph.node(node).inputs) {
    const Tensor* constant = input.valid() ? graph.ConstantTensor(input) : nullptr;
    if (constant != nullptr && constant->byte_size() >= kLargeConstant) return true;
  }
  return false;
}

bool IsMeasured(const Microbenchmark& benchmark, const StepInfo& step) {
  return step.node == benchmark.node || step.op == "reorder";
}

absl::StatusOr<double> WarmTurn(const Microbenchmark& benchmark, Candidate& candidate, int repetitions) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<StepInfo> steps, candidate.plan->Profile(benchmark.inputs, repetitions));
  double us = 0;
  for (const StepInfo& step : steps) us += IsMeasured(benchmark, step) ? step.median_us.value_or(0) : 0;
  return us;
}

absl::StatusOr<double> ColdTurn(Microbenchmark& benchmark, Candidate& candidate, int repetitions) {
  std::vector<double> runs_us;
  const auto run = [&](std::span<const BoundStep> steps) -> absl::Status {
    for (int i = 0; i < repetitions; ++i) {
      for (size_t at = 0; at < benchmark.flush.size(); at += kLine) ++benchmark.flush[at];
      double us = 0;
      for (const BoundStep& step : steps) {
        const auto start = std::chrono::steady_clock::now();
        HALFTONE_RETURN_IF_ERROR(step.step->Run());
        const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
        us += IsMeasured(benchmark, *step.info) ? taken.count() : 0;
      }
      runs_us.push_back(us);
    }
    return absl::OkStatus();
  };
  HALFTONE_RETURN_IF_ERROR(candidate.plan->WithSteps(benchmark.inputs, run));
  return Median(runs_us);
}

absl::StatusOr<double> Turn(Microbenchmark& benchmark, Candidate& candidate, int repetitions) {
  return benchmark.flush.empty() ? WarmTurn(benchmark, candidate, repetitions)
                                 : ColdTurn(benchmark, candidate, repetitions);
}

std::string KernelOf(const Microbenchmark& benchmark, const Plan& plan) {
  std::string kernel;
  for (const StepInfo& step : plan.steps()) {
    if (step.node == benchmark.node && step.kind != StepKind::kConversion) kernel = step.kernel.name;
  }
  return kernel;
}

// The kernels that support the node, in the order of the kernel table, with the one of an ordinary plan first: a kernel
// before it in the table supports the node only after casts.
absl::Status FindCandidates(Microbenchmark& benchmark) {
  const auto kernels = CpuBackend().Kernels(benchmark.graph.op(benchmark.node));
  for (size_t i = 0; i + 1 < kernels.size(); ++i) {
    Candidate candidate;
    candidate.backend = std::make_unique<OneKernelBackend>(benchmark.graph, benchmark.node, kernels[i]);
    HALFTONE_ASSIGN_OR_RETURN(candidate.plan,
                              Plan::Compile(benchmark.graph, {.threads = benchmark.threads}, *candidate.backend));
    HALFTONE_RETURN_IF_ERROR(Turn(benchmark, candidate, kWarmUps).status());
    candidate.kernel = KernelOf(benchmark, *candidate.plan);
    if (candidate.kernel != "reference") benchmark.candidates.push_back(std::move(candidate));
  }
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Plan> ordinary,
                            Plan::Compile(benchmark.graph, {.threads = benchmark.threads}, CpuBackend()));
  const std::string chosen = KernelOf(benchmark, *ordinary);
  std::ranges::stable_partition(benchmark.candidates,
                                [&](const Candidate& candidate) { return candidate.kernel == chosen; });
  return absl::OkStatus();
}

absl::Status Run(Microbenchmark& benchmark, double seconds) {
  double once_us = 0;
  for (Candidate& candidate : benchmark.candidates) {
    HALFTONE_ASSIGN_OR_RETURN(const double us, Turn(benchmark, candidate, kWarmUps));
    once_us = std::max({once_us, us, 0.1});
  }
  const double turn_us = seconds * 1e6 / kTurns;
  const int repetitions = static_cast<int>(std::clamp<double>(turn_us / once_us, kWarmUps, kMostRepetitions));
  for (int turn = 0; turn < kTurns; ++turn) {
    for (Candidate& candidate : benchmark.candidates) {
      HALFTONE_ASSIGN_OR_RETURN(const double us, Turn(benchmark, candidate, repetitions));
      candidate.turns_us.push_back(us);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> RunText(const std::string& text, int threads, double seconds) {
  Microbenchmark benchmark;
  HALFTONE_ASSIGN_OR_RETURN(benchmark.graph, ParseGraph(text));
  benchmark.node = benchmark.graph.producer(benchmark.graph.outputs().front().value);
  benchmark.threads = threads;
  benchmark.inputs = reference::RandomInputs(benchmark.graph, /*seed=*/1);
  if (HasLargeConstant(benchmark.graph, benchmark.node)) benchmark.flush.assign(kFlushBytes, 0);
  HALFTONE_RETURN_IF_ERROR(FindCandidates(benchmark));
  HALFTONE_RETURN_IF_ERROR(Run(benchmark, seconds));
  nlohmann::json out;
  out["op"] = std::string(OpName(benchmark.graph.node(benchmark.node).op));
  out["kernels"] = nlohmann::json::array();
  for (const Candidate& candidate : benchmark.candidates) {
    out["kernels"].push_back({{"kernel", candidate.kernel}, {"us", Median(candidate.turns_us)}});
  }
  return out.dump();
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) {
  return halftone::MicrobenchmarkMain(argc, argv, "kernel_microbenchmark", "measures all kernels that support a node",
                                      halftone::RunText);
}

// SPDX-License-Identifier: Apache-2.0
// A graph made ready to run: kernels chosen, weights packed, memory laid out. Made once per (graph, shapes, threads).
#ifndef HALFTONE_RUNTIME_PLAN_PLAN_H_
#define HALFTONE_RUNTIME_PLAN_PLAN_H_

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "runtime/plan/kernel.h"

namespace halftone {

// What a model may spend in loops that its data decide about.
struct LoopLimits {
  int64_t iterations = 1'000'000;  // of one execution of one loop
  double seconds = 120;            // of one run of the plan; looked at once an iteration
};

struct CompileOptions {
  int threads = 1;
  bool reference_only = false;  // every step by ir/reference: slow, the oracle
  LoopLimits loops = {};
};

// One step of a plan, for people and reports.
struct StepInfo {
  NodeId node;  // of the graph that was compiled
  // Graph::Label; for a reorder, of the node that asked for it; for a step of a nested graph, "loop/label"
  std::string label;
  std::string op;  // "conv+bias+relu", "reorder"
  StepKind kind = StepKind::kKernel;
  // Its name is that of oneDNN's implementation ("brgconv:avx512_core_bf16"), of a SIMD loop ("copy"), "reference", or
  // the kind of a step that runs no kernel: "view", "constant", "empty", "nested"
  Implementation kernel;
  // As the kernel reads and writes them, which may be others than the node's.
  DataType src_type = DataType::kUnknown;
  DataType weights_type = DataType::kUnknown;  // conv, matmul, gemm
  DataType dst_type = DataType::kUnknown;
  std::optional<double> median_us;  // of Profile
};

// Of these steps, those that do nothing but convert elements from one type to another (and perhaps their layout).
int CountConversions(std::span<const StepInfo> steps);

// A step of one run, bound to the memory that it works on: what a profile times (profile.h).
struct BoundStep {
  struct Memory {
    std::byte* address = nullptr;  // null: nothing reads this output
    size_t bytes = 0;
    bool constant = false;
  };
  const StepInfo* info = nullptr;
  Step* step = nullptr;
  std::vector<Memory> inputs, outputs;  // two that share an address: written in place
  // How the outputs of info->node lie there, in their order; empty for a conversion, which the plan made.
  std::span<const Placement> placements;
  std::byte* scratch = nullptr;
  size_t scratch_bytes = 0;
};

// Bytes that a plan takes for what is computed in a run. Plans inside steps are not counted.
struct PlanMemory {
  size_t arena = 0;              // of values and scratch memory; what is never alive at the same time shares bytes
  size_t scratch = 0;            // the largest of one step, in the arena
  size_t live = 0;               // the largest sum of values alive at the same time, in the order that is executed
  size_t live_with_scratch = 0;  // the same of values and the scratch memory of the step that runs
  size_t constants = 0;          // of the graph, or converted for steps; without what kernels packed
};

// Owns its memory and a copy of the graph. Not thread-safe: one run at a time.
class Plan {
 public:
  // Constants are folded here. Where all shapes are known (see Specialize), weights are packed here too; else the plan
  // is made in parts, each when its shapes are known, and the parts are kept for inputs of the same shapes. Errors:
  // UNIMPLEMENTED lists every node that cannot run (opaque, TensorFlow's control flow as written); INVALID_ARGUMENT
  // names the node whose inputs do not fit; RESOURCE_EXHAUSTED the value that is too large.
  static absl::StatusOr<std::unique_ptr<Plan>> Compile(const Graph& graph, const CompileOptions& options,
                                                       const Backend& backend);
  virtual ~Plan() = default;

  // `inputs` in the order of graph.inputs(), with exactly their types and shapes (free dimensions: any number); the
  // result in that of graph.outputs(). Errors: RESOURCE_EXHAUSTED names the loop that does not end.
  virtual absl::StatusOr<std::vector<Tensor>> Run(std::span<const Tensor> inputs) = 0;

  // What is done in a run, in order; views and folded constants included. Of a plan in parts: what was done in the last
  // run, nothing before the first one.
  virtual std::vector<StepInfo> steps() const = 0;

  // steps() with the median of each step's time over `repetitions` runs, of which all but three are left out once the
  // runs have taken `seconds`.
  absl::StatusOr<std::vector<StepInfo>> Profile(std::span<const Tensor> inputs, int repetitions,
                                                double seconds = std::numeric_limits<double>::infinity());

  // Memory for intermediate values, shared over their lifetimes; and for constants as they are in the graph or as
  // converted for steps (what a kernel packed for itself is not counted).
  virtual size_t arena_bytes() const = 0;
  virtual int threads() const = 0;

  // For profiles. `work` gets the steps of a run on these inputs, in order and without those that do nothing, and
  // carries each out as often as it likes; it leaves them bound as they were. UNIMPLEMENTED for a plan in parts.
  virtual absl::Status WithSteps(std::span<const Tensor> inputs,
                                 absl::FunctionRef<absl::Status(std::span<const BoundStep>)> work) = 0;
  virtual PlanMemory memory() const = 0;

  // The node's op with what is fused into it: "conv+bias+residual+relu".
  static std::string OpText(const Graph& graph, NodeId node);

 protected:
  // While times are taken, the median_us of steps() is the time spent in each since SetTiming(true).
  virtual void SetTiming(bool on) = 0;
};

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_PLAN_H_

// A graph made ready to run: kernels chosen, weights packed, memory laid out. Made once per (graph, shapes, threads).
#ifndef HALFTONE_RUNTIME_PLAN_H_
#define HALFTONE_RUNTIME_PLAN_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "runtime/kernel.h"

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
  // oneDNN's implementation ("brgconv:avx512_core_bf16"), the name of a loop of ours ("copy"), "reference", "view",
  // "constant", "empty" (a result of no elements), "nested" (control flow; the nested graph's steps follow)
  std::string kernel;
  DataType src_type = DataType::kUnknown;
  DataType weights_type = DataType::kUnknown;  // conv, matmul, gemm
  DataType dst_type = DataType::kUnknown;
  std::optional<double> median_us;  // of Profile
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

  // steps() with the median of each step's time over `repetitions` runs.
  absl::StatusOr<std::vector<StepInfo>> Profile(std::span<const Tensor> inputs, int repetitions);

  // Memory for intermediate values, shared over their lifetimes; and for constants as they lie in the graph or as
  // converted for steps (what a kernel packed for itself is not counted).
  virtual size_t arena_bytes() const = 0;
  virtual int threads() const = 0;

  // The node's op with what is fused into it: "conv+bias+residual+relu".
  static std::string OpText(const Graph& graph, NodeId node);

 protected:
  // While times are taken, the median_us of steps() is the time spent in each since SetTiming(true).
  virtual void SetTiming(bool on) = 0;
};

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_H_

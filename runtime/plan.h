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

struct CompileOptions {
  int threads = 1;
  bool reference_only = false;  // every step by ir/reference: slow, the oracle
};

// One step of a plan, for people and reports.
struct StepInfo {
  NodeId node;        // of the graph that was compiled
  std::string label;  // Graph::Label; for a reorder, of the node that asked for it
  std::string op;     // "conv+bias+relu", "reorder"
  std::string
      kernel;  // oneDNN's implementation ("brgconv:avx512_core_bf16"), "copy", "reference", "view" or "constant"
  DataType src_type = DataType::kUnknown;
  DataType weights_type = DataType::kUnknown;  // conv, matmul, gemm
  DataType dst_type = DataType::kUnknown;
  std::optional<double> median_us;  // of Profile
};

// Owns its memory and a copy of the graph. Not thread-safe: one run at a time.
class Plan {
 public:
  // Shapes must be known (see Specialize). Constants are folded and packed here.
  // Errors: UNIMPLEMENTED lists every node that cannot run (opaque, control flow, shapes that depend on data);
  // INVALID_ARGUMENT names the node whose inputs do not fit.
  static absl::StatusOr<std::unique_ptr<Plan>> Compile(const Graph& graph, const CompileOptions& options,
                                                       const Backend& backend);
  virtual ~Plan() = default;

  // `inputs` in the order of graph.inputs(), with exactly their types and shapes; the result in that of
  // graph.outputs().
  virtual absl::StatusOr<std::vector<Tensor>> Run(std::span<const Tensor> inputs) = 0;

  // What is done in a run, in order; views and folded constants included.
  virtual std::vector<StepInfo> steps() const = 0;

  // steps() with the median of each step's time over `repetitions` runs.
  virtual absl::StatusOr<std::vector<StepInfo>> Profile(std::span<const Tensor> inputs, int repetitions) = 0;

  // Memory for intermediate values, shared over their lifetimes; and for constants as they lie in the graph or as
  // converted for steps (what a kernel packed for itself is not counted).
  virtual size_t arena_bytes() const = 0;
  virtual int threads() const = 0;

  // The node's op with what is fused into it: "conv+bias+residual+relu".
  static std::string OpText(const Graph& graph, NodeId node);
};

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_H_

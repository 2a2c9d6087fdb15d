// What a model is, and what a planner would do with it, as plain data.
#ifndef HALFTONE_OPTIMIZER_INSPECT_H_
#define HALFTONE_OPTIMIZER_INSPECT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "optimizer/model.h"
#include "passes/precision/lists_planner.h"

namespace halftone {

struct PortSummary {
  std::string name;
  std::string type;   // "f32"
  std::string shape;  // "[N,3,224,224]"
};

struct OpSummary {
  std::string op;  // canonical, or the type of an opaque op
  int count = 0;
  bool runs = true;  // false: opaque or control flow
};

struct ModelSummary {
  std::string format;          // "onnx", "graphdef"
  std::vector<int64_t> opset;  // ONNX, by domain
  std::vector<std::string> opset_domains;
  std::vector<PortSummary> inputs;
  std::vector<PortSummary> outputs;
  std::vector<OpSummary> ops;  // most frequent first
  int nodes = 0;               // without constants
  int64_t parameters = 0;      // elements of all constants
  int64_t parameter_bytes = 0;
};

ModelSummary Summarize(const Graph& graph);

// One row for each type variable that was decided.
struct PlanRow {
  std::string node;
  std::string op;         // the TensorFlow op that it counts as
  std::string type_attr;  // "T"
  std::string list;       // the list that op is on
  std::string colour;     // "bf16" or "f32"
  std::string step;       // of the planner, that decided
  std::string reason;
};

// Canonical ops that can run.
std::vector<std::string> RunnableOps();

std::vector<PlanRow> PlanRows(const Graph& graph, const PrecisionPlan& plan);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_INSPECT_H_

// SPDX-License-Identifier: Apache-2.0
// What a model is, and what a planner would do with it, as plain data.
#ifndef HALFTONE_OPTIMIZER_INSPECT_H_
#define HALFTONE_OPTIMIZER_INSPECT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "optimizer/import.h"
#include "passes/precision/planned_precision.h"

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
  std::vector<std::pair<std::string, std::string>> provenance;  // ("halftone.cpu", ...): of a file that we wrote
};

ModelSummary Summarize(const Graph& graph);

// What a planner says. Of planner lists one row for each float type attribute of each node as the file spells it,
// before constants are folded; of others, and after a policy's rules, one for each type variable that was decided.
struct PlanRow {
  std::string node;
  std::string op;            // the TensorFlow op that it counts as
  std::string type_attr;     // "T"
  int index = -1;            // in a list of types; -1: a single type
  std::string list;          // the list that op is on
  std::string planned_type;  // the planner's: "bf16", "f16" or "f32"
  std::string step;          // of the planner, that decided
  std::string reason;
  // What is done with the node that stands for it: "bf16", "f16" or "f32", and the rule; "" where no node's type is
  // decided by this row.
  std::string applied;
  std::string rule;
};

// Canonical ops that can run.
std::vector<std::string> RunnableOps();

// `graph` is the one that was planned.
std::vector<PlanRow> PlanRows(const Graph& graph, const PlannedPrecision& planned);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_INSPECT_H_

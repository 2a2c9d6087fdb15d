// SPDX-License-Identifier: Apache-2.0
// A text that reproduces the failure of a pass: the graph before the pass, after comment lines with the pipeline, the
// pass and the seed. graph_opt --reproduce runs it, graph_reduce shrinks it.
//
//   # pipeline: optimize
//   # pass: fuse-residual
//   # seed: 1
//   # origin: halftone 0.1.0, target permissive
//   # plan: m=bf16                        (if there was one)
//   # failure: changed an output ...
//   graph (x: f32[2,3]) { ... }
#ifndef HALFTONE_PASSES_CORE_REPRODUCER_H_
#define HALFTONE_PASSES_CORE_REPRODUCER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/precision_plan.h"
#include "ir/target.h"
#include "passes/core/pass.h"
#include "passes/core/pipeline.h"

namespace halftone {

struct Reproducer {
  std::string pipeline, pass, failure;
  std::string origin;  // the program and target on which it failed
  uint64_t seed = 1;
  bool planned = false;
  PrecisionPlan plan;  // for `graph`
  Graph graph;
};

// Omits large weights if the failure does not depend on them: then the parser fills them from their names.
std::string WriteReproducer(const Pass& pass, std::string_view pipeline, const Graph& before,
                            const absl::Status& failure, const PassContext& context);
std::string PrintReproducer(const Reproducer& reproducer);

// The text is attached to the error as a payload, so that callers can return it.
void AttachReproducer(absl::Status& failure, std::string_view text);
// "" if there is none.
std::string ReproducerOf(const absl::Status& failure);

// INVALID_ARGUMENT names what is missing or invalid.
absl::StatusOr<Reproducer> ReadReproducer(std::string_view text);

// Runs `pipeline` over the graph with the equivalence check: OK if it no longer fails, else its error.
absl::Status Rerun(const Reproducer& reproducer, const Pipeline& pipeline, const Target& target);

// Whether two failures are of one kind: the same pass and the same kind of error, independent of the numbers.
bool SameFailure(const absl::Status& a, const absl::Status& b);

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_REPRODUCER_H_

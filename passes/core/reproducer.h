// What is needed to see a pass fail again, as one text: the graph before the pass under lines of comment that say which
// pass of which pipeline, and from which seed. graph_opt --reproduce runs it, graph_reduce shrinks it.
//
//   # pipeline: optimize
//   # pass: fuse-residual
//   # seed: 1
//   # origin: halftone 0.1.0, target permissive
//   # plan: m=bf16                        (where there was one)
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
  std::string origin;  // what it failed on
  uint64_t seed = 1;
  bool planned = false;
  PrecisionPlan plan;  // for `graph`
  Graph graph;
};

// Large weights are left out where the failure does not need them: then the text's reader fills them from their names.
std::string WriteReproducer(const Pass& pass, std::string_view pipeline, const Graph& before,
                            const absl::Status& failure, const PassContext& context);
std::string PrintReproducer(const Reproducer& reproducer);

// The text travels with the error that it belongs to, as a payload, to whoever can hand it out.
void AttachReproducer(absl::Status& failure, std::string_view text);
// "" where there is none.
std::string ReproducerOf(const absl::Status& failure);

// INVALID_ARGUMENT says what is missing or wrong.
absl::StatusOr<Reproducer> ReadReproducer(std::string_view text);

// Runs `pipeline` over the graph with the equivalence check: OK where it does not fail any more, else how it failed.
absl::Status Rerun(const Reproducer& reproducer, const Pipeline& pipeline, const Target& target);

// Whether two failures are of one kind: the same pass, and the same thing that went wrong, whatever the numbers.
bool SameFailure(const absl::Status& a, const absl::Status& b);

}  // namespace halftone

#endif  // HALFTONE_PASSES_CORE_REPRODUCER_H_

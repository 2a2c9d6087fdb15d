// One graph through everything that must not change its answers.
#ifndef HALFTONE_TESTS_FUZZ_CHECK_H_
#define HALFTONE_TESTS_FUZZ_CHECK_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "runtime/engine.h"
#include "tests/fuzz/maker.h"

namespace halftone::fuzz {

// What is tested. Tests of the fuzzer put a broken part in the place of one of these (bugs.h).
struct Subject {
  std::function<absl::StatusOr<std::unique_ptr<Plan>>(const Graph&)> compile;
  std::function<absl::Status(Graph&)>
      optimize;  // the optimize pipeline, then precision with a plan that lowers nothing
  std::function<absl::StatusOr<std::string>(const Graph&)> write;
  // `outputs`: a GraphDef does not say which they are.
  std::function<absl::StatusOr<Graph>(const std::string& bytes, GraphFormat format, std::vector<std::string> outputs)>
      read;
};
Subject Halftone();

struct Outcome {
  // What went wrong, and where: "engine, every value: 'n7' (softmax): [0,3]: 1 against 2". "" if nothing did.
  std::string stage;
  std::string problem;
  std::string cannot_run;  // why the engine refuses the graph; then nothing else was tried
  bool onnx = false;       // the format can say the graph, and did
  bool graphdef = false;

  bool failed() const { return !problem.empty(); }
};

// The stages, in order; the first that fails ends it:
//   engine, every value  each node against its reference function on the inputs that the engine gave it, within the
//   op's
//                        tolerance. Every plan runs twice, the first time on other numbers
//   engine               the graph with its own outputs only: values die, memory is shared, layouts are packed
//   free shapes          where no dimension of an input is known before the run
//   optimized            after the pipelines
//   onnx                 written and read again, and "optimized, onnx": what was read, optimized, written and read
//   graphdef             the same, from a graph that was read from a GraphDef: it says less than the table can
// From the second on outputs may differ by 1e-3 of an output's largest magnitude.
Outcome Check(const Case& c, const Subject& subject);

// The smallest graph that still fails in the same stage (tools/graph_reduce/reduce.h).
Case Minimize(const Case& c, const Subject& subject, const Outcome& outcome);

// The graph, and the inputs as far as they are small.
std::string Describe(const Case& c);

}  // namespace halftone::fuzz

#endif  // HALFTONE_TESTS_FUZZ_CHECK_H_

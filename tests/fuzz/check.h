// SPDX-License-Identifier: Apache-2.0
// Runs one graph through everything that must keep its outputs: engine, optimizer, export and import.
#ifndef HALFTONE_TESTS_FUZZ_CHECK_H_
#define HALFTONE_TESTS_FUZZ_CHECK_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "formats/formats.h"
#include "runtime/engine.h"
#include "tests/fuzz/maker.h"

namespace halftone::fuzz {

// The functions under test. Tests of the fuzzer replace one of them by a broken one (bugs.h).
struct Subject {
  std::function<absl::StatusOr<std::unique_ptr<Plan>>(const Graph&)> compile;
  // The optimize pipeline, then the precision pipeline with an empty plan.
  std::function<absl::Status(Graph&)> optimize;
  std::function<absl::StatusOr<std::string>(const Graph&)> write;
  // `outputs`: names of the graph's outputs, which a GraphDef does not tell.
  std::function<absl::StatusOr<Graph>(const std::string& bytes, ModelFormat format, std::vector<std::string> outputs)>
      read;
};
Subject Halftone();

struct Outcome {
  // The first stage that failed, such as "engine, every value", and how: "'n7' (softmax): [0,3]: 1 against 2". Both are
  // "" if every stage passed.
  std::string stage;
  std::string problem;
  std::string cannot_run;  // why the engine refuses the graph; then no other stage ran
  bool onnx = false;       // whether the graph was written as an ONNX file
  bool graphdef = false;   // whether the graph was written as a GraphDef

  bool failed() const { return !problem.empty(); }
};

// Runs these stages in order and stops at the first that fails. Every plan runs twice, first on other inputs.
//
//   engine, every value   All values are outputs. Compares each node with its reference function on the inputs that the
//                         engine computed, within the op's tolerance.
//   engine                Only the graph's own outputs: arena memory is reused and layouts are packed.
//   dynamic shapes        No dimension of an input is known before the run.
//   optimized             After the pipelines.
//   onnx                  After export and import.
//   optimized, onnx       After import, optimizer, export and import.
//   graphdef              As "onnx", with a graph that was read from a GraphDef, as that can express fewer graphs than
//                         the op table.
//   optimized, graphdef   As "optimized, onnx".
//
// All stages but the first allow a difference of 1e-3 of an output's largest magnitude.
Outcome Check(const Case& c, const Subject& subject);

// The smallest graph that still fails in the same stage (tools/graph_reduce/reduce.h).
Case Minimize(const Case& c, const Subject& subject, const Outcome& outcome);

// The text of the graph and of its small inputs.
std::string Describe(const Case& c);

}  // namespace halftone::fuzz

#endif  // HALFTONE_TESTS_FUZZ_CHECK_H_

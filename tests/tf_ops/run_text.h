// SPDX-License-Identifier: Apache-2.0
// Runs GraphDefs that are written as text (file_text.h), for tests.
#ifndef HALFTONE_TESTS_TF_OPS_RUN_TEXT_H_
#define HALFTONE_TESTS_TF_OPS_RUN_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace halftone::testing {

// Failures are test failures.
Graph Import(std::string_view text, std::vector<std::string> outputs);

// The values of the only output, with structured loops (BuildLoops). Reference functions and engine must agree.
std::vector<float> RunGraph(Graph graph, const std::vector<Tensor>& inputs);

// Imports the text, checks that the exported file has the same nodes and functions, and runs it.
std::vector<float> RunText(std::string_view text, const std::string& output, const std::vector<Tensor>& inputs);

Tensor Floats(std::vector<int64_t> dims, const std::vector<float>& values);
Tensor Bool(bool value);

}  // namespace halftone::testing

#endif  // HALFTONE_TESTS_TF_OPS_RUN_TEXT_H_

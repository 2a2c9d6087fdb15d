// SPDX-License-Identifier: Apache-2.0
// Runs functions in child processes, so that a crash, a hang or too much memory fails only one test.
#ifndef HALFTONE_TESTS_CONFORMANCE_ISOLATE_H_
#define HALFTONE_TESTS_CONFORMANCE_ISOLATE_H_

#include <functional>
#include <string>

namespace halftone {

struct IsolateOptions {
  int jobs = 2;
  int seconds = 30;  // time limit of one function
};

// Calls `run(i)` for each i in [0, count) in a child process, `jobs` in parallel, and `done(i, result)` in this process
// in order of i. `result` is what `run` returned, or "crashed: signal 11 (Segmentation fault)" with the last line of
// stderr, or "timed out after 30 s". Forks, so it must be called before any thread starts (OpenMP, oneDNN).
void Isolate(int count, const IsolateOptions& options, const std::function<std::string(int)>& run,
             const std::function<void(int, const std::string&)>& done);

}  // namespace halftone

#endif  // HALFTONE_TESTS_CONFORMANCE_ISOLATE_H_

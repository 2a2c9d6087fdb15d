// Functions run in processes of their own: what crashes, hangs or eats the memory is one failed test.
#ifndef HALFTONE_TESTS_CONFORMANCE_ISOLATE_H_
#define HALFTONE_TESTS_CONFORMANCE_ISOLATE_H_

#include <functional>
#include <string>

namespace halftone {

struct IsolateOptions {
  int jobs = 2;
  int seconds = 30;  // of one function
};

// Calls `run(i)` for each i in [0, count) in a child process, `jobs` at a time, and `done(i, text)` here, in order of i,
// with what it returned; "crashed: signal 11 (Segmentation fault)", with the last line on stderr if there is one, or "no
// answer within 30 s". Forks: call it before any thread was started (OpenMP, oneDNN).
void Isolate(int count, const IsolateOptions& options, const std::function<std::string(int)>& run,
             const std::function<void(int, const std::string&)>& done);

}  // namespace halftone

#endif  // HALFTONE_TESTS_CONFORMANCE_ISOLATE_H_

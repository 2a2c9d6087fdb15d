// SPDX-License-Identifier: Apache-2.0
// The cores that a measurement runs on: which there are, which to take, and staying on them.
#ifndef HALFTONE_RUNTIME_MEASURE_CORES_H_
#define HALFTONE_RUNTIME_MEASURE_CORES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace halftone {

// A hardware thread as the kernel describes it.
struct Core {
  int number = 0;
  int node = 0;     // of memory (NUMA)
  int sibling = 0;  // 0: the first hardware thread of its physical core, 1: the second, ...
};

// Those that this process may use, in the order of their numbers. With OMP_PROC_BIND libgomp has pinned the initial
// thread before main: ask in a process that starts others, not in those.
std::vector<Core> AllowedCores();

// `count` of them for one measurement: one hardware thread of each physical core first, and of one memory node as long
// as it has enough. `wanted`, where not empty, is taken as it is. Errors: INVALID_ARGUMENT when there are not so many,
// or a wanted one may not be used.
absl::StatusOr<std::vector<int>> ChooseCores(const std::vector<Core>& allowed, int count,
                                             const std::vector<int>& wanted);

// Keeps the calling thread, and those that it starts, on these cores; the destructor puts back what was. Empty:
// nothing.
class Pinning {
 public:
  explicit Pinning(const std::vector<int>& cores);
  ~Pinning();
  Pinning(const Pinning&) = delete;
  Pinning& operator=(const Pinning&) = delete;

 private:
  std::vector<int> had_;
};

// What the threads of this process are allowed, as the kernel says: their number, and whether each is held to `cores`.
struct ThreadsNow {
  int count = 0;
  bool on_cores = false;
};
ThreadsNow LookAtThreads(const std::vector<int>& cores);

// "0-3,8" -> {0, 1, 2, 3, 8}; what cannot be read is left out.
std::vector<int> ParseCoreList(const std::string& text);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_MEASURE_CORES_H_

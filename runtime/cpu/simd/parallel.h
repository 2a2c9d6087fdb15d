// SPDX-License-Identifier: Apache-2.0
// Loops over the threads that a plan may use: OpenMP's, which oneDNN uses too.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_PARALLEL_H_
#define HALFTONE_RUNTIME_CPU_SIMD_PARALLEL_H_

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace halftone::simd {

// Calls body(first, last) for disjoint ranges that cover [0, count), on the calling thread's OpenMP threads
// (Backend::UseThreads), none smaller than `grain` but the last. Use a grain worth about 10 microseconds.
template <typename Body>
void ParallelFor(int64_t count, int64_t grain, const Body& body) {
  const int64_t pieces =
      std::min<int64_t>(omp_get_max_threads(), std::max<int64_t>(1, count / std::max<int64_t>(1, grain)));
  if (pieces <= 1) {
    if (count > 0) body(int64_t{0}, count);
    return;
  }
#pragma omp parallel for num_threads(static_cast<int>(pieces)) schedule(static, 1)
  for (int64_t i = 0; i < pieces; ++i) body(count * i / pieces, count * (i + 1) / pieces);
}

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_PARALLEL_H_

// SPDX-License-Identifier: Apache-2.0
// The speed that this CPU reaches in oneDNN's best case: what the speed of a step is a share of.
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_PEAK_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_PEAK_H_

#include "ir/types.h"

namespace halftone {

// GFLOP/s of products in this type (f32, bf16, f16, s8), with so many threads: the best of matmuls and
// convolutions that fit into the second-level cache. Takes about a third of a second when it is asked for the first
// time; after that it is known. 0: no such product. Thread-safe.
double PeakGflops(DataType type, int threads);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_PEAK_H_

// SPDX-License-Identifier: Apache-2.0
// Ranges that an earlier calibration made, found again by everything that they depend on.
#ifndef HALFTONE_OPTIMIZER_RANGES_CACHE_H_
#define HALFTONE_OPTIMIZER_RANGES_CACHE_H_

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "formats/ranges/ranges_json.h"
#include "ir/graph.h"
#include "optimizer/benchmark_options.h"

namespace halftone {

// Of all values of a graph, as ranges have them.
std::set<std::string> RangeNames(const Graph& graph);

// 64 hexadecimal digits over the graph that is calibrated with every byte of its constants, what `wanted` says of
// samples and calibrator, batch and threads of the runs, the instruction set and this build.
std::string RangesKey(const Graph& fused, const RangesFile& wanted, const BenchmarkOptions& benchmark);

// The file that was kept under a key. Errors: NOT_FOUND; INVALID_ARGUMENT: it is no ranges.json; FAILED_PRECONDITION:
// it was made of other samples or by another method than `wanted` says, or is of values that `fused` does not have.
absl::StatusOr<RangesFile> ReadKnownRanges(const std::string& path, const Graph& fused, const RangesFile& wanted);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_RANGES_CACHE_H_

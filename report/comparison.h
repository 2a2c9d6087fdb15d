// SPDX-License-Identifier: Apache-2.0
// Two reports against each other, from the samples that they hold.
#ifndef HALFTONE_REPORT_COMPARISON_H_
#define HALFTONE_REPORT_COMPARISON_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "halftone/v1/report.pb.h"

namespace halftone::report {

// Rounds of different runs do not belong together, so they are resampled apart (CompareRuns). Errors: INVALID_ARGUMENT
// when one has no samples, too few rounds, or figures that are not those of its samples; when they have no variant in
// common.
absl::StatusOr<v1::Comparison> Compare(const v1::Report& a, const v1::Report& b);

// For people: a table, a line a variant.
std::string ComparisonTable(const v1::Comparison& comparison);

}  // namespace halftone::report

#endif  // HALFTONE_REPORT_COMPARISON_H_

// SPDX-License-Identifier: Apache-2.0
// The figures of a report computed again from the samples that it holds, by the arithmetic of the job that measured
// (runtime/measure/summary.h, runtime/measure/statistics.h): the same bits, or the report was changed.
#ifndef HALFTONE_REPORT_FIGURES_H_
#define HALFTONE_REPORT_FIGURES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "halftone/v1/report.pb.h"
#include "runtime/measure/statistics.h"
#include "runtime/measure/summary.h"

namespace halftone::report {

std::vector<RoundSamples> SamplesOf(const google::protobuf::RepeatedPtrField<v1::BenchmarkRound>& rounds);

v1::Verdict ToProto(Verdict verdict);

// `time_ratio` is time of this / time of the baseline; a Speedup is its inverse.
v1::Speedup ToSpeedup(const RatioEstimate& time_ratio);

// The report with every figure that follows from samples as they say it. INVALID_ARGUMENT: nothing was measured, or a
// round has no samples (the report of a job's result, without the file, has none).
absl::StatusOr<v1::Report> Recompute(const v1::Report& report);

// Figures in which two reports with the same variants differ, e.g. "bf16 speedup.low: 1.31, by the samples 1.29". Every
// bit counts.
std::vector<std::string> FigureDifferences(const v1::Report& said, const v1::Report& computed);

}  // namespace halftone::report

#endif  // HALFTONE_REPORT_FIGURES_H_

// SPDX-License-Identifier: Apache-2.0
// What a policy says of int8 as the optimizer's options, and where ranges came from as the report says it.
#ifndef HALFTONE_SERVER_WORKER_CONVERT_INT8_H_
#define HALFTONE_SERVER_WORKER_CONVERT_INT8_H_

#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "halftone/v1/policy.pb.h"
#include "halftone/v1/report.pb.h"
#include "optimizer/options.h"
#include "optimizer/result.h"
#include "server/worker/worker.pb.h"

namespace halftone::worker {

// All but the file of ranges, which is a part of the job. What the policy leaves out is as Int8Options has it.
// Errors: OptionsError names the field and the words that there are.
absl::StatusOr<Int8Options> ToInt8Options(const v1::Int8Policy& policy);

// OptimizeSpec.explain. REQUIRES: the job's samples are in the options
void AskToExplain(OptimizeOptions& options);

v1::Calibration ToProto(const CalibrationSummary& summary);
v1::GoalResult ToProto(const GoalResult& result);
v1::SaturationCheck ToProto(const SaturationCheck& check);

// What the server knows of earlier jobs, as OptimizeOptions::known_ranges; and back, what became of it: not set where
// the calibration has no key.
std::optional<std::map<std::string, std::string>> KnownRangesOf(const WorkerRequest& request);
void SetRangesUse(const std::optional<CalibrationSummary>& calibration, WorkerResult& result);

}  // namespace halftone::worker

#endif  // HALFTONE_SERVER_WORKER_CONVERT_INT8_H_

// SPDX-License-Identifier: Apache-2.0
// The exit codes of `halftone`, and the one table from errors to exit codes.
#ifndef HALFTONE_CLIENT_CLI_EXIT_CODES_H_
#define HALFTONE_CLIENT_CLI_EXIT_CODES_H_

#include <string>

#include "absl/status/status.h"

namespace halftone::cli {

enum ExitCode : int {
  kDone = 0,
  kBug = 1,          // ours: please report
  kUsage = 2,        // flags, policy, an output folder that cannot be written
  kModel = 3,        // the model is bad or missing, or its job failed
  kGate = 4,         // a gate failed
  kTimeout = 5,      // the job timed out
  kUnreachable = 6,  // the server is unreachable
  kNoisy = 9,        // noise leaves a gate undecided or a benchmark INVALID, and --allow-noisy was not given
  kInterrupted = 130,
};

// Reasons of errors that this program makes itself. Those of a server are listed in the .cc.
inline constexpr char kReasonUsage[] = "USAGE";
inline constexpr char kReasonPolicy[] = "POLICY_INVALID";
inline constexpr char kReasonModelFile[] = "MODEL_FILE";
inline constexpr char kReasonOutputFile[] = "OUTPUT_FILE";
inline constexpr char kReasonGateFailed[] = "GATE_FAILED";
inline constexpr char kReasonBenchmarkInvalid[] = "BENCHMARK_INVALID";
inline constexpr char kReasonServerStart[] = "SERVER_START";
inline constexpr char kReasonInterrupted[] = "INTERRUPTED";
inline constexpr char kReasonJobCancelled[] = "JOB_CANCELLED";

// By the reason of the status if the table has it; else by its code and by whether a job failed or a call.
ExitCode ExitCodeFor(const absl::Status& status);

absl::Status UsageError(const std::string& message);
absl::Status ModelFileError(const std::string& message);

}  // namespace halftone::cli

#endif  // HALFTONE_CLIENT_CLI_EXIT_CODES_H_

// SPDX-License-Identifier: Apache-2.0
// The work of `halftone profile`: what each variant's process says, put together as one Profile.
#ifndef HALFTONE_SERVER_WORKER_PROFILE_WORK_H_
#define HALFTONE_SERVER_WORKER_PROFILE_WORK_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "halftone/v1/profile.pb.h"
#include "optimizer/profile.h"
#include "server/worker/child_runner.h"

namespace halftone::worker {

// In the variant's own process.
v1::ProfiledVariant ProfileToProto(const VariantProfile& profile, int threads);

struct ProfiledModel {
  v1::Profile profile;
  std::optional<CalibrationSummary> calibration;  // where int8 is among the variants
};

// Errors name the variant.
absl::StatusOr<ProfiledModel> ProfileVariants(const OptimizeOptions& options, const std::vector<VariantKind>& kinds,
                                              ProcessChildRunner& children, const ProgressCallback& progress);

// oneDNN's lines of one inference of each variant in the order of execution; after each the commands that repeat it,
// in lines that begin with '#'.
std::string VerboseText(const v1::Profile& profile);

}  // namespace halftone::worker

#endif  // HALFTONE_SERVER_WORKER_PROFILE_WORK_H_

// SPDX-License-Identifier: Apache-2.0
// Completes a Profile (proto/halftone/v1/profile.proto), and prints it.
#ifndef HALFTONE_REPORT_PROFILE_H_
#define HALFTONE_REPORT_PROFILE_H_

#include <string>

#include "halftone/v1/profile.pb.h"

namespace halftone::report {

// Computes from the measurements: shares, savings, the order of the steps, checks, and where time is lost.
void CompleteProfile(v1::ProfiledVariant& variant);

// One sentence: where time is lost.
std::string LossSentence(const v1::ProfiledVariant& variant);

// One table per variant, of its first `top` steps (0: all), and facts about the whole. Ends with a newline.
std::string ProfileTable(const v1::Profile& profile, int top);

}  // namespace halftone::report

#endif  // HALFTONE_REPORT_PROFILE_H_

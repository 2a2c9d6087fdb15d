// A Profile (proto/halftone/v1/profile.proto) made complete, and for people.
#ifndef HALFTONE_REPORT_PROFILE_H_
#define HALFTONE_REPORT_PROFILE_H_

#include <string>

#include "halftone/v1/profile.pb.h"

namespace halftone::report {

// From what was measured: shares, gains, the order of the steps, the checks, and the sentence that says where the time
// is lost.
void CompleteProfile(v1::ProfiledVariant& variant);

// The sentence alone (profile_loss.cc).
std::string LossSentence(const v1::ProfiledVariant& variant);

// One table a variant, of its first `top` steps (0: all), and the facts about the whole. Ends with a newline.
std::string ProfileTable(const v1::Profile& profile, int top);

}  // namespace halftone::report

#endif  // HALFTONE_REPORT_PROFILE_H_

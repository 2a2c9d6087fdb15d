// SPDX-License-Identifier: Apache-2.0
// "did you mean": the word that was probably meant.
#ifndef HALFTONE_CLIENT_SUGGEST_H_
#define HALFTONE_CLIENT_SUGGEST_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace halftone::client {

// The nearest of `known` by edit distance, case ignored; "" when none is near.
std::string Nearest(absl::string_view word, const std::vector<std::string>& known);

// "; did you mean 'bf16'?" or, when nothing is near, "; known are a, b, c".
std::string DidYouMean(absl::string_view word, const std::vector<std::string>& known);

}  // namespace halftone::client

#endif  // HALFTONE_CLIENT_SUGGEST_H_

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/window_settings_internal.h"

namespace halftone {

absl::StatusOr<std::vector<int64_t>> WindowNumbers(const Attributes& attributes, std::string_view name, size_t count,
                                                   int64_t otherwise, int64_t lowest) {
  std::vector<int64_t> result = attributes.Ints(name);
  if (result.empty()) result.assign(count, otherwise);
  const auto fits = [lowest](int64_t number) { return number >= lowest && number <= kLargestWindow; };
  if (result.size() != count || !std::all_of(result.begin(), result.end(), fits)) {
    return absl::InvalidArgumentError(Concat("attribute '", name, "' is [", absl::StrJoin(result, ","), "], need ",
                                             count, " numbers of at least ", lowest));
  }
  return result;
}

absl::StatusOr<WindowSettings> ReadWindowSettings(const Attributes& attributes, size_t rank) {
  WindowSettings s;
  HALFTONE_ASSIGN_OR_RETURN(s.strides, WindowNumbers(attributes, "strides", rank, 1, 1));
  HALFTONE_ASSIGN_OR_RETURN(s.dilations, WindowNumbers(attributes, "dilations", rank, 1, 1));
  s.auto_pad = attributes.String("auto_pad", "NOTSET");
  if (s.auto_pad.empty()) s.auto_pad = "NOTSET";
  s.pads.assign(2 * rank, 0);
  if (s.auto_pad == "NOTSET") {
    HALFTONE_ASSIGN_OR_RETURN(s.pads, WindowNumbers(attributes, "pads", 2 * rank, 0, 0));
  } else if (!s.same() && s.auto_pad != "VALID") {
    return absl::InvalidArgumentError(
        Concat("auto_pad is '", s.auto_pad, "', need NOTSET, SAME_UPPER, SAME_LOWER or VALID"));
  }
  return s;
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// The attributes that every sliding window has, read once for windows and transposed ones.
#ifndef HALFTONE_IR_WINDOW_SETTINGS_INTERNAL_H_
#define HALFTONE_IR_WINDOW_SETTINGS_INTERNAL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/attributes.h"

namespace halftone {

// Of strides, dilations, pads, windows and inputs: sums of two products of two stay within int64.
inline constexpr int64_t kLargestWindow = int64_t{1} << 30;

struct WindowSettings {
  std::vector<int64_t> strides, dilations;  // one a spatial dimension
  std::vector<int64_t> pads;                // first all beginnings, then all ends; zeros unless auto_pad is NOTSET
  std::string auto_pad;                     // NOTSET, SAME_UPPER, SAME_LOWER or VALID

  bool same() const { return auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER"; }
  // How much of `total` goes before the first element. REQUIRES: same()
  int64_t SamePadBegin(int64_t total) const { return auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2; }
};

// Errors: INVALID_ARGUMENT that names the attribute.
absl::StatusOr<WindowSettings> ReadWindowSettings(const Attributes& attributes, size_t rank);

// The attribute's `count` numbers in [lowest, kLargestWindow], all `otherwise` where it is absent.
absl::StatusOr<std::vector<int64_t>> WindowNumbers(const Attributes& attributes, std::string_view name, size_t count,
                                                   int64_t otherwise, int64_t lowest);

}  // namespace halftone

#endif  // HALFTONE_IR_WINDOW_SETTINGS_INTERNAL_H_

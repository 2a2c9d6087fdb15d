// SPDX-License-Identifier: Apache-2.0
// Bridges between std::string_view and absl::string_view, which are two types in the packaged Abseil (it is built for
// C++14): neither converts into the other by itself.

#ifndef HALFTONE_BASE_STRINGS_H_
#define HALFTONE_BASE_STRINGS_H_

#include <string>
#include <string_view>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace halftone {

inline absl::string_view AbslView(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view StdView(absl::string_view text) { return {text.data(), text.size()}; }

// A parameter that takes text of any type. By value; the text must outlive the call.
class TextArg {
 public:
  TextArg(const char* text) : view_(text) {}                            // NOLINT(runtime/explicit)
  TextArg(const std::string& text) : view_(text) {}                     // NOLINT(runtime/explicit)
  TextArg(std::string_view text) : view_(text) {}                       // NOLINT(runtime/explicit)
  TextArg(absl::string_view text) : view_(text.data(), text.size()) {}  // NOLINT(runtime/explicit)

  std::string_view std() const { return view_; }
  absl::string_view absl() const { return {view_.data(), view_.size()}; }

 private:
  std::string_view view_;
};

// As absl::StrCat, and takes std::string_view too.
template <typename... Args>
std::string Concat(const Args&... args) {
  const auto adapt = [](const auto& arg) -> decltype(auto) {
    if constexpr (std::is_same_v<std::decay_t<decltype(arg)>, std::string_view>) {
      return AbslView(arg);
    } else {
      return (arg);
    }
  };
  return absl::StrCat(adapt(args)...);
}

}  // namespace halftone

#endif  // HALFTONE_BASE_STRINGS_H_

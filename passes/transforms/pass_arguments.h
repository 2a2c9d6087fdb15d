// SPDX-License-Identifier: Apache-2.0
// Typed arguments of named passes: their specification and their parsed values.
#ifndef HALFTONE_PASSES_TRANSFORMS_PASS_ARGUMENTS_H_
#define HALFTONE_PASSES_TRANSFORMS_PASS_ARGUMENTS_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace halftone {

enum class ArgumentKind : uint8_t {
  kText,
  kTexts,  // may be repeated; none by default
  kCount,  // a whole number, at least 1
  kFlag,   // true or false
};

struct ArgumentSpec {
  std::string_view name;
  ArgumentKind kind = ArgumentKind::kText;
  bool required = false;
  std::string_view otherwise = "";  // the default as text
  std::string_view help = "";
};

// Parsed arguments: every value matches its spec. Immutable.
class PassArguments {
 public:
  // `text` is the text between the brackets. INVALID_ARGUMENT: an unknown, missing or duplicate argument, or a value of
  // the wrong kind.
  static absl::StatusOr<PassArguments> Parse(std::span<const ArgumentSpec> specs, std::string_view text);

  // REQUIRES: a spec of this name and kind.
  const std::string& Text(std::string_view name) const;
  const std::vector<std::string>& Texts(std::string_view name) const;
  int64_t Count(std::string_view name) const;
  bool Flag(std::string_view name) const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

// The parts of `text` between commas outside of brackets and double quotes, without surrounding blanks.
std::vector<std::string> SplitOutsideBrackets(std::string_view text);

}  // namespace halftone

#endif  // HALFTONE_PASSES_TRANSFORMS_PASS_ARGUMENTS_H_

// SPDX-License-Identifier: Apache-2.0
// The debug switch HALFTONE_DEBUG: comma-separated settings for passes and the worker.
//
//   dump=DIR      write the graph before and after each step into DIR
//   time          print how long each step took
//   why           print why each rule did not apply
//   only=GLOB     limit dump, time and why to steps of this name (may be given several times)
//   skip=GLOB     do not run steps of this name (may be given several times)
//   fuel=NAME:N   stop the rule NAME after N matches
//   verify=full   check more, slower
//
// Example: HALFTONE_DEBUG=dump=/tmp/d,time,why,only=fuse-*

#ifndef HALFTONE_BASE_DEBUG_H_
#define HALFTONE_BASE_DEBUG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/strings.h"

namespace halftone {

struct DebugOptions {
  std::string dump_dir;  // empty: no dumps
  bool time = false;
  bool why = false;
  bool verify_full = false;
  std::vector<std::string> only;        // globs; empty: all
  std::vector<std::string> skip;        // globs
  std::map<std::string, int64_t> fuel;  // by rule name: how many matches it may make

  // Whether dump, time and why apply to the step `name`.
  bool Selects(std::string_view name) const;
  // Whether the step `name` must not run.
  bool Skips(std::string_view name) const;
  // How many matches the rule `name` may make; nullopt: any number.
  std::optional<int64_t> Fuel(std::string_view name) const;
};

// INVALID_ARGUMENT names the setting that is unknown or malformed.
absl::StatusOr<DebugOptions> ParseDebugOptions(TextArg text);

// The options of the environment variable HALFTONE_DEBUG; all off when it is not set.
absl::StatusOr<DebugOptions> DebugOptionsFromEnvironment();

// Whether the whole `text` matches `glob`: '*' is any run of characters, '?' is any one.
bool GlobMatch(std::string_view glob, std::string_view text);

}  // namespace halftone

#endif  // HALFTONE_BASE_DEBUG_H_

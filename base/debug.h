// The one debug switch, HALFTONE_DEBUG: comma-separated words that passes and the worker obey.
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
  std::map<std::string, int64_t> fuel;  // matches left at the start, by rule name

  // Whether dump, time and why concern the step `name`.
  bool Selects(std::string_view name) const;
  // Whether the step `name` must not run.
  bool Skips(std::string_view name) const;
  // How many matches the rule `name` may make; nullopt: any number.
  std::optional<int64_t> Fuel(std::string_view name) const;
};

// INVALID_ARGUMENT names the word that is wrong and the words that are known.
absl::StatusOr<DebugOptions> ParseDebugOptions(TextArg text);

// Of the environment variable HALFTONE_DEBUG; all off when it is not set.
absl::StatusOr<DebugOptions> DebugOptionsFromEnvironment();

// Whether the whole `text` matches `glob`: '*' is any run of characters, '?' is any one.
bool GlobMatch(std::string_view glob, std::string_view text);

}  // namespace halftone

#endif  // HALFTONE_BASE_DEBUG_H_

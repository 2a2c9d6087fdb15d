// SPDX-License-Identifier: Apache-2.0
#include "client/cli/console.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "client/cli/exit_codes.h"
#include "client/status.h"
#include "report/names.h"

namespace halftone::cli {
namespace {

bool UseColor() {
  const char* no_color = std::getenv("NO_COLOR");
  return StderrIsTerminal() && (no_color == nullptr || *no_color == '\0');
}

}  // namespace

absl::Status PrintResult(absl::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written) return absl::OkStatus();
  return client::WithReason(ErrnoToStatus(errno, "cannot write to stdout"), kReasonOutputFile);
}

void Say(absl::string_view line) {
  const std::string text = absl::StrCat(line, "\n");
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void PrintWarnings(const std::vector<std::string>& warnings) {
  const bool color = UseColor();
  std::set<std::string> said;
  for (const std::string& warning : warnings) {
    if (!said.insert(warning).second) continue;
    Say(absl::StrCat(color ? "\x1b[1;33m" : "", "WARNING: ", report::Printable(warning), color ? "\x1b[0m" : ""));
  }
}

void PrintError(const absl::Status& status) {
  for (absl::string_view line : absl::StrSplit(status.message(), '\n')) {
    Say(absl::StrCat("halftone: ", report::Printable(line)));
  }
  if (ExitCodeFor(status) != kBug) return;
  const std::string reason = client::Reason(status);
  Say(absl::StrCat("halftone: ", absl::StatusCodeToString(status.code()), reason.empty() ? "" : " ", reason,
                   ": this is a bug of Halftone, please report it with the model if you can"));
}

bool StderrIsTerminal() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && terminal != nullptr && absl::string_view(terminal) != "dumb";
}

}  // namespace halftone::cli

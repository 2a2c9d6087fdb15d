// SPDX-License-Identifier: Apache-2.0
// How far a job is: a bar on a terminal, lines elsewhere.
#ifndef HALFTONE_CLIENT_CLI_PROGRESS_H_
#define HALFTONE_CLIENT_CLI_PROGRESS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "halftone/v1/jobs.pb.h"

namespace halftone::cli {

enum class ProgressStyle {
  kQuiet,
  kBar,    // one line that is drawn again and again
  kLines,  // one line at each change of stage, else at most one in 10 s
};

// Not thread-safe.
class ProgressDisplay {
 public:
  using Write = std::function<void(absl::string_view)>;
  using Clock = std::function<absl::Time()>;

  ProgressDisplay(ProgressStyle style, Write write, Clock clock);
  // To stderr, in the style that fits it.
  explicit ProgressDisplay(bool quiet);
  ~ProgressDisplay() { Finish(); }

  // `done` of `total` steps of a stage; total 0: unknown.
  void Update(absl::string_view stage, int64_t done, int64_t total);
  void Update(const v1::JobEvent& event);

  // Removes the bar, so that other lines can be printed.
  void Finish();

 private:
  const ProgressStyle style_;
  const Write write_;
  const Clock clock_;
  std::string stage_;
  absl::Time last_ = absl::InfinitePast();
  bool bar_on_screen_ = false;
};

}  // namespace halftone::cli

#endif  // HALFTONE_CLIENT_CLI_PROGRESS_H_

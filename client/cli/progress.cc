// SPDX-License-Identifier: Apache-2.0
#include "client/cli/progress.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/cli/console.h"
#include "report/names.h"

namespace halftone::cli {
namespace {

constexpr int kBarWidth = 30;
constexpr absl::Duration kBetweenLines = absl::Seconds(10);
constexpr absl::Duration kBetweenBars = absl::Milliseconds(50);
constexpr char kEraseLine[] = "\r\x1b[K";

std::string Bar(int64_t done, int64_t total) {
  if (total <= 0) return "";
  const int filled = static_cast<int>(kBarWidth * std::clamp<double>(static_cast<double>(done) / total, 0, 1));
  return absl::StrCat("[", std::string(filled, '#'), std::string(kBarWidth - filled, '.'), "] ");
}

// "upload 3.1 of 14.0 MB", "measure 3/15", "import".
std::string StageText(absl::string_view stage, int64_t done, int64_t total) {
  if (total <= 1) return std::string(stage);
  if (stage == "upload" || stage == "download") {
    const bool small = total < 1'000'000;
    const double unit = small ? 1e3 : 1e6;
    return absl::StrFormat("%s %.1f of %.1f %s", stage, done / unit, total / unit, small ? "kB" : "MB");
  }
  return absl::StrCat(stage, " ", done, "/", total);
}

void WriteToStderr(absl::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

ProgressStyle StyleOfStderr(bool quiet) {
  if (quiet) return ProgressStyle::kQuiet;
  return StderrIsTerminal() ? ProgressStyle::kBar : ProgressStyle::kLines;
}

}  // namespace

ProgressDisplay::ProgressDisplay(ProgressStyle style, Write write, Clock clock)
    : style_(style), write_(std::move(write)), clock_(std::move(clock)) {}

ProgressDisplay::ProgressDisplay(bool quiet) : ProgressDisplay(StyleOfStderr(quiet), WriteToStderr, absl::Now) {}

void ProgressDisplay::Update(absl::string_view raw_stage, int64_t done, int64_t total) {
  if (style_ == ProgressStyle::kQuiet) return;
  const std::string stage = report::Printable(raw_stage);
  const bool changed = stage != stage_;
  const absl::Time now = clock_();
  const bool bar = style_ == ProgressStyle::kBar;
  if (!changed && now - last_ < (bar ? kBetweenBars : kBetweenLines)) return;
  stage_ = stage;
  last_ = now;
  if (bar) {
    write_(absl::StrCat(kEraseLine, Bar(done, total), StageText(stage, done, total)));
    bar_on_screen_ = true;
  } else {
    write_(absl::StrCat(StageText(stage, done, total), "\n"));
  }
}

void ProgressDisplay::Update(const v1::JobEvent& event) {
  switch (event.event_case()) {
    case v1::JobEvent::kState:
      if (event.state() == v1::JOB_STATE_QUEUED || event.state() == v1::JOB_STATE_RUNNING) {
        Update(report::JobStateName(event.state()), 0, 0);
      }
      break;
    case v1::JobEvent::kProgress:
      Update(event.progress().stage(), event.progress().done(), event.progress().total());
      break;
    case v1::JobEvent::kWarning:
    case v1::JobEvent::kLog:
    case v1::JobEvent::EVENT_NOT_SET:
      break;
  }
}

void ProgressDisplay::Finish() {
  if (bar_on_screen_) write_(kEraseLine);
  bar_on_screen_ = false;
}

}  // namespace halftone::cli

// SPDX-License-Identifier: Apache-2.0
#include "client/cli/progress.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace halftone::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ProgressTest : public ::testing::Test {
 protected:
  ProgressDisplay Make(ProgressStyle style) {
    return ProgressDisplay(
        style, [this](absl::string_view text) { written_.emplace_back(text); }, [this] { return now_; });
  }

  absl::Time now_ = absl::UnixEpoch();
  std::vector<std::string> written_;
};

TEST_F(ProgressTest, LinesAtStageChangesAndElseEveryTenSeconds) {
  ProgressDisplay progress = Make(ProgressStyle::kLines);
  progress.Update("import", 0, 1);
  progress.Update("measure", 1, 40);
  for (int i = 2; i <= 40; ++i) {
    now_ += absl::Seconds(1);
    progress.Update("measure", i, 40);
  }
  progress.Finish();
  EXPECT_THAT(written_,
              ElementsAre("import\n", "measure 1/40\n", "measure 11/40\n", "measure 21/40\n", "measure 31/40\n"));
}

TEST_F(ProgressTest, BarIsDrawnOverItselfAndRemoved) {
  ProgressDisplay progress = Make(ProgressStyle::kBar);
  progress.Update("measure", 3, 6);
  progress.Finish();
  EXPECT_THAT(written_, ElementsAre("\r\x1b[K[###############...............] measure 3/6", "\r\x1b[K"));
}

TEST_F(ProgressTest, BytesAreMegabytes) {
  ProgressDisplay progress = Make(ProgressStyle::kLines);
  progress.Update("upload", 1'500'000, 14'000'000);
  EXPECT_THAT(written_, ElementsAre("upload 1.5 of 14.0 MB\n"));
}

TEST_F(ProgressTest, QuietSaysNothing) {
  ProgressDisplay progress = Make(ProgressStyle::kQuiet);
  progress.Update("measure", 3, 6);
  progress.Finish();
  EXPECT_THAT(written_, IsEmpty());
}

TEST_F(ProgressTest, EventsOfAJob) {
  ProgressDisplay progress = Make(ProgressStyle::kLines);
  v1::JobEvent event;
  event.set_state(v1::JOB_STATE_QUEUED);
  progress.Update(event);
  event.mutable_progress()->set_stage("convert\x1b[2J");
  progress.Update(event);
  event.set_log("noise");
  progress.Update(event);
  event.set_state(v1::JOB_STATE_SUCCEEDED);
  progress.Update(event);
  EXPECT_THAT(written_, ElementsAre("queued\n", "convert\\x1b[2J\n"));
}

TEST_F(ProgressTest, MoreThanAllIsAFullBar) {
  ProgressDisplay progress = Make(ProgressStyle::kBar);
  progress.Update("measure", 9, 6);
  EXPECT_THAT(written_.at(0), HasSubstr("[##############################]"));
}

}  // namespace
}  // namespace halftone::cli

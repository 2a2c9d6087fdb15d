// SPDX-License-Identifier: Apache-2.0
#include "server/core/event_buffer.h"

#include <string>

#include "gtest/gtest.h"

namespace halftone::server {
namespace {

worker::WorkerMessage Progress(const std::string& stage, int done) {
  worker::WorkerMessage message;
  message.mutable_progress()->set_stage(stage);
  message.mutable_progress()->set_done(done);
  return message;
}

worker::WorkerMessage Log(const std::string& text) {
  worker::WorkerMessage message;
  message.set_log(text);
  return message;
}

TEST(EventBuffer, FirstIsDueAtOnceThenTenASecond) {
  const absl::Time t = absl::UnixEpoch();
  EventBuffer buffer;
  EXPECT_EQ(buffer.UntilDue(t), absl::InfiniteDuration());
  buffer.Add(Progress("a", 1), t);
  EXPECT_EQ(buffer.UntilDue(t), absl::ZeroDuration());
  EXPECT_EQ(buffer.Take(t).size(), 1u);
  buffer.Add(Progress("a", 2), t);
  buffer.Add(Progress("a", 3), t);
  EXPECT_EQ(buffer.UntilDue(t), EventBuffer::kInterval);
  EXPECT_TRUE(buffer.Take(t).empty());
  const auto events = buffer.Take(t + EventBuffer::kInterval);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].progress().done(), 3) << "only the last word counts";
}

TEST(EventBuffer, LinesAreKeptInOrderUpToALimit) {
  const absl::Time t = absl::UnixEpoch();
  EventBuffer buffer;
  for (int i = 0; i < 2 * EventBuffer::kMaxLines; ++i) buffer.Add(Log(std::to_string(i)), t);
  const auto events = buffer.Take(t, /*flush=*/true);
  ASSERT_EQ(events.size(), static_cast<size_t>(EventBuffer::kMaxLines));
  EXPECT_EQ(events[5].log(), "5");
  EXPECT_NE(events.back().warning(), "");
}

TEST(EventBuffer, LongLinesAreCutBetweenCharacters) {
  EventBuffer buffer;
  std::string text(EventBuffer::kMaxLineBytes - 1, 'x');
  buffer.Add(Log(text + "\xc3\xa9"), absl::UnixEpoch());
  EXPECT_EQ(buffer.Take(absl::UnixEpoch(), /*flush=*/true).at(0).log(), text);
}

}  // namespace
}  // namespace halftone::server

// SPDX-License-Identifier: Apache-2.0
#include "server/core/event_buffer.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <string>
#include <utility>

namespace halftone::server {
namespace {

using ::google::protobuf::util::TimeUtil;

// At most `size` bytes of `text`, not cutting a UTF-8 character in two.
std::string Cut(const std::string& text, size_t size) {
  if (text.size() <= size) return text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  return text.substr(0, size);
}

}  // namespace

void EventBuffer::Add(const worker::WorkerMessage& message, absl::Time now) {
  v1::JobEvent event;
  *event.mutable_time() = TimeUtil::MicrosecondsToTimestamp(absl::ToUnixMicros(now));
  if (message.has_progress()) {
    *event.mutable_progress() = message.progress();
    event.mutable_progress()->set_stage(Cut(message.progress().stage(), kMaxLineBytes));
    if (progress_.has_value() && waiting_[*progress_].progress().stage() == event.progress().stage()) {
      waiting_[*progress_] = std::move(event);
      return;
    }
    if (progress_.has_value()) waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(*progress_));
    progress_ = waiting_.size();
    waiting_.push_back(std::move(event));
  } else if (message.message_case() == worker::WorkerMessage::kWarning) {
    event.set_warning(Cut(message.warning(), kMaxLineBytes));
    AddLine(std::move(event));
  } else if (message.message_case() == worker::WorkerMessage::kLog) {
    event.set_log(Cut(message.log(), kMaxLineBytes));
    AddLine(std::move(event));
  }
}

void EventBuffer::AddLine(v1::JobEvent event) {
  ++lines_;
  if (lines_ > kMaxLines) return;
  if (lines_ == kMaxLines) event.set_warning("there are more messages; they are not kept");
  waiting_.push_back(std::move(event));
}

absl::Duration EventBuffer::UntilDue(absl::Time now) const {
  if (waiting_.empty()) return absl::InfiniteDuration();
  return std::max(absl::ZeroDuration(), next_ - now);
}

std::vector<v1::JobEvent> EventBuffer::Take(absl::Time now, bool flush) {
  if (waiting_.empty() || (!flush && now < next_)) return {};
  next_ = now + kInterval;
  progress_.reset();
  return std::exchange(waiting_, {});
}

}  // namespace halftone::server

// SPDX-License-Identifier: Apache-2.0
// EventBuffer: turns the messages of a child into at most ten batches of events a second.
//
// Of progress only the last word counts; warnings and logs are all kept, up to a limit a job. Not thread-safe.

#ifndef HALFTONE_SERVER_CORE_EVENT_BUFFER_H_
#define HALFTONE_SERVER_CORE_EVENT_BUFFER_H_

#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "halftone/v1/jobs.pb.h"
#include "server/worker/worker.pb.h"

namespace halftone::server {

class EventBuffer {
 public:
  static constexpr absl::Duration kInterval = absl::Milliseconds(100);
  static constexpr int kMaxLines = 1000;            // warnings and logs of one attempt
  static constexpr size_t kMaxLineBytes = 4 << 10;  // longer ones are cut

  void Add(const worker::WorkerMessage& message, absl::Time now);

  // How long until Take has something to give; infinite when nothing waits.
  absl::Duration UntilDue(absl::Time now) const;

  // The events that are due; all that wait when `flush`.
  std::vector<v1::JobEvent> Take(absl::Time now, bool flush = false);

 private:
  void AddLine(v1::JobEvent event);

  std::vector<v1::JobEvent> waiting_;
  std::optional<size_t> progress_;  // where in waiting_ the last progress is
  absl::Time next_ = absl::InfinitePast();
  int lines_ = 0;
};

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_CORE_EVENT_BUFFER_H_

// SPDX-License-Identifier: Apache-2.0
// Fresh processes for variants: both ends of the pipe.
#ifndef HALFTONE_SERVER_WORKER_CHILD_RUNNER_H_
#define HALFTONE_SERVER_WORKER_CHILD_RUNNER_H_

#include <memory>
#include <string>

#include "base/child.h"
#include "halftone/v1/profile.pb.h"
#include "optimizer/variant_child.h"
#include "server/worker/child.pb.h"

namespace halftone::worker {

// Starts `program` with the argument --child for each piece of work. Not thread-safe.
class ProcessChildRunner final : public ChildRunner {
 public:
  explicit ProcessChildRunner(std::string program) : program_(std::move(program)) {}
  absl::StatusOr<EvaluateResult> Evaluate(const EvaluateSpec& spec) override;
  absl::StatusOr<std::vector<RoundResult>> Round(const std::vector<RoundSpec>& specs) override;
  absl::StatusOr<v1::ProfiledVariant> Profile(const RunSpec& run);
  WorkCounts work() const override { return work_; }

 private:
  absl::StatusOr<std::unique_ptr<Child>> Start(const ChildRequest& request);
  absl::StatusOr<ChildReply> Ask(const ChildRequest& request);
  void Count(const ChildReply& last_reply);

  const std::string program_;
  WorkCounts work_;
};

// The other end: reads one request from `input`, does it, writes one reply to `output`. An exit code.
int ChildMain(int input, int output);

}  // namespace halftone::worker

#endif  // HALFTONE_SERVER_WORKER_CHILD_RUNNER_H_

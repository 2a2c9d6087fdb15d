// SPDX-License-Identifier: Apache-2.0
// halftone-worker: does one job for halftoned, or one piece of a job for another halftone-worker.
//
//   halftone-worker            reads a WorkerRequest from stdin, writes WorkerMessages to stdout (worker.proto)
//   halftone-worker --child    reads a ChildRequest from stdin, writes a ChildReply to stdout (child.proto)
//   halftone-worker --threads N --repeat-primitive LINE    repeats what a line of oneDNN says (docs/guide/profile.md)
//
// But for the last, people do not start it; `halftoned` does.

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/files.h"
#include "base/frames.h"
#include "base/logging.h"
#include "base/strings.h"
#include "optimizer/failure_files.h"
#include "server/worker/child_runner.h"
#include "server/worker/convert.h"
#include "server/worker/repeat_primitive.h"
#include "server/worker/work.h"

namespace halftone::worker {
namespace {

// The pipe to the parent. stdout itself becomes stderr, so that nothing a library prints can spoil the frames.
int TakeStdout() {
  const int pipe = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return pipe;
}

bool Send(int output, const WorkerMessage& message) { return WriteFrame(output, message.SerializeAsString()).ok(); }

WorkerMessage Describe() {
  WorkerMessage message;
  *message.mutable_description()->mutable_environment() = DescribeEnvironment(1);
  for (std::string& op : RunnableOps()) message.mutable_description()->add_ops(std::move(op));
  return message;
}

// On a full disk the files are missing, not the reply.
void AddFailureFiles(const absl::Status& failure, const std::string& work_dir, WorkerMessage& message) {
  for (const FailureFile& file : FilesOfFailure(failure)) {
    const std::string path = Concat(work_dir, "/", file.name);
    if (!WriteFileAtomically(path, file.text).ok()) continue;
    OutputFile* written = message.add_error_files();
    written->set_path(file.name);
    written->set_local_path(path);
  }
}

WorkerMessage Final(const WorkerRequest& request, int output) {
  ProcessChildRunner children(std::filesystem::read_symlink("/proc/self/exe").string());
  const ProgressCallback progress = [output](std::string_view stage, int64_t done, int64_t total) {
    WorkerMessage message;
    message.mutable_progress()->set_stage(std::string(stage));
    message.mutable_progress()->set_done(done);
    message.mutable_progress()->set_total(total);
    if (!Send(output, message)) _exit(1);  // the parent is gone
  };
  WorkerMessage message;
  absl::StatusOr<WorkOutcome> outcome = DoWork(request, children, progress);
  if (!outcome.ok()) {
    *message.mutable_error() = ToJobError(outcome.status());
    AddFailureFiles(outcome.status(), request.work_dir(), message);
    return message;
  }
  for (const std::string& warning : outcome->warnings) {
    WorkerMessage said;
    said.set_warning(warning);
    if (!Send(output, said)) _exit(1);
  }
  *message.mutable_result() = std::move(outcome->result);
  for (const auto& [stage, seconds] : outcome->stage_seconds) (*message.mutable_stage_seconds())[stage] = seconds;
  return message;
}

int Main(int argc, char** argv) {
  if (argc > 2) return RepeatPrimitiveMain(argc, argv);
  const int output = TakeStdout();
  if (argc == 2 && std::strcmp(argv[1], "--child") == 0) return ChildMain(STDIN_FILENO, output);
  if (argc != 1) {
    std::fprintf(stderr, "usage: halftone-worker [--child]; started by halftoned, not by people\n");
    return 2;
  }
  const absl::StatusOr<std::optional<std::string>> bytes = ReadFrame(STDIN_FILENO);
  WorkerRequest request;
  if (!bytes.ok() || !bytes->has_value() || !request.ParseFromString(**bytes)) {
    std::fprintf(stderr, "halftone-worker: no request on stdin; it is started by halftoned, not by people\n");
    return 2;
  }
  return Send(output, request.describe() ? Describe() : Final(request, output)) ? 0 : 1;
}

}  // namespace
}  // namespace halftone::worker

int main(int argc, char** argv) { return halftone::worker::Main(argc, argv); }

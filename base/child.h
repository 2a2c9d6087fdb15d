// SPDX-License-Identifier: Apache-2.0
// Child processes: how halftoned runs halftone-worker, and the worker its benchmark rounds.
//
// A child is exec'd at once (vfork and only async-signal-safe calls before it), never a bare fork of a program with
// threads. It dies with the thread that started it: **the thread that calls Spawn must outlive the child**, for the
// kernel sends the parent-death signal when that thread ends.

#ifndef HALFTONE_BASE_CHILD_H_
#define HALFTONE_BASE_CHILD_H_

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/fd.h"

namespace halftone {

enum class StderrTo {
  kTail,     // keep the last bytes: see StderrTail()
  kInherit,  // the parent's stderr
};

struct ChildOptions {
  std::string program;                 // path; no search in PATH
  std::vector<std::string> args;       // argv[1] and on; argv[0] is the program
  std::vector<std::string> extra_env;  // NAME=VALUE; replaces the parent's variable of that name
  std::string working_dir;             // empty: the parent's
  StderrTo stderr_to = StderrTo::kTail;
  size_t stderr_tail_bytes = 16 << 10;
};

struct ExitStatus {
  bool signaled = false;
  int code = 0;  // exit code, or the number of the signal

  bool ok() const { return !signaled && code == 0; }
  std::string ToString() const;  // "exit code 3" or "signal 11 (Segmentation fault)"
};

// A running program in a process group of its own, with pipes to its stdin and from its stdout. The destructor kills
// the group and waits. Signal and StderrTail may be called from any thread, all other functions from one thread at a
// time.
class Child {
 public:
  // INTERNAL or NOT_FOUND when the program cannot be started; the errno of a failed exec is in the message.
  static absl::StatusOr<std::unique_ptr<Child>> Spawn(const ChildOptions& options);

  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  pid_t pid() const { return pid_; }
  int stdin_fd() const { return stdin_.get(); }  // -1 after CloseStdin
  int stdout_fd() const { return stdout_.get(); }
  void CloseStdin() { stdin_.reset(); }

  // Sends a signal to the child's whole process group. Does nothing after Wait.
  void Signal(int signal_number);

  // Whether the child has ended (it may still have to be waited for).
  bool HasExited();

  // Waits until the child has ended, at most for `timeout`. False: it still runs.
  bool AwaitExit(absl::Duration timeout);

  // Waits until the child has ended, kills what is left of its process group and collects the end of stderr. Later
  // calls return the same status.
  ExitStatus Wait();

  // Sends SIGTERM, and SIGKILL if the child still runs after `grace`; then waits as Wait does.
  ExitStatus Terminate(absl::Duration grace);

  // The last bytes that the child wrote to stderr so far.
  std::string StderrTail() const;

 private:
  Child(pid_t pid, UniqueFd stdin_pipe, UniqueFd stdout_pipe, UniqueFd stderr_pipe, size_t tail_bytes);

  void DrainStderr(int stop_fd);
  void KeepTail(std::string_view bytes);

  const pid_t pid_;
  const size_t tail_bytes_;
  UniqueFd stdin_;
  UniqueFd stdout_;
  UniqueFd stderr_;
  UniqueFd stop_drain_;  // an eventfd: the child has ended, so drain stderr and stop
  std::thread drain_;

  mutable absl::Mutex mutex_;
  bool waited_ ABSL_GUARDED_BY(mutex_) = false;  // from then on the pid may belong to another process
  ExitStatus status_ ABSL_GUARDED_BY(mutex_);
  std::string tail_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace halftone

#endif  // HALFTONE_BASE_CHILD_H_

// SPDX-License-Identifier: Apache-2.0
#include "base/child.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/status.h"

extern char** environ;

namespace halftone {
namespace {

constexpr int kFirstFreeFd = 3;
constexpr int kExecFailed = 127;
constexpr absl::Duration kPollInterval = absl::Milliseconds(5);

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

// Both ends are above stderr: no dup2 call of the child overwrites a descriptor that a later one copies.
absl::StatusOr<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoToStatus(errno, "cannot make a pipe");
  Pipe pipe = {UniqueFd(ends[0]), UniqueFd(ends[1])};
  for (UniqueFd* end : {&pipe.read_end, &pipe.write_end}) {
    if (end->get() >= kFirstFreeFd) continue;
    UniqueFd higher(fcntl(end->get(), F_DUPFD_CLOEXEC, kFirstFreeFd));
    if (!higher.ok()) return ErrnoToStatus(errno, "cannot move a pipe");
    *end = std::move(higher);
  }
  return pipe;
}

// The parent's environment; `extra` replaces its variables of the same name.
std::vector<std::string> MergeEnvironment(const std::vector<std::string>& extra) {
  std::vector<std::string> merged = extra;
  const auto is_replaced = [&extra](std::string_view entry) {
    const std::string_view name = entry.substr(0, entry.find('='));
    for (const std::string& e : extra) {
      if (e.size() > name.size() && e[name.size()] == '=' && std::string_view(e).starts_with(name)) return true;
    }
    return false;
  };
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (!is_replaced(*entry)) merged.emplace_back(*entry);
  }
  return merged;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& s : strings) pointers.push_back(s.data());
  pointers.push_back(nullptr);
  return pointers;
}

// What the child needs, made before vfork, because the child must not allocate.
struct ExecPlan {
  const char* program;
  char* const* argv;
  char* const* envp;
  const char* working_dir;  // nullptr: the parent's
  int stdin_fd;
  int stdout_fd;
  int stderr_fd;  // -1: inherit
  pid_t parent;
  sigset_t no_signals;
  volatile int error;  // errno of what failed in the child, which shares our memory until it execs
};

// Only async-signal-safe calls: runs between vfork and exec.
[[noreturn]] void RunInChild(ExecPlan& plan) {
  const auto fail = [&plan]() {
    plan.error = errno;
    _exit(kExecFailed);
  };
  if (setpgid(0, 0) != 0) fail();
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail();
  if (getppid() != plan.parent) {  // it died before prctl
    errno = ESRCH;
    fail();
  }
  if (plan.working_dir != nullptr && chdir(plan.working_dir) != 0) fail();
  if (dup2(plan.stdin_fd, STDIN_FILENO) < 0 || dup2(plan.stdout_fd, STDOUT_FILENO) < 0) fail();
  if (plan.stderr_fd >= 0 && dup2(plan.stderr_fd, STDERR_FILENO) < 0) fail();
  syscall(SYS_close_range, kFirstFreeFd, ~0U, CLOSE_RANGE_CLOEXEC);  // old kernels have only our O_CLOEXEC
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  for (const int number : {SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaction(number, &standard, nullptr);
  sigprocmask(SIG_SETMASK, &plan.no_signals, nullptr);
  execve(plan.program, plan.argv, plan.envp);
  fail();
  _exit(kExecFailed);
}

[[gnu::noinline]] pid_t VforkAndExec(ExecPlan& plan) {
  const pid_t pid = vfork();
  if (pid == 0) RunInChild(plan);
  return pid;
}

}  // namespace

std::string ExitStatus::ToString() const {
  if (!signaled) return absl::StrCat("exit code ", code);
  const char* name = sigdescr_np(code);
  return absl::StrCat("signal ", code, " (", name == nullptr ? "unknown" : name, ")");
}

absl::StatusOr<std::unique_ptr<Child>> Child::Spawn(const ChildOptions& options) {
  HALFTONE_ASSIGN_OR_RETURN(Pipe in, MakePipe());
  HALFTONE_ASSIGN_OR_RETURN(Pipe out, MakePipe());
  Pipe err;
  if (options.stderr_to == StderrTo::kTail) {
    HALFTONE_ASSIGN_OR_RETURN(err, MakePipe());
  }
  std::vector<std::string> arguments = {options.program};
  arguments.insert(arguments.end(), options.args.begin(), options.args.end());
  std::vector<std::string> environment = MergeEnvironment(options.extra_env);
  const std::vector<char*> argv = Pointers(arguments);
  const std::vector<char*> envp = Pointers(environment);
  ExecPlan plan = {.program = options.program.c_str(),
                   .argv = argv.data(),
                   .envp = envp.data(),
                   .working_dir = options.working_dir.empty() ? nullptr : options.working_dir.c_str(),
                   .stdin_fd = in.read_end.get(),
                   .stdout_fd = out.write_end.get(),
                   .stderr_fd = err.write_end.get(),
                   .parent = getpid(),
                   .no_signals = {},
                   .error = 0};
  sigemptyset(&plan.no_signals);
  sigset_t all;
  sigset_t old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);  // no handler may run in the child while it shares our memory
  const pid_t pid = VforkAndExec(plan);
  const int fork_error = errno;
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  if (pid < 0) return ErrnoToStatus(fork_error, absl::StrCat("cannot start ", options.program));
  if (plan.error != 0) {
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return ErrnoToStatus(plan.error, absl::StrCat("cannot start ", options.program));
  }
  return std::unique_ptr<Child>(new Child(pid, std::move(in.write_end), std::move(out.read_end),
                                          std::move(err.read_end), options.stderr_tail_bytes));
}

Child::Child(pid_t pid, UniqueFd stdin_pipe, UniqueFd stdout_pipe, UniqueFd stderr_pipe, size_t tail_bytes)
    : pid_(pid),
      tail_bytes_(tail_bytes),
      stdin_(std::move(stdin_pipe)),
      stdout_(std::move(stdout_pipe)),
      stderr_(std::move(stderr_pipe)),
      stop_drain_(eventfd(0, EFD_CLOEXEC)) {
  if (stderr_.ok()) drain_ = std::thread([this, stop = stop_drain_.get()] { DrainStderr(stop); });
}

Child::~Child() {
  Signal(SIGKILL);
  Wait();
}

void Child::Signal(int signal_number) {
  const absl::MutexLock lock(&mutex_);
  if (!waited_) kill(-pid_, signal_number);
}

bool Child::HasExited() {
  {
    const absl::MutexLock lock(&mutex_);
    if (waited_) return true;
  }
  siginfo_t info = {};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_;
}

ExitStatus Child::Wait() {
  {
    const absl::MutexLock lock(&mutex_);
    if (waited_) return status_;
  }
  siginfo_t info = {};
  while (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  {
    const absl::MutexLock lock(&mutex_);
    kill(-pid_, SIGKILL);  // grandchildren; the group's number is ours until we reap its leader
    int raw = 0;
    while (waitpid(pid_, &raw, 0) < 0 && errno == EINTR) {
    }
    status_.signaled = WIFSIGNALED(raw);
    status_.code = status_.signaled ? WTERMSIG(raw) : WEXITSTATUS(raw);
    waited_ = true;
  }
  if (drain_.joinable()) {
    const uint64_t one = 1;
    if (write(stop_drain_.get(), &one, sizeof(one)) != sizeof(one)) abort();  // cannot fail: the event holds 2^64 - 1
    drain_.join();
  }
  const absl::MutexLock lock(&mutex_);
  return status_;
}

ExitStatus Child::Terminate(absl::Duration grace) {
  Signal(SIGTERM);
  AwaitExit(grace);
  Signal(SIGKILL);
  return Wait();
}

bool Child::AwaitExit(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  while (!HasExited()) {
    if (absl::Now() >= deadline) return false;
    absl::SleepFor(kPollInterval);
  }
  return true;
}

std::string Child::StderrTail() const {
  const absl::MutexLock lock(&mutex_);
  return tail_;
}

void Child::KeepTail(std::string_view bytes) {
  const absl::MutexLock lock(&mutex_);
  tail_.append(bytes);
  if (tail_.size() > tail_bytes_) tail_.erase(0, tail_.size() - tail_bytes_);
}

void Child::DrainStderr(int stop_fd) {
  fcntl(stderr_.get(), F_SETFL, O_NONBLOCK);
  char buffer[4096];
  bool stopping = false;
  while (true) {
    const ssize_t got = read(stderr_.get(), buffer, sizeof(buffer));
    if (got > 0) {
      KeepTail({buffer, static_cast<size_t>(got)});
      continue;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR) || stopping) return;
    pollfd events[] = {{.fd = stderr_.get(), .events = POLLIN, .revents = 0},
                       {.fd = stop_fd, .events = POLLIN, .revents = 0}};
    poll(events, 2, /*timeout=*/-1);
    stopping = events[1].revents != 0;
  }
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
#include "base/child.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace halftone {
namespace {

ChildOptions Shell(std::string script) { return {.program = "/bin/sh", .args = {"-c", std::move(script)}}; }

std::string ReadAll(int fd) {
  std::string all;
  char buffer[256];
  for (ssize_t got; (got = read(fd, buffer, sizeof(buffer))) > 0;) all.append(buffer, static_cast<size_t>(got));
  return all;
}

bool IsAlive(pid_t pid) { return kill(pid, 0) == 0 || errno != ESRCH; }

// Waits until the process has ended: init reaps an orphan a moment later.
bool Ends(pid_t pid) {
  for (int i = 0; i < 500 && IsAlive(pid); ++i) absl::SleepFor(absl::Milliseconds(10));
  return !IsAlive(pid);
}

TEST(Child, PipesAndExitCode) {
  const auto child = Child::Spawn(Shell("read x; echo \"got $x\"; echo oops >&2; exit 3")).value();
  ASSERT_EQ(write(child->stdin_fd(), "hello\n", 6), 6);
  EXPECT_EQ(ReadAll(child->stdout_fd()), "got hello\n");
  const ExitStatus status = child->Wait();
  EXPECT_EQ(status.ToString(), "exit code 3");
  EXPECT_EQ(child->Wait().code, 3) << "Wait may be called again";
  EXPECT_EQ(child->StderrTail(), "oops\n");
}

TEST(Child, EnvironmentAndFolder) {
  setenv("HALFTONE_TEST_A", "old", 1);
  ChildOptions options = Shell("echo $HALFTONE_TEST_A $HALFTONE_TEST_B; pwd");
  options.extra_env = {"HALFTONE_TEST_A=new", "HALFTONE_TEST_B=b"};
  options.working_dir = "/";
  const auto child = Child::Spawn(options).value();
  EXPECT_EQ(ReadAll(child->stdout_fd()), "new b\n/\n");
}

TEST(Child, MissingProgramIsNotFound) {
  const absl::Status status = Child::Spawn({.program = "/no/such/program"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(status.message().find("/no/such/program"), std::string::npos);
}

TEST(Child, DeathBySignalIsReported) {
  const auto child = Child::Spawn(Shell("kill -SEGV $$")).value();
  const ExitStatus status = child->Wait();
  EXPECT_TRUE(status.signaled);
  EXPECT_EQ(status.ToString(), "signal 11 (Segmentation fault)");
}

TEST(Child, KeepsTheTailOfStderr) {
  ChildOptions options = Shell("i=0; while [ $i -lt 2000 ]; do echo line $i >&2; i=$((i+1)); done");
  options.stderr_tail_bytes = 20;
  const auto child = Child::Spawn(options).value();
  child->Wait();
  EXPECT_EQ(child->StderrTail(), "line 1998\nline 1999\n");
}

TEST(Child, TerminateSendsSigtermThenSigkillToTheGroup) {
  // Both the child and its own child ignore SIGTERM.
  const auto child = Child::Spawn(Shell("trap '' TERM; sleep 100 & echo $!; wait; sleep 100")).value();
  char buffer[32] = {};
  ASSERT_GT(read(child->stdout_fd(), buffer, sizeof(buffer) - 1), 0);
  const pid_t grandchild = atoi(buffer);
  ASSERT_TRUE(IsAlive(grandchild));
  const ExitStatus status = child->Terminate(absl::Milliseconds(200));
  EXPECT_TRUE(status.signaled);
  EXPECT_EQ(status.code, SIGKILL);
  EXPECT_TRUE(Ends(grandchild));
}

TEST(Child, GrandchildThatHoldsStderrDoesNotBlockWait) {
  const auto child = Child::Spawn(Shell("setsid sleep 5 & echo $!; exit 0")).value();
  const std::string out = [&] {
    char buffer[32] = {};
    return std::string(buffer,
                       static_cast<size_t>(std::max<ssize_t>(0, read(child->stdout_fd(), buffer, sizeof(buffer)))));
  }();
  const absl::Time start = absl::Now();
  EXPECT_TRUE(child->Wait().ok());
  EXPECT_LT(absl::Now() - start, absl::Seconds(3));
  kill(atoi(out.c_str()), SIGKILL);
}

TEST(Child, DiesWithTheThreadThatStartedIt) {
  std::unique_ptr<Child> child;
  std::thread([&] { child = Child::Spawn(Shell("sleep 100")).value(); }).join();
  EXPECT_EQ(child->Wait().code, SIGKILL);
}

TEST(Child, IgnoredSignalsAreNotInherited) {
  signal(SIGPIPE, SIG_IGN);
  const auto child = Child::Spawn(Shell("kill -PIPE $$; exit 0")).value();
  EXPECT_EQ(child->Wait().code, SIGPIPE);
  signal(SIGPIPE, SIG_DFL);
}

}  // namespace
}  // namespace halftone

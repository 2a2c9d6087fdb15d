// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/isolate.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <sstream>
#include <vector>

#include "absl/log/check.h"
#include "base/strings.h"

namespace halftone {
namespace {

constexpr char kSeparator = '\1';  // on the pipe, between the child's stderr and the result of the function
constexpr rlim_t kMemory = rlim_t{6} << 30;

struct Child {
  int index = 0;
  pid_t pid = 0;
  int pipe = -1;
  std::string text;
};

void WriteAll(int fd, const std::string& text) {
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = write(fd, text.data() + written, text.size() - written);
    if (n <= 0) return;
    written += static_cast<size_t>(n);
  }
}

[[noreturn]] void RunChild(int index, int seconds, int fd, const std::function<std::string(int)>& run) {
  dup2(fd, STDERR_FILENO);
  signal(SIGALRM, SIG_DFL);
  alarm(static_cast<unsigned>(seconds));
#ifndef __SANITIZE_ADDRESS__
  const rlimit limit{kMemory, kMemory};
  setrlimit(RLIMIT_AS, &limit);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
#endif
  const std::string result = run(index);
  WriteAll(fd, kSeparator + result);
  _exit(0);
}

Child Start(int index, int seconds, const std::function<std::string(int)>& run) {
  int ends[2];
  CHECK_EQ(pipe(ends), 0);
  const pid_t pid = fork();
  CHECK_GE(pid, 0);
  if (pid == 0) {
    close(ends[0]);
    RunChild(index, seconds, ends[1], run);
  }
  close(ends[1]);
  return {.index = index, .pid = pid, .pipe = ends[0]};
}

// The line with a failed CHECK or a sanitizer's error if there is one, else the last line.
std::string ErrorLine(const std::string& text) {
  std::string last;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("Check failed") != std::string::npos || line.find("ERROR: ") != std::string::npos ||
        line.find("runtime error: ") != std::string::npos) {
      return line;
    }
    if (!line.empty()) last = line;
  }
  return last;
}

// The result of a child that has ended.
std::string ResultOf(const Child& child, int status, int seconds) {
  const size_t separator = child.text.rfind(kSeparator);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && separator != std::string::npos)
    return child.text.substr(separator + 1);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return Concat("timed out after ", seconds, " s");
  const std::string last = ErrorLine(child.text.substr(0, separator));
  const std::string how = WIFSIGNALED(status) ? Concat("crashed: signal ", WTERMSIG(status), " (",
                                                       std::string(strsignal(WTERMSIG(status))), ")")
                                              : Concat("crashed: exit code ", WEXITSTATUS(status));
  return last.empty() ? how : Concat(how, ": ", last);
}

}  // namespace

void Isolate(int count, const IsolateOptions& options, const std::function<std::string(int)>& run,
             const std::function<void(int, const std::string&)>& done) {
  std::vector<Child> running;
  std::map<int, std::string> finished;  // not reported yet, as an earlier one is running
  int next = 0, reported = 0;
  while (reported < count) {
    while (next < count && static_cast<int>(running.size()) < options.jobs)
      running.push_back(Start(next++, options.seconds, run));
    std::vector<pollfd> polled;
    for (const Child& child : running) polled.push_back({.fd = child.pipe, .events = POLLIN, .revents = 0});
    poll(polled.data(), polled.size(), -1);
    for (size_t i = running.size(); i-- > 0;) {
      if (polled[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t n = read(running[i].pipe, buffer, sizeof(buffer));
      if (n > 0) {
        running[i].text.append(buffer, static_cast<size_t>(n));
        continue;
      }
      int status = 0;
      waitpid(running[i].pid, &status, 0);
      close(running[i].pipe);
      finished[running[i].index] = ResultOf(running[i], status, options.seconds);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
    while (!finished.empty() && finished.begin()->first == reported) {
      done(reported++, finished.begin()->second);
      finished.erase(finished.begin());
    }
  }
}

}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// UniqueFd: owns one file descriptor.

#ifndef HALFTONE_BASE_FD_H_
#define HALFTONE_BASE_FD_H_

#include <unistd.h>

#include <utility>

namespace halftone {

// Closes its descriptor when it is destroyed. Not thread-safe.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace halftone

#endif  // HALFTONE_BASE_FD_H_

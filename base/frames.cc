// SPDX-License-Identifier: Apache-2.0
#include "base/frames.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace halftone {
namespace {

constexpr size_t kHeaderBytes = 4;

uint32_t DecodeLength(const char* header) {
  uint32_t length = 0;
  for (size_t i = 0; i < kHeaderBytes; ++i) length |= uint32_t{static_cast<unsigned char>(header[i])} << (8 * i);
  return length;
}

absl::Status TooLong(size_t length, size_t max_bytes) {
  return absl::InvalidArgumentError(absl::StrCat("a frame of ", length, " bytes exceeds the limit of ", max_bytes));
}

// While it lives, a write of this thread to a broken pipe fails with EPIPE and raises no signal.
class NoSigpipe {
 public:
  NoSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &old_);
  }
  ~NoSigpipe() {
    const timespec now = {};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &now);  // removes the one that our write raised
    pthread_sigmask(SIG_SETMASK, &old_, nullptr);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  sigset_t pipe_;
  sigset_t old_;
  bool was_pending_;
};

// Reads until `size` bytes are there or the stream ends; returns how many.
absl::StatusOr<size_t> ReadFully(int fd, char* data, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t got = read(fd, data + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoToStatus(errno, "cannot read a frame");
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

}  // namespace

std::string EncodeFrame(std::string_view bytes) {
  std::string frame;
  frame.reserve(kHeaderBytes + bytes.size());
  for (size_t i = 0; i < kHeaderBytes; ++i) frame.push_back(static_cast<char>((bytes.size() >> (8 * i)) & 0xff));
  frame.append(bytes);
  return frame;
}

absl::Status WriteFrame(int fd, std::string_view bytes) {
  if (bytes.size() > kMaxFrameBytes) return TooLong(bytes.size(), kMaxFrameBytes);
  const std::string frame = EncodeFrame(bytes);
  const NoSigpipe no_sigpipe;
  size_t done = 0;
  while (done < frame.size()) {
    const ssize_t put = write(fd, frame.data() + done, frame.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) {
      pollfd writable = {.fd = fd, .events = POLLOUT, .revents = 0};
      poll(&writable, 1, /*timeout=*/-1);
      continue;
    }
    if (put < 0) return ErrnoToStatus(errno, "cannot write a frame");
    done += static_cast<size_t>(put);
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> WriteSome(int fd, std::string_view bytes) {
  const NoSigpipe no_sigpipe;
  const ssize_t put = write(fd, bytes.data(), bytes.size());
  if (put >= 0) return static_cast<size_t>(put);
  if (errno == EAGAIN || errno == EINTR) return size_t{0};
  return ErrnoToStatus(errno, "cannot write");
}

absl::StatusOr<std::optional<std::string>> ReadFrame(int fd, size_t max_bytes) {
  char header[kHeaderBytes];
  HALFTONE_ASSIGN_OR_RETURN(const size_t got, ReadFully(fd, header, kHeaderBytes));
  if (got == 0) return std::optional<std::string>();
  if (got < kHeaderBytes) return absl::DataLossError("the stream ended within a frame's length");
  const size_t length = DecodeLength(header);
  if (length > max_bytes) return TooLong(length, max_bytes);
  std::string bytes(length, '\0');
  HALFTONE_ASSIGN_OR_RETURN(const size_t filled, ReadFully(fd, bytes.data(), length));
  if (filled < length) {
    return absl::DataLossError(
        absl::StrCat("the stream ended after ", filled, " of the ", length, " bytes of a frame"));
  }
  return std::optional<std::string>(std::move(bytes));
}

absl::StatusOr<std::optional<std::string>> FrameParser::Next() {
  const std::string_view unread = std::string_view(buffer_).substr(begin_);
  if (unread.size() < kHeaderBytes) return std::optional<std::string>();
  const size_t length = DecodeLength(unread.data());
  if (length > max_bytes_) return TooLong(length, max_bytes_);
  if (unread.size() < kHeaderBytes + length) return std::optional<std::string>();
  std::string frame(unread.substr(kHeaderBytes, length));
  begin_ += kHeaderBytes + length;
  if (begin_ == buffer_.size() || begin_ > (size_t{1} << 20)) {  // free what was read, from time to time
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  return std::optional<std::string>(std::move(frame));
}

}  // namespace halftone

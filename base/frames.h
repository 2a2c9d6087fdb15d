// SPDX-License-Identifier: Apache-2.0
// Framed messages over a pipe: 4 bytes little-endian length, then that many bytes.

#ifndef HALFTONE_BASE_FRAMES_H_
#define HALFTONE_BASE_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace halftone {

// The longest frame that halftoned and its worker accept.
inline constexpr size_t kMaxFrameBytes = size_t{64} << 20;

// The frame as it is written to the pipe: header, then bytes.
std::string EncodeFrame(std::string_view bytes);

// Writes one frame and blocks until it is in the pipe. UNAVAILABLE when the reading end is closed; no SIGPIPE is
// raised.
absl::Status WriteFrame(int fd, std::string_view bytes);

// Writes what fits into a non-blocking pipe and returns the number of bytes (0: it is full). Raises no SIGPIPE either.
absl::StatusOr<size_t> WriteSome(int fd, std::string_view bytes);

// Reads one frame and blocks until it is complete. nullopt: the pipe ended between two frames. DATA_LOSS: it ended
// within one. INVALID_ARGUMENT: the frame is longer than `max_bytes` (nothing is allocated for it).
absl::StatusOr<std::optional<std::string>> ReadFrame(int fd, size_t max_bytes = kMaxFrameBytes);

// Splits a stream that arrives in arbitrary pieces into frames, for readers that must not block. Not thread-safe.
class FrameParser {
 public:
  explicit FrameParser(size_t max_bytes = kMaxFrameBytes) : max_bytes_(max_bytes) {}

  void Append(std::string_view bytes) { buffer_.append(bytes); }

  // The next complete frame, nullopt when more bytes are needed, INVALID_ARGUMENT when a frame is too long.
  absl::StatusOr<std::optional<std::string>> Next();

  // Whether the stream may end here.
  bool AtBoundary() const { return begin_ == buffer_.size(); }

 private:
  const size_t max_bytes_;
  std::string buffer_;
  size_t begin_ = 0;  // Next returned what lies before
};

}  // namespace halftone

#endif  // HALFTONE_BASE_FRAMES_H_

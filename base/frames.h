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

// What halftoned and its child allow.
inline constexpr size_t kMaxFrameBytes = size_t{64} << 20;

// Header and bytes as they go over the pipe.
std::string EncodeFrame(std::string_view bytes);

// Writes one frame and blocks until it is in the pipe. UNAVAILABLE when nobody reads any more (SIGPIPE is not raised).
absl::Status WriteFrame(int fd, std::string_view bytes);

// Writes what a non-blocking pipe takes now and returns how many bytes that was (0: it is full). As WriteFrame, it
// raises no SIGPIPE.
absl::StatusOr<size_t> WriteSome(int fd, std::string_view bytes);

// Reads one frame and blocks until it is complete. nullopt: the pipe ended between two frames. DATA_LOSS: it ended
// within one. INVALID_ARGUMENT: the frame is longer than `max_bytes` (nothing of it is allocated).
absl::StatusOr<std::optional<std::string>> ReadFrame(int fd, size_t max_bytes = kMaxFrameBytes);

// Cuts a stream that comes in arbitrary pieces into frames, for readers that must not block. Not thread-safe.
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
  size_t begin_ = 0;  // what lies before was taken
};

}  // namespace halftone

#endif  // HALFTONE_BASE_FRAMES_H_

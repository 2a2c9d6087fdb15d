// SPDX-License-Identifier: Apache-2.0
#include "base/frames.h"

#include <unistd.h>

#include <string>
#include <thread>

#include "base/fd.h"
#include "gtest/gtest.h"

namespace halftone {
namespace {

struct TestPipe {
  TestPipe() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    in.reset(ends[1]);
    out.reset(ends[0]);
  }
  void Put(std::string_view bytes) {
    EXPECT_EQ(write(in.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }

  UniqueFd in;
  UniqueFd out;
};

TEST(Frames, HeaderIsLittleEndian) { EXPECT_EQ(EncodeFrame("abc"), std::string("\3\0\0\0abc", 7)); }

TEST(Frames, GoThroughAPipe) {
  TestPipe pipe;
  const std::string large(1 << 20, 'x');  // more than a pipe holds
  std::thread writer([&] {
    EXPECT_TRUE(WriteFrame(pipe.in.get(), "").ok());
    EXPECT_TRUE(WriteFrame(pipe.in.get(), large).ok());
    pipe.in.reset();
  });
  EXPECT_EQ(ReadFrame(pipe.out.get()).value(), "");
  EXPECT_EQ(ReadFrame(pipe.out.get()).value(), large);
  EXPECT_EQ(ReadFrame(pipe.out.get()).value(), std::nullopt);
  writer.join();
}

TEST(Frames, StreamThatEndsWithinAFrameIsDataLoss) {
  for (const std::string& bytes : {std::string("\1\0", 2), std::string("\5\0\0\0ab", 6)}) {
    TestPipe pipe;
    pipe.Put(bytes);
    pipe.in.reset();
    EXPECT_EQ(ReadFrame(pipe.out.get()).status().code(), absl::StatusCode::kDataLoss);
  }
}

TEST(Frames, LengthOverTheLimitIsRefused) {
  TestPipe pipe;
  pipe.Put("\xff\xff\xff\xff");
  EXPECT_EQ(ReadFrame(pipe.out.get()).status().code(), absl::StatusCode::kInvalidArgument);
  FrameParser parser(/*max_bytes=*/3);
  parser.Append(EncodeFrame("four"));
  EXPECT_EQ(parser.Next().status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Frames, WriteToABrokenPipeIsAnErrorAndNoSignal) {
  TestPipe pipe;
  pipe.out.reset();
  EXPECT_EQ(WriteFrame(pipe.in.get(), "x").code(), absl::StatusCode::kUnavailable);
}

TEST(FrameParser, TakesPiecesOfAnySize) {
  const std::string stream = EncodeFrame("one") + EncodeFrame("") + EncodeFrame("three");
  for (size_t step = 1; step <= stream.size(); ++step) {
    FrameParser parser;
    std::string seen;
    for (size_t i = 0; i < stream.size(); i += step) {
      parser.Append(std::string_view(stream).substr(i, step));
      while (const auto frame = parser.Next().value()) seen += *frame + "|";
    }
    EXPECT_EQ(seen, "one||three|") << "step " << step;
    EXPECT_TRUE(parser.AtBoundary());
    parser.Append("x");
    EXPECT_FALSE(parser.AtBoundary());
  }
}

}  // namespace
}  // namespace halftone

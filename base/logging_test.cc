// SPDX-License-Identifier: Apache-2.0
#include "base/logging.h"

#include <string>

#include "absl/log/log.h"
#include "gtest/gtest.h"

namespace halftone {
namespace {

TEST(JsonQuote, EscapesWhatWouldEndTheString) {
  EXPECT_EQ(JsonQuote("plain"), "\"plain\"");
  EXPECT_EQ(JsonQuote("a\"b\\c\n\t"), "\"a\\\"b\\\\c\\n\\t\"");
  EXPECT_EQ(JsonQuote(std::string("\x1b[31m\0", 6)), "\"\\u001b[31m\\u0000\"");
  EXPECT_EQ(JsonQuote("h\xc3\xa9"), "\"h\xc3\xa9\"");
  EXPECT_EQ(JsonQuote("\xff\xc3"), "\"\\ufffd\\ufffd\"");
  EXPECT_EQ(JsonQuote("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"") << "a surrogate is not UTF-8";
}

TEST(LogLine, IsOneJsonObject) {
  testing::internal::CaptureStderr();
  LogInfo("job started").With("job", "jobs/1").With("attempt", 2).With("seconds", 0.5);
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_EQ(line.substr(0, 7), "{\"ts\":\"");
  const std::string fields = line.substr(line.find("Z\",") + 3);
  EXPECT_EQ(fields, "\"level\":\"INFO\",\"msg\":\"job started\",\"job\":\"jobs/1\",\"attempt\":2,\"seconds\":0.5}\n");
}

TEST(LogLine, LongLinesAreCut) {
  testing::internal::CaptureStderr();
  {
    LogLine line = LogWarning(std::string(100'000, 'x'));
    for (int i = 0; i < 100; ++i) line.With("key", std::string(1000, 'y'));
  }
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_LE(line.size(), 8u << 10);
  EXPECT_EQ(line.substr(line.size() - 2), "}\n");
}

TEST(Logging, AbslLogBecomesJson) {
  testing::internal::CaptureStderr();
  InitLogging();
  LOG(ERROR) << "something \"odd\"";
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_NE(line.find("\"level\":\"ERROR\",\"msg\":\"something \\\"odd\\\"\",\"source\":\"logging_test.cc:"),
            std::string::npos)
      << line;
}

}  // namespace
}  // namespace halftone

// SPDX-License-Identifier: Apache-2.0
// Logs: one JSON object per line on stderr.
//
//   LogInfo("job started").With("job", name).With("attempt", 2);
//   {"ts":"2031-01-02T03:04:05.123456Z","level":"INFO","msg":"job started","job":"jobs/0a..","attempt":2}
//
// After InitLogging, absl's LOG writes such lines too, with "source":"file.cc:12".

#ifndef HALFTONE_BASE_LOGGING_H_
#define HALFTONE_BASE_LOGGING_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/strings.h"

namespace halftone {

// Sends absl's LOG to stderr as JSON lines. Call once, at the start of main.
void InitLogging();

// `text` as a JSON string with its quotes. Control characters and bytes that are not UTF-8 are escaped.
std::string JsonQuote(TextArg text);

// One line, written by the destructor in one write; lines longer than 8 KiB are cut. Thread-safe: lines never mix.
class LogLine {
 public:
  LogLine(std::string_view level, TextArg message);
  LogLine(LogLine&& other) noexcept;
  LogLine& operator=(LogLine&&) = delete;
  ~LogLine();

  LogLine& With(std::string_view key, TextArg value);
  LogLine& With(std::string_view key, int64_t value);
  LogLine& With(std::string_view key, int value) { return With(key, static_cast<int64_t>(value)); }
  LogLine& With(std::string_view key, double value);

 private:
  LogLine& Raw(std::string_view key, std::string_view json);

  std::string line_;  // without the closing brace; empty: moved from
};

LogLine LogInfo(TextArg message);
LogLine LogWarning(TextArg message);
LogLine LogError(TextArg message);

}  // namespace halftone

#endif  // HALFTONE_BASE_LOGGING_H_

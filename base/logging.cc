// SPDX-License-Identifier: Apache-2.0
#include "base/logging.h"

#include <unistd.h>

#include <cmath>
#include <utility>

#include "absl/base/log_severity.h"
#include "absl/base/no_destructor.h"
#include "absl/log/globals.h"
#include "absl/log/initialize.h"
#include "absl/log/log_entry.h"
#include "absl/log/log_sink.h"
#include "absl/log/log_sink_registry.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace halftone {
namespace {

constexpr size_t kMaxLineBytes = 8 << 10;
constexpr size_t kMaxValueBytes = 2 << 10;  // before escaping

std::string_view LevelName(absl::LogSeverity severity) {
  switch (severity) {
    case absl::LogSeverity::kInfo:
      return "INFO";
    case absl::LogSeverity::kWarning:
      return "WARNING";
    case absl::LogSeverity::kError:
      return "ERROR";
    case absl::LogSeverity::kFatal:
      return "FATAL";
  }
  return "ERROR";
}

class JsonSink final : public absl::LogSink {
 public:
  void Send(const absl::LogEntry& entry) override {
    LogLine(LevelName(entry.log_severity()), entry.text_message())
        .With("source", absl::StrCat(entry.source_basename(), ":", entry.source_line()));
  }
};

// Length of the well-formed UTF-8 sequence that `text` begins with; 0: there is none.
size_t Utf8Length(std::string_view text) {
  const auto byte = [&text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  size_t length = 0;
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) length = 2;
  if (first >= 0xe0 && first < 0xf0) length = 3;
  if (first >= 0xf0 && first < 0xf5) length = 4;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool surrogate_or_too_large = (first == 0xed && byte(1) >= 0xa0) || (first == 0xf4 && byte(1) >= 0x90);
  return overlong || surrogate_or_too_large ? 0 : length;
}

}  // namespace

void InitLogging() {
  static absl::NoDestructor<JsonSink> sink;
  absl::InitializeLog();
  absl::SetStderrThreshold(absl::LogSeverityAtLeast::kInfinity);  // the sink writes instead
  absl::AddLogSink(sink.get());
}

std::string JsonQuote(TextArg arg) {
  std::string_view text = arg.std();
  std::string json = "\"";
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const char c = text[0];
    if (length == 0) {
      absl::StrAppend(&json, "\\ufffd");
    } else if (length > 1) {
      json.append(text.substr(0, length));
    } else if (c == '"' || c == '\\') {
      json.append({'\\', c});
    } else if (c == '\n') {
      json.append("\\n");
    } else if (c == '\t') {
      json.append("\\t");
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      absl::StrAppendFormat(&json, "\\u%04x", c);
    } else {
      json.push_back(c);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  json.push_back('"');
  return json;
}

LogLine::LogLine(std::string_view level, TextArg message)
    : line_(Concat("{\"ts\":\"", absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", absl::Now(), absl::UTCTimeZone()),
                   "\",\"level\":\"", level, "\",\"msg\":", JsonQuote(message.std().substr(0, kMaxValueBytes)))) {}

LogLine::LogLine(LogLine&& other) noexcept : line_(std::exchange(other.line_, {})) {}

LogLine::~LogLine() {
  if (line_.empty()) return;
  line_.append("}\n");
  if (write(STDERR_FILENO, line_.data(), line_.size()) < 0) return;  // a line that cannot be written is lost
}

LogLine& LogLine::Raw(std::string_view key, std::string_view json) {
  if (line_.size() + key.size() + json.size() + 8 <= kMaxLineBytes) line_ += Concat(",\"", key, "\":", json);
  return *this;
}

LogLine& LogLine::With(std::string_view key, TextArg value) {
  return Raw(key, JsonQuote(value.std().substr(0, kMaxValueBytes)));
}

LogLine& LogLine::With(std::string_view key, int64_t value) { return Raw(key, absl::StrCat(value)); }

LogLine& LogLine::With(std::string_view key, double value) {
  return Raw(key, std::isfinite(value) ? absl::StrFormat("%.6g", value) : "null");
}

LogLine LogInfo(TextArg message) { return LogLine("INFO", message); }
LogLine LogWarning(TextArg message) { return LogLine("WARNING", message); }
LogLine LogError(TextArg message) { return LogLine("ERROR", message); }

}  // namespace halftone

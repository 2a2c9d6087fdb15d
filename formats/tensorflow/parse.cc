// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/parse.h"

#include <algorithm>
#include <climits>
#include <string>

#include "absl/strings/ascii.h"
#include "base/strings.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/stubs/logging.h"
#include "google/protobuf/text_format.h"

namespace halftone::graphdef {
namespace {

constexpr int kMaxNesting = 100;  // of messages in text; the binary parser has the same limit

// Keeps the first error.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) text_ = Concat("line ", line + 1, ", column ", column + 1, ": ", message);
  }
  void AddWarning(int, int, const std::string&) override {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Of a file whose name says that it is binary. Binary GraphDefs have zeros and other control characters early on.
bool LooksLikeText(std::string_view bytes) {
  constexpr size_t kEnough = 512;
  const std::string_view start = bytes.substr(0, kEnough);
  return !start.empty() && std::all_of(start.begin(), start.end(), [](char c) {
    return absl::ascii_isprint(static_cast<unsigned char>(c)) || absl::ascii_isspace(static_cast<unsigned char>(c));
  });
}

}  // namespace

absl::Status ParseGraphDef(std::string_view bytes, bool is_text, tf::GraphDef& graph) {
  if (bytes.size() > INT_MAX) {
    return absl::InvalidArgumentError(
        Concat("a GraphDef of ", bytes.size(), " bytes; at most ", INT_MAX, " are possible"));
  }
  const google::protobuf::LogSilencer silence;  // it would print the error that we return
  const int size = static_cast<int>(bytes.size());
  if (!is_text) {
    if (graph.ParseFromArray(bytes.data(), size)) return absl::OkStatus();
    if (!LooksLikeText(bytes)) {
      return absl::InvalidArgumentError(
          "not a GraphDef: the bytes are no such protobuf (damaged, cut off, or another format)");
    }
    graph.Clear();
  }
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(kMaxNesting);
  google::protobuf::io::ArrayInputStream stream(bytes.data(), size);
  if (parser.Parse(&stream, &graph)) return absl::OkStatus();
  return absl::InvalidArgumentError(Concat("not a GraphDef in text form: ", error.text()));
}

}  // namespace halftone::graphdef

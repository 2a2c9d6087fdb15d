// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/device_name.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "base/strings.h"

namespace halftone {
namespace {

// Reads a name from begin to end.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}
  bool done() const { return rest_.empty(); }
  bool Skip(std::string_view prefix) {
    if (!rest_.starts_with(prefix)) return false;
    rest_.remove_prefix(prefix.size());
    return true;
  }
  // A letter, then letters, digits and "_"; "" if there is none.
  std::string_view Word() {
    if (rest_.empty() || !absl::ascii_isalpha(static_cast<unsigned char>(rest_[0]))) return "";
    return Take([](unsigned char c) { return absl::ascii_isalnum(c) || c == '_'; });
  }
  std::string_view Number() {
    return Take([](unsigned char c) { return absl::ascii_isdigit(c); });
  }

 private:
  template <typename Belongs>
  std::string_view Take(Belongs belongs) {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), [&](char c) { return belongs(c); });
    const std::string_view taken = rest_.substr(0, end - rest_.begin());
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view rest_;
};

}  // namespace

bool IsOnCpu(std::string_view device) {
  if (device.empty()) return true;
  Reader reader(device);
  std::string type;
  bool has_number = false;
  while (!reader.done()) {
    if (reader.Skip("/job:")) {
      if (!reader.Skip("*") && reader.Word().empty()) return false;
    } else if (reader.Skip("/replica:") || reader.Skip("/task:")) {
      if (!reader.Skip("*") && reader.Number().empty()) return false;
    } else if (reader.Skip("/device:")) {
      type.clear();
      if (!reader.Skip("*")) {
        type = reader.Word();
        if (type.empty()) return false;
      }
      has_number = reader.Skip(":") && !reader.Skip("*");
      if (has_number && reader.Number().empty()) return false;
    } else if (reader.Skip("/cpu:") || reader.Skip("/CPU:")) {  // the old syntax
      type = "CPU";
      has_number = !reader.Skip("*");
      if (has_number && reader.Number().empty()) return false;
    } else if (reader.Skip("/gpu:") || reader.Skip("/GPU:")) {
      type = "GPU";
      has_number = !reader.Skip("*");
      if (has_number && reader.Number().empty()) return false;
    } else {
      return false;
    }
  }
  return has_number && absl::AsciiStrToLower(type).find("cpu") != std::string::npos;
}

}  // namespace halftone

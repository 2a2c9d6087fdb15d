// SPDX-License-Identifier: Apache-2.0
// text_to_onnx IN OUT_FOLDER: models in ONNX's own text syntax, each headed by "### name", as OUT_FOLDER/name.onnx. For
// tests.

#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "base/status.h"
#include "onnx/defs/parser.h"

namespace halftone {
namespace {

absl::Status Convert(const std::string& in, const std::string& folder) {
  HALFTONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(in));
  for (const absl::string_view part : absl::StrSplit(text, "### ", absl::SkipEmpty())) {
    const size_t line = part.find('\n');
    if (line == absl::string_view::npos || part[0] == '#') continue;
    const std::string name(part.substr(0, line));
    onnx::ModelProto model;
    const onnx::Common::Status parsed = onnx::OnnxParser::Parse(model, std::string(part.substr(line)).c_str());
    if (!parsed.IsOK()) return absl::InvalidArgumentError(absl::StrCat(name, ": ", parsed.ErrorMessage()));
    HALFTONE_RETURN_IF_ERROR(WriteFileAtomically(absl::StrCat(folder, "/", name, ".onnx"), model.SerializeAsString()));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: text_to_onnx IN OUT_FOLDER\n";
    return 2;
  }
  const absl::Status status = halftone::Convert(argv[1], argv[2]);
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}

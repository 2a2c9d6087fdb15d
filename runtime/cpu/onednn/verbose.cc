// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/onednn/verbose.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <oneapi/dnnl/dnnl.hpp>

#include "absl/strings/str_split.h"
#include "base/strings.h"

namespace halftone {
namespace {

constexpr std::string_view kExec = "onednn_verbose,v1,primitive,exec,";
constexpr int kPrimitiveField = 5, kTensorsField = 8;

std::string_view FieldOf(std::string_view line, int wanted) {
  for (int field = 0; field < wanted; ++field) {
    const size_t comma = line.find(',');
    if (comma == std::string_view::npos) return {};
    line.remove_prefix(comma + 1);
  }
  return line.substr(0, line.find(','));
}

}  // namespace

absl::StatusOr<std::unique_ptr<VerboseCapture>> VerboseCapture::Start() {
  std::fflush(stdout);
  const int file = memfd_create("onednn-verbose", MFD_CLOEXEC);
  const int before = dup(STDOUT_FILENO);
  if (file < 0 || before < 0 || dup2(file, STDOUT_FILENO) < 0) {
    if (file >= 0) close(file);
    if (before >= 0) close(before);
    return absl::InternalError("stdout cannot be caught to read what oneDNN says");
  }
  dnnl_set_verbose(1);
  return std::unique_ptr<VerboseCapture>(new VerboseCapture(file, before));
}

VerboseCapture::~VerboseCapture() {
  dnnl_set_verbose(0);
  std::fflush(stdout);
  dup2(stdout_before_, STDOUT_FILENO);
  close(stdout_before_);
  close(file_);
}

std::vector<std::string> VerboseCapture::TakeLines() {
  std::fflush(stdout);
  char buffer[1 << 14];
  for (ssize_t got; (got = pread(file_, buffer, sizeof(buffer), read_)) > 0; read_ += got)
    rest_.append(buffer, static_cast<size_t>(got));
  std::vector<std::string> lines;
  for (size_t end; (end = rest_.find('\n')) != std::string::npos; rest_.erase(0, end + 1))
    lines.push_back(rest_.substr(0, end));
  return lines;
}

bool IsExecLine(std::string_view line) { return line.starts_with(kExec); }

std::string_view PrimitiveOf(std::string_view line) { return FieldOf(line, kPrimitiveField); }

std::string_view SourceTypeOf(std::string_view line) {
  std::string_view tensors = FieldOf(line, kTensorsField);
  const size_t colon = tensors.find(':');
  if (colon == std::string_view::npos) return {};
  tensors.remove_prefix(colon + 1);
  return tensors.substr(0, tensors.find(':'));
}

}  // namespace halftone

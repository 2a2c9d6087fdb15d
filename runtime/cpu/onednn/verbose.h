// SPDX-License-Identifier: Apache-2.0
// What oneDNN says of the primitives that it executes (its "verbose" lines), caught in this process.
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_VERBOSE_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_VERBOSE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace halftone {

// While it is alive, oneDNN describes each primitive that is executed, and stdout of the whole process is caught. One
// at a time.
class VerboseCapture {
 public:
  static absl::StatusOr<std::unique_ptr<VerboseCapture>> Start();
  ~VerboseCapture();
  VerboseCapture(const VerboseCapture&) = delete;
  VerboseCapture& operator=(const VerboseCapture&) = delete;

  // The lines since the last call.
  std::vector<std::string> TakeLines();

 private:
  VerboseCapture(int file, int stdout_before) : file_(file), stdout_before_(stdout_before) {}

  const int file_;
  const int stdout_before_;
  long long read_ = 0;
  std::string rest_;
};

// Of a line "onednn_verbose,v1,primitive,exec,cpu,convolution,...": whether it is one, the primitive, the data type of
// the first tensor ("f32").
bool IsExecLine(std::string_view line);
std::string_view PrimitiveOf(std::string_view line);
std::string_view SourceTypeOf(std::string_view line);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_VERBOSE_H_

// SPDX-License-Identifier: Apache-2.0
// The outputs of one variant for all samples, in a file: written by the process that ran it, read by the one that
// compares.
#ifndef HALFTONE_OPTIMIZER_OUTPUT_LOG_H_
#define HALFTONE_OPTIMIZER_OUTPUT_LOG_H_

#include <fstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/tensor.h"

namespace halftone {

// A record is one run: its real rows, labels and outputs. Frames: names first, then per record a head and one .npy per
// output.
struct OutputRecord {
  int64_t batch = 0;  // rows that were fed
  int64_t rows = 0;   // of these, real ones
  std::vector<int64_t> labels;
  std::vector<Tensor> outputs;
};

// Not thread-safe.
class OutputLogWriter {
 public:
  static absl::StatusOr<OutputLogWriter> Create(const std::string& path, const std::vector<std::string>& output_names);
  absl::Status Append(const OutputRecord& record);
  absl::Status Close();

 private:
  explicit OutputLogWriter(std::ofstream file) : file_(std::move(file)) {}
  std::ofstream file_;
};

// Not thread-safe.
class OutputLogReader {
 public:
  static absl::StatusOr<OutputLogReader> Open(const std::string& path);
  const std::vector<std::string>& output_names() const { return names_; }
  // False at the end.
  absl::StatusOr<bool> Next(OutputRecord& record);

 private:
  explicit OutputLogReader(std::ifstream file) : file_(std::move(file)) {}
  std::ifstream file_;
  std::vector<std::string> names_;
};

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_OUTPUT_LOG_H_

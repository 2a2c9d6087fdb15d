// SPDX-License-Identifier: Apache-2.0
// numpy's .npz files (zip archives of .npy), read array by array and piece by piece.
#ifndef HALFTONE_FORMATS_NPZ_NPZ_H_
#define HALFTONE_FORMATS_NPZ_NPZ_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/npz/npy.h"
#include "ir/tensor.h"

namespace halftone {

struct NpzArray {
  std::string name;  // without ".npy"
  DataType type = DataType::kUnknown;
  std::vector<int64_t> dims;
};

// One open archive, stored or deflated. Rows are read in memory of their own size: going forward through an array costs
// each byte once, going back starts it again. Arrays in Fortran order are read whole. Not thread-safe.
class NpzReader {
 public:
  // `label` stands for the file in messages. Errors: INVALID_ARGUMENT names file and array.
  static absl::StatusOr<std::unique_ptr<NpzReader>> Open(const std::string& path, const std::string& label);
  virtual ~NpzReader() = default;

  virtual const std::vector<NpzArray>& arrays() const = 0;  // in the archive's order
  // Index in arrays(), or -1.
  virtual int Find(std::string_view name) const = 0;
  virtual absl::StatusOr<Tensor> ReadAll(int array) = 0;
  // Rows [first, first + count) along the first axis. REQUIRES: rank >= 1 and in range.
  virtual absl::StatusOr<Tensor> ReadRows(int array, int64_t first, int64_t count) = 0;
};

struct NamedArray {
  std::string name;  // without ".npy"
  Tensor tensor;
};

// Writes an archive of these arrays, deflated or stored. numpy reads it.
absl::Status WriteNpz(const std::string& path, const std::vector<NamedArray>& arrays, bool deflate = false);

}  // namespace halftone

#endif  // HALFTONE_FORMATS_NPZ_NPZ_H_

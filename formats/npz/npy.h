// SPDX-License-Identifier: Apache-2.0
// numpy's .npy files <-> Tensor. Format: numpy.lib.format, versions 1 to 3.
#ifndef HALFTONE_FORMATS_NPZ_NPY_H_
#define HALFTONE_FORMATS_NPZ_NPY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/tensor.h"

namespace halftone {

// What the head of a .npy says.
struct NpyHeader {
  DataType type = DataType::kUnknown;
  std::vector<int64_t> dims;
  bool fortran_order = false;
  bool big_endian = false;
  size_t data_offset = 0;  // bytes from the beginning of the .npy
};

// `bytes` need not hold more than the head (at most 64 KiB). dtypes: f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1.
// Errors: INVALID_ARGUMENT names `label` and what is wrong.
absl::StatusOr<NpyHeader> ParseNpyHeader(std::string_view bytes, std::string_view label);

// The whole array, in C order and the machine's byte order.
absl::StatusOr<Tensor> ParseNpy(std::string_view bytes, std::string_view label);

// Makes every byte of a bool tensor 0 or 1, whatever the file held; other types stay as they are.
void CleanBools(Tensor& tensor);

// Version 1.0, C order. bf16, which numpy does not have, is written as f4. Errors: INVALID_ARGUMENT for strings and the
// like.
absl::StatusOr<std::string> WriteNpy(const Tensor& tensor);

}  // namespace halftone

#endif  // HALFTONE_FORMATS_NPZ_NPY_H_

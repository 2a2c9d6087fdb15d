// SPDX-License-Identifier: Apache-2.0
// Sizes that the user gives to dynamic dimensions of inputs.
#ifndef HALFTONE_OPTIMIZER_DIM_SIZES_H_
#define HALFTONE_OPTIMIZER_DIM_SIZES_H_

#include <cstdint>
#include <map>
#include <string>

namespace halftone {

struct DimSizes {
  int64_t batch = 0;                     // of first dimensions; 0: not given, 1 where one is needed
  std::map<std::string, int64_t> named;  // of the dimensions with these names; they override batch

  int64_t batch_or_one() const { return batch > 0 ? batch : 1; }
};

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_DIM_SIZES_H_

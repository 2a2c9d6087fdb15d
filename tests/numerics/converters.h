// SPDX-License-Identifier: Apache-2.0
// Every way in which the product makes bf16 or f16 of a float without computing anything else: one row each.
#ifndef HALFTONE_TESTS_NUMERICS_CONVERTERS_H_
#define HALFTONE_TESTS_NUMERICS_CONVERTERS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ir/types.h"

namespace halftone::testing {

struct Converter {
  std::string name;  // file or class, and for which CPU
  DataType to;
  // y[i] from x[i]. Not thread-safe. REQUIRES: as many as `size` of AllConverters
  std::function<void(const std::vector<float>& x, std::vector<uint16_t>& y)> convert;
};

// Those that run on this CPU, for vectors of `size` numbers, a multiple of 96. Make them anew for each thread.
std::vector<Converter> AllConverters(int64_t size);

}  // namespace halftone::testing

#endif  // HALFTONE_TESTS_NUMERICS_CONVERTERS_H_

// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/int8_table.h"

#include <cstring>

#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/targets.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace halftone::simd {
namespace {

constexpr int64_t kGrain = 1 << 16;

template <typename Entry>
void Plain(const std::byte* table, const std::byte* x, int64_t count, std::byte* y) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(y + i * static_cast<int64_t>(sizeof(Entry)), table + static_cast<size_t>(x[i]) * sizeof(Entry),
                sizeof(Entry));
  }
}

#if defined(__x86_64__)
// The table in four registers: two permutations of two, and the top bit chooses.
HALFTONE_FOR_AVX512_VBMI void Vbmi(const std::byte* table, const std::byte* x, int64_t count, std::byte* y) {
  __m512i quarters[4];
  for (int i = 0; i < 4; ++i) quarters[i] = _mm512_loadu_si512(table + 64 * i);
  for (int64_t i = 0; i < count; i += 64) {
    const int64_t left = count - i;
    const __mmask64 mask = left >= 64 ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
    const __m512i bytes = _mm512_maskz_loadu_epi8(mask, x + i);
    const __m512i low = _mm512_permutex2var_epi8(quarters[0], bytes, quarters[1]);
    const __m512i high = _mm512_permutex2var_epi8(quarters[2], bytes, quarters[3]);
    const __m512i found = _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high);
    if (left >= 64) {
      _mm512_storeu_si512(y + i, found);
    } else {
      _mm512_mask_storeu_epi8(y + i, mask, found);
    }
  }
}
bool HasVbmi() {
  static const bool has = HasAvx512Vbmi();
  return has;
}
#endif

using Function = void (*)(const std::byte*, const std::byte*, int64_t, std::byte*);
Function FunctionFor(size_t entry_bytes) {
#if defined(__x86_64__)
  if (entry_bytes == 1 && HasVbmi()) return Vbmi;
#endif
  return entry_bytes == 1 ? Plain<uint8_t> : entry_bytes == 2 ? Plain<uint16_t> : Plain<uint32_t>;
}

}  // namespace

void LookUp(const std::byte* table, size_t entry_bytes, const std::byte* x, int64_t count, std::byte* y) {
  const Function function = FunctionFor(entry_bytes);
  ParallelFor(count, kGrain, [&](int64_t first, int64_t last) {
    function(table, x + first, last - first, y + first * static_cast<int64_t>(entry_bytes));
  });
}

}  // namespace halftone::simd

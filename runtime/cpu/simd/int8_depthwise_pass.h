// SPDX-License-Identifier: Apache-2.0
// The loops of int8_depthwise.h for AVX-512 VNNI. Included by int8_depthwise_vnni.cc and int8_depthwise_vbmi.cc, each
// with its own way to interleave bytes; no other file may include it.
//
// First the rows of the image are interleaved into a line: for each column, padding included, and each group of four
// rows two vectors of [16 channels][4 rows]. Then each column of the window is one vpdpbusd a group, a row of the
// result and a vector: it adds four products of u8 x s8 without saturating between. s8 becomes u8 by its sign bit; what
// that and the zero point add to the sums is a constant, with which they begin.
#define HALFTONE_PART __attribute__((always_inline))  // of a lambda: what it works on is in registers

namespace halftone::simd {
namespace {

// Calls f(constant 0), f(constant 1), ... f(constant N - 1).
template <int N, typename F>
inline HALFTONE_PART void Times(const F& f) {
  [&]<int... I>(std::integer_sequence<int, I...>)
      HALFTONE_PART { (f(std::integral_constant<int, I>()), ...); }(std::make_integer_sequence<int, N>());
}

inline __m256i LoadBytes(const uint8_t* x, __mmask32 mask, bool whole) {
  return whole ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)) : _mm256_maskz_loadu_epi8(mask, x);
}

template <typename Isa, int G>
void Interleave(const DepthwiseBand& band, int64_t columns) {
  auto* line = reinterpret_cast<__m512i*>(band.line);
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(band.is_signed ? 0x80 : 0));
  const __m512i padding = _mm512_set1_epi8(static_cast<char>(band.zero));
  const bool whole = band.channels == kDepthwiseChannels;
  const __mmask32 mask = whole ? ~__mmask32{0} : static_cast<__mmask32>((uint32_t{1} << band.channels) - 1);
  const int64_t before = std::min(band.pad_columns, columns);
  const int64_t inside = std::min(columns, band.pad_columns + band.in_columns);
  int64_t column = 0;
  for (; column < before; ++column) Times<2 * G>([&](auto) HALFTONE_PART { _mm512_store_si512(line++, padding); });
  const uint8_t* x[4 * G];
  Times<4 * G>([&](auto i) HALFTONE_PART { x[i] = band.x[i]; });
  const auto run = [&](bool all) HALFTONE_PART {
    for (; column < inside; ++column) {
      Times<G>([&](auto g) HALFTONE_PART {
        __m512i even, odd;
        Isa::Interleave(LoadBytes(x[4 * g], mask, all), LoadBytes(x[4 * g + 1], mask, all),
                        LoadBytes(x[4 * g + 2], mask, all), LoadBytes(x[4 * g + 3], mask, all), even, odd);
        _mm512_store_si512(line++, _mm512_xor_si512(even, flip));
        _mm512_store_si512(line++, _mm512_xor_si512(odd, flip));
        Times<4>([&](auto i) HALFTONE_PART { x[4 * g + i] += band.x_step[4 * g + i]; });
      });
    }
  };
  if (whole) {
    run(true);
  } else {
    run(false);
  }
  for (; column < columns; ++column) Times<2 * G>([&](auto) HALFTONE_PART { _mm512_store_si512(line++, padding); });
}

// What does not change from column to column: read once, as stores of bytes might change all memory.
template <int K, int S>
struct Constants {
  static constexpr int kWeights = BandRows(S) * K * BandGroups(K, S) * 2;
  __m512i weights[kWeights], begins[2];
  __m512 factors[2], offsets[2];
  __m512i zero_point, low, high;

  explicit HALFTONE_PART Constants(const DepthwiseBand& band) {
    const auto* packed = reinterpret_cast<const __m512i*>(band.weights);
    Times<kWeights>([&](auto i) HALFTONE_PART { weights[i] = _mm512_load_si512(packed + i); });
    Times<2>([&](auto i) HALFTONE_PART {
      begins[i] = _mm512_loadu_si512(band.begins + i * 16);
      factors[i] = _mm512_loadu_ps(band.factors + i * 16);
      offsets[i] = _mm512_loadu_ps(band.offsets + i * 16);
    });
    zero_point = _mm512_set1_epi16(band.zero_point);
    low = _mm512_set1_epi16(band.low);
    high = _mm512_set1_epi16(band.high);
  }
};

// 16-bit integers of 32 channels in order.
template <typename C>
inline HALFTONE_PART __m512i Words(const C& c, __m512i even, __m512i odd) {
  const __m512i a = _mm512_cvtps_epi32(_mm512_fmadd_ps(_mm512_cvtepi32_ps(even), c.factors[0], c.offsets[0]));
  const __m512i b = _mm512_cvtps_epi32(_mm512_fmadd_ps(_mm512_cvtepi32_ps(odd), c.factors[1], c.offsets[1]));
  const __m512i words = _mm512_adds_epi16(_mm512_packs_epi32(a, b), c.zero_point);
  return _mm512_min_epi16(_mm512_max_epi16(words, c.low), c.high);
}

inline HALFTONE_PART void StoreBytes(std::byte* y, __m256i bytes, int64_t channels) {
  if (channels == kDepthwiseChannels) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), bytes);
  } else if (channels == 16) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y), _mm256_castsi256_si128(bytes));
  } else {
    _mm256_mask_storeu_epi8(y, static_cast<__mmask32>((uint32_t{1} << channels) - 1), bytes);
  }
}

// Two pixels at once.
inline HALFTONE_PART void StoreWords(const DepthwiseBand& band, __m512i first, __m512i second, std::byte* y,
                                     std::byte* y_second) {
  const __m512i mixed = band.y_signed ? _mm512_packs_epi16(first, second) : _mm512_packus_epi16(first, second);
  const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  const __m512i bytes = _mm512_permutexvar_epi64(order, mixed);
  StoreBytes(y, _mm512_castsi512_si256(bytes), band.channels);
  StoreBytes(y_second, _mm512_extracti64x4_epi64(bytes, 1), band.channels);
}

template <typename C>
inline HALFTONE_PART void StoreNumbers(float* numbers, const C& c, __m512i even, __m512i odd) {
  const __m512 a = _mm512_fmadd_ps(_mm512_cvtepi32_ps(even), c.factors[0], c.offsets[0]);
  const __m512 b = _mm512_fmadd_ps(_mm512_cvtepi32_ps(odd), c.factors[1], c.offsets[1]);
  const __m512i low = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
  const __m512i high = _mm512_setr_epi32(8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
  _mm512_storeu_ps(numbers, _mm512_permutex2var_ps(a, low, b));
  _mm512_storeu_ps(numbers + 16, _mm512_permutex2var_ps(a, high, b));
}

// Columns [first, first + B) of the band's rows.
template <int K, int S, int B, bool kBytes>
inline HALFTONE_PART void Columns(const DepthwiseBand& band, const Constants<K, S>& c, int64_t first) {
  constexpr int R = BandRows(S), G = BandGroups(K, S);
  const auto* line = reinterpret_cast<const __m512i*>(band.line) + first * S * G * 2;
  __m512i sums[B * R][2];
  Times<B * R>([&](auto i) HALFTONE_PART {
    sums[i][0] = c.begins[0];
    sums[i][1] = c.begins[1];
  });
  Times<(B - 1) * S + K>([&](auto column) HALFTONE_PART {
    Times<G>([&](auto g) HALFTONE_PART {
      const __m512i even = _mm512_load_si512(line + (column * G + g) * 2);
      const __m512i odd = _mm512_load_si512(line + (column * G + g) * 2 + 1);
      Times<B>([&](auto b) HALFTONE_PART {
        constexpr int k = decltype(column)::value - decltype(b)::value * S;
        if constexpr (k >= 0 && k < K) {
          Times<R>([&](auto r) HALFTONE_PART {
            constexpr int at = ((decltype(r)::value * K + k) * G + decltype(g)::value) * 2;
            __m512i(&sum)[2] = sums[b * R + r];
            sum[0] = _mm512_dpbusd_epi32(sum[0], even, c.weights[at]);
            sum[1] = _mm512_dpbusd_epi32(sum[1], odd, c.weights[at + 1]);
          });
        }
      });
    });
  });
  if constexpr (!kBytes) {
    Times<B * R>([&](auto i) HALFTONE_PART {
      const int64_t at = (i % R) * band.out_columns + first + i / R;
      StoreNumbers(band.numbers + at * kDepthwiseChannels, c, sums[i][0], sums[i][1]);
    });
  } else {
    const auto address = [&](int i) HALFTONE_PART { return band.y[i % R] + (first + i / R) * band.y_step[i % R]; };
    if constexpr (B * R == 1) {
      const __m512i words = Words(c, sums[0][0], sums[0][1]);
      StoreWords(band, words, words, address(0), address(0));
    } else {
      Times<B * R / 2>([&](auto pair) HALFTONE_PART {
        constexpr int i = 2 * decltype(pair)::value;
        StoreWords(band, Words(c, sums[i][0], sums[i][1]), Words(c, sums[i + 1][0], sums[i + 1][1]), address(i),
                   address(i + 1));
      });
    }
  }
}

template <int K, int S, bool kBytes>
void AllColumns(const DepthwiseBand& given) {
  constexpr int B = 4;
  const DepthwiseBand band = given;  // ours, for the same reason
  const Constants<K, S> constants(band);
  const int64_t count = band.out_columns;
  if (count < B) {
    for (int64_t column = 0; column < count; ++column) Columns<K, S, 1, kBytes>(band, constants, column);
    return;
  }
  // The last ones do some columns again.
  for (int64_t column = 0; column < count; column += B)
    Columns<K, S, B, kBytes>(band, constants, std::min(column, count - B));
}

template <typename Isa, int K, int S>
void Band(const DepthwiseBand& band) {
  Interleave<Isa, BandGroups(K, S)>(band, (band.out_columns - 1) * S + K);
  if (band.numbers == nullptr) {
    AllColumns<K, S, true>(band);
  } else {
    AllColumns<K, S, false>(band);
  }
}

template <typename Isa>
void AnyBand(const DepthwiseBand& band) {
  if (band.kernel == 3 && band.stride == 1) return Band<Isa, 3, 1>(band);
  if (band.kernel == 3) return Band<Isa, 3, 2>(band);
  if (band.stride == 1) return Band<Isa, 5, 1>(band);
  return Band<Isa, 5, 2>(band);
}

}  // namespace
}  // namespace halftone::simd

#undef HALFTONE_PART

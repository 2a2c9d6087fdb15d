// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/channel_copy.h"

#include <cstring>

#include "runtime/cpu/simd/simd.h"
#include "runtime/cpu/simd/vector_math.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace halftone::simd {
namespace {

// A vector that may lie anywhere.
template <int kBytes>
using Vector [[gnu::vector_size(kBytes), gnu::aligned(1), gnu::may_alias]] = uint8_t;

using Unaligned16 [[gnu::aligned(1), gnu::may_alias]] = uint16_t;

template <int kBytes>
HALFTONE_INLINE void Move(const std::byte* from, std::byte* to) {
  *reinterpret_cast<Vector<kBytes>*>(to) = *reinterpret_cast<const Vector<kBytes>*>(from);
}

// The first and the last bytes, which overlap.
template <int kBytes>
HALFTONE_INLINE void Ends(const std::byte* from, std::byte* to, int64_t bytes) {
  Move<kBytes>(from, to);
  Move<kBytes>(from + bytes - kBytes, to + bytes - kBytes);
}

// Fewer than 2 kBytes.
template <int kBytes>
HALFTONE_INLINE void CopyShortRun(const std::byte* from, std::byte* to, int64_t bytes) {
  if (bytes >= kBytes) {
    Ends<kBytes>(from, to, bytes);
  } else if constexpr (kBytes > 8) {
    CopyShortRun<kBytes / 2>(from, to, bytes);
  } else {
    for (int64_t i = 0; i < bytes; ++i) to[i] = from[i];
  }
}

// memcpy of a few vectors without its preparations. kBytes: of a register; wider ones would go over the stack.
template <int kBytes>
HALFTONE_INLINE void CopyRun(const std::byte* from, std::byte* to, int64_t bytes) {
  if (bytes < kBytes) return CopyShortRun<kBytes / 2>(from, to, bytes);
  int64_t i = 0;
  for (; i + kBytes <= bytes; i += kBytes) Move<kBytes>(from + i, to + i);
  if (i < bytes) Move<kBytes>(from + bytes - kBytes, to + bytes - kBytes);
}

template <int kBytes>
HALFTONE_INLINE void CopyBody(std::span<const ChannelPart> parts, const Pixels& pixels) {
  for (int64_t pixel = pixels.first; pixel < pixels.last; ++pixel) {
    for (const ChannelPart& part : parts) {
      CopyRun<kBytes>(part.from + pixel * part.from_step, pixels.to + pixel * pixels.to_step + part.to, part.bytes);
    }
  }
}

template <typename T>
HALFTONE_INLINE void InterleaveBody(const ChannelPart& from_a, const ChannelPart& from_b, const Pixels& pixels) {
  const int64_t count = from_a.bytes / static_cast<int64_t>(sizeof(T));
  for (int64_t pixel = pixels.first; pixel < pixels.last; ++pixel) {
    const T* __restrict a = reinterpret_cast<const T*>(from_a.from + pixel * from_a.from_step);
    const T* __restrict b = reinterpret_cast<const T*>(from_b.from + pixel * from_b.from_step);
    T* __restrict y = reinterpret_cast<T*>(pixels.to + pixel * pixels.to_step);
    for (int64_t i = 0; i < count; ++i) {
      y[2 * i] = a[i];
      y[2 * i + 1] = b[i];
    }
  }
}

// Bytes in pairs, which the compiler makes vectors of.
template <>
HALFTONE_INLINE void InterleaveBody<uint8_t>(const ChannelPart& from_a, const ChannelPart& from_b,
                                             const Pixels& pixels) {
  for (int64_t pixel = pixels.first; pixel < pixels.last; ++pixel) {
    const auto* __restrict a = reinterpret_cast<const uint8_t*>(from_a.from + pixel * from_a.from_step);
    const auto* __restrict b = reinterpret_cast<const uint8_t*>(from_b.from + pixel * from_b.from_step);
    auto* __restrict y = reinterpret_cast<Unaligned16*>(pixels.to + pixel * pixels.to_step);
    for (int64_t i = 0; i < from_a.bytes; ++i) y[i] = static_cast<Unaligned16>(a[i] | b[i] << 8);
  }
}

using Copy = void (*)(std::span<const ChannelPart>, const Pixels&);
HALFTONE_FOR_AVX512 void Copy512(std::span<const ChannelPart> parts, const Pixels& pixels) {
  CopyBody<64>(parts, pixels);
}
HALFTONE_FOR_AVX2 void Copy256(std::span<const ChannelPart> parts, const Pixels& pixels) {
  CopyBody<32>(parts, pixels);
}
void CopyAny(std::span<const ChannelPart> parts, const Pixels& pixels) { CopyBody<16>(parts, pixels); }

using Interleave = void (*)(const ChannelPart&, const ChannelPart&, const Pixels&);
template <typename T>
struct Interleaves {
  HALFTONE_FOR_AVX512 static void For512(const ChannelPart& a, const ChannelPart& b, const Pixels& pixels) {
    InterleaveBody<T>(a, b, pixels);
  }
  HALFTONE_FOR_AVX2 static void For256(const ChannelPart& a, const ChannelPart& b, const Pixels& pixels) {
    InterleaveBody<T>(a, b, pixels);
  }
  static void ForAny(const ChannelPart& a, const ChannelPart& b, const Pixels& pixels) {
    InterleaveBody<T>(a, b, pixels);
  }
};

template <int kChannels, typename T>
HALFTONE_INLINE void PlanesBody(const float* __restrict x, int64_t pixels, T* __restrict y) {
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    for (int c = 0; c < kChannels; ++c) Store(&y[pixel * kChannels + c], x[c * pixels + pixel]);
  }
}

template <int kChannels, typename T>
struct Planes {
  using Loop = void (*)(const float*, int64_t, T*);
  HALFTONE_FOR_AVX512 static void Avx512(const float* x, int64_t pixels, T* y) { PlanesBody<kChannels>(x, pixels, y); }
  HALFTONE_FOR_AVX2 static void Avx2(const float* x, int64_t pixels, T* y) { PlanesBody<kChannels>(x, pixels, y); }
  static void Any(const float* x, int64_t pixels, T* y) { PlanesBody<kChannels>(x, pixels, y); }
  static void Run(const float* x, int64_t pixels, std::byte* y) {
    static const Loop loop = ForThisCpu<Loop>(Avx512, Avx2, Any);
    loop(x, pixels, reinterpret_cast<T*>(y));
  }
};

#if defined(__x86_64__)
// Where each byte of 64 pixels of three channels is: in planes 0 and 1, which lie after each other, or in plane 2.
struct ThreePlanes {
  alignas(64) uint8_t place[3][64];
  uint64_t of_last[3];
};
constexpr ThreePlanes MakeThreePlanes() {
  ThreePlanes planes{};
  for (int i = 0; i < 3 * 64; ++i) {
    const int channel = i % 3, pixel = i / 3;
    planes.place[i / 64][i % 64] = static_cast<uint8_t>(channel == 1 ? 64 + pixel : pixel);
    if (channel == 2) planes.of_last[i / 64] |= uint64_t{1} << i % 64;
  }
  return planes;
}
constexpr ThreePlanes kThreePlanes = MakeThreePlanes();

HALFTONE_FOR_AVX512_VBMI int64_t InterleaveThreeVbmi(const std::byte* x, int64_t pixels, std::byte* y) {
  int64_t pixel = 0;
  for (; pixel + 64 <= pixels; pixel += 64, y += 3 * 64) {
    const __m512i first = _mm512_loadu_si512(x + pixel), second = _mm512_loadu_si512(x + pixels + pixel);
    const __m512i last = _mm512_loadu_si512(x + 2 * pixels + pixel);
    for (int i = 0; i < 3; ++i) {
      const __m512i place = _mm512_load_si512(kThreePlanes.place[i]);
      const __m512i two = _mm512_permutex2var_epi8(first, place, second);
      _mm512_storeu_si512(y + i * 64, _mm512_mask_permutexvar_epi8(two, kThreePlanes.of_last[i], place, last));
    }
  }
  return pixel;
}
// How many pixels are done.
int64_t InterleaveThree(const std::byte* x, int64_t pixels, std::byte* y) {
  static const bool vbmi = HasAvx512Vbmi();
  return vbmi ? InterleaveThreeVbmi(x, pixels, y) : 0;
}
#else
int64_t InterleaveThree(const std::byte*, int64_t, std::byte*) { return 0; }
#endif

template <int kChannels>
HALFTONE_INLINE void BytePlanesBody(const std::byte* __restrict x, int64_t pixels, int64_t first,
                                    std::byte* __restrict y) {
  for (int64_t pixel = first; pixel < pixels; ++pixel) {
    for (int c = 0; c < kChannels; ++c) y[pixel * kChannels + c] = x[c * pixels + pixel];
  }
}
template <int kChannels>
struct BytePlanes {
  using Loop = void (*)(const std::byte*, int64_t, int64_t, std::byte*);
  HALFTONE_FOR_AVX512 static void Avx512(const std::byte* x, int64_t pixels, int64_t first, std::byte* y) {
    BytePlanesBody<kChannels>(x, pixels, first, y);
  }
  HALFTONE_FOR_AVX2 static void Avx2(const std::byte* x, int64_t pixels, int64_t first, std::byte* y) {
    BytePlanesBody<kChannels>(x, pixels, first, y);
  }
  static void Any(const std::byte* x, int64_t pixels, int64_t first, std::byte* y) {
    BytePlanesBody<kChannels>(x, pixels, first, y);
  }
  static void Run(const std::byte* x, int64_t pixels, int64_t first, std::byte* y) {
    static const Loop loop = ForThisCpu<Loop>(Avx512, Avx2, Any);
    loop(x, pixels, first, y);
  }
};

}  // namespace

void InterleaveBytePlanes(const std::byte* x, int64_t channels, int64_t pixels, std::byte* y) {
  if (channels == 2) return BytePlanes<2>::Run(x, pixels, 0, y);
  if (channels == 4) return BytePlanes<4>::Run(x, pixels, 0, y);
  BytePlanes<3>::Run(x, pixels, InterleaveThree(x, pixels, y), y);
}

void InterleavePlanes(const float* x, int64_t channels, int64_t pixels, DataType to, std::byte* y) {
  const bool narrow = to == DataType::kBFloat16;
  if (channels == 2) return narrow ? Planes<2, uint16_t>::Run(x, pixels, y) : Planes<2, float>::Run(x, pixels, y);
  if (channels == 3) return narrow ? Planes<3, uint16_t>::Run(x, pixels, y) : Planes<3, float>::Run(x, pixels, y);
  return narrow ? Planes<4, uint16_t>::Run(x, pixels, y) : Planes<4, float>::Run(x, pixels, y);
}

void CopyChannels(std::span<const ChannelPart> parts, const Pixels& pixels) {
  static const Copy copy = ForThisCpu<Copy>(Copy512, Copy256, CopyAny);
  copy(parts, pixels);
}

void InterleaveChannels(const ChannelPart& a, const ChannelPart& b, size_t element_bytes, const Pixels& pixels) {
  using Wide = Interleaves<uint32_t>;
  using Narrow = Interleaves<uint16_t>;
  using Byte = Interleaves<uint8_t>;
  static const Interleave wide = ForThisCpu<Interleave>(Wide::For512, Wide::For256, Wide::ForAny);
  static const Interleave narrow = ForThisCpu<Interleave>(Narrow::For512, Narrow::For256, Narrow::ForAny);
  static const Interleave byte = ForThisCpu<Interleave>(Byte::For512, Byte::For256, Byte::ForAny);
  (element_bytes == 4 ? wide : element_bytes == 2 ? narrow : byte)(a, b, pixels);
}

}  // namespace halftone::simd

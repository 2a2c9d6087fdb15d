#include "runtime/host/channel_copy.h"

#include <cstring>

#include "runtime/host/simd.h"
#include "runtime/host/vector_math.h"

namespace halftone::host {
namespace {

// A vector that may lie anywhere.
template <int kBytes>
using Vector [[gnu::vector_size(kBytes), gnu::aligned(1), gnu::may_alias]] = uint8_t;

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

// memcpy of a few vectors without its preparations.
HALFTONE_INLINE void CopyRun(const std::byte* from, std::byte* to, int64_t bytes) {
  if (bytes >= 64) {
    int64_t i = 0;
    for (; i + 64 <= bytes; i += 64) Move<64>(from + i, to + i);
    if (i < bytes) Move<64>(from + bytes - 64, to + bytes - 64);
  } else if (bytes >= 32) {
    Ends<32>(from, to, bytes);
  } else if (bytes >= 16) {
    Ends<16>(from, to, bytes);
  } else if (bytes >= 8) {
    Ends<8>(from, to, bytes);
  } else {
    for (int64_t i = 0; i < bytes; ++i) to[i] = from[i];
  }
}

HALFTONE_INLINE void CopyBody(std::span<const ChannelPart> parts, const Pixels& pixels) {
  for (int64_t pixel = pixels.first; pixel < pixels.last; ++pixel) {
    for (const ChannelPart& part : parts) {
      CopyRun(part.from + pixel * part.from_step, pixels.to + pixel * pixels.to_step + part.to, part.bytes);
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

using Copy = void (*)(std::span<const ChannelPart>, const Pixels&);
HALFTONE_FOR_AVX512 void Copy512(std::span<const ChannelPart> parts, const Pixels& pixels) { CopyBody(parts, pixels); }
HALFTONE_FOR_AVX2 void Copy256(std::span<const ChannelPart> parts, const Pixels& pixels) { CopyBody(parts, pixels); }
void CopyAny(std::span<const ChannelPart> parts, const Pixels& pixels) { CopyBody(parts, pixels); }

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

}  // namespace

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
  static const Interleave wide = ForThisCpu<Interleave>(Wide::For512, Wide::For256, Wide::ForAny);
  static const Interleave narrow = ForThisCpu<Interleave>(Narrow::For512, Narrow::For256, Narrow::ForAny);
  (element_bytes == 4 ? wide : narrow)(a, b, pixels);
}

}  // namespace halftone::host

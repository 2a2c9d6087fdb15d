// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/row_activation.h"

#include <limits>

#include "runtime/cpu/simd/vector_math.h"

namespace halftone::simd {
namespace {

// NaN stays NaN.
HALFTONE_INLINE float Clamped(float x, float low, float high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

// e^x - 1; near 0, where that cancels, by its series.
HALFTONE_INLINE float Expm1Of(float x) {
  float series = 1.0f / 720;
  series = series * x + 1.0f / 120;
  series = series * x + 1.0f / 24;
  series = series * x + 1.0f / 6;
  series = series * x + 0.5f;
  series = x + x * x * series;
  const float by_exp = ExpOf(x) - 1.0f;
  return x * x < 0.04f ? series : by_exp;
}

HALFTONE_INLINE float MishOf(float x) {
  const float e = x < -87.0f ? 0.0f : ExpOf(x > 20.0f ? 20.0f : x);
  const float n = e * (e + 2.0f);
  return x * (n / (n + 2.0f));
}

#define HALFTONE_FUNCTION(Name, expression)                                                               \
  struct Name {                                                                                           \
    static HALFTONE_INLINE float Of(float x, [[maybe_unused]] float alpha, [[maybe_unused]] float beta) { \
      return expression;                                                                                  \
    }                                                                                                     \
  };
HALFTONE_FUNCTION(Relu, x < 0 ? 0.0f : x)
HALFTONE_FUNCTION(Relu6, Clamped(x, 0.0f, 6.0f))
HALFTONE_FUNCTION(Clip, Clamped(x, alpha, beta))
HALFTONE_FUNCTION(Elu, x < 0 ? alpha * Expm1Of(x) : x)
HALFTONE_FUNCTION(LeakyRelu, x < 0 ? alpha * x : x)
HALFTONE_FUNCTION(Tanh, TanhOf(x))
HALFTONE_FUNCTION(Sigmoid, SigmoidOf(x))
HALFTONE_FUNCTION(Swish, x* SigmoidOf(alpha* x))
HALFTONE_FUNCTION(HardSwish, x* Clamped(x * (1.0f / 6) + 0.5f, 0.0f, 1.0f))
HALFTONE_FUNCTION(HardSigmoid, Clamped(alpha* x + beta, 0.0f, 1.0f))
HALFTONE_FUNCTION(Gelu, GeluOf(x))
HALFTONE_FUNCTION(GeluTanh, GeluTanhOf(x))
HALFTONE_FUNCTION(Mish, MishOf(x))
#undef HALFTONE_FUNCTION

template <typename F>
HALFTONE_INLINE void Loop(const float* x, float* y, int64_t count, float alpha, float beta) {
  for (int64_t i = 0; i < count; ++i) y[i] = F::Of(x[i], alpha, beta);
}

template <typename F>
struct Rows {
  HALFTONE_FOR_AVX512 static void Avx512(const float* x, float* y, int64_t n, float a, float b) {
    Loop<F>(x, y, n, a, b);
  }
  HALFTONE_FOR_AVX2 static void Avx2(const float* x, float* y, int64_t n, float a, float b) { Loop<F>(x, y, n, a, b); }
  static void Any(const float* x, float* y, int64_t n, float a, float b) { Loop<F>(x, y, n, a, b); }
  static ActivateRow Choose() { return ForThisCpu<ActivateRow>(Avx512, Avx2, Any); }
};

}  // namespace

ActivateRow RowActivation(Activation activation) {
  switch (activation) {
    case Activation::kNone:
      return nullptr;
    case Activation::kRelu:
      return Rows<Relu>::Choose();
    case Activation::kRelu6:
      return Rows<Relu6>::Choose();
    case Activation::kClip:
      return Rows<Clip>::Choose();
    case Activation::kElu:
      return Rows<Elu>::Choose();
    case Activation::kLeakyRelu:
      return Rows<LeakyRelu>::Choose();
    case Activation::kTanh:
      return Rows<Tanh>::Choose();
    case Activation::kSigmoid:
      return Rows<Sigmoid>::Choose();
    case Activation::kSwish:
      return Rows<Swish>::Choose();
    case Activation::kHardSwish:
      return Rows<HardSwish>::Choose();
    case Activation::kHardSigmoid:
      return Rows<HardSigmoid>::Choose();
    case Activation::kGelu:
      return Rows<Gelu>::Choose();
    case Activation::kGeluTanh:
      return Rows<GeluTanh>::Choose();
    case Activation::kMish:
      return Rows<Mish>::Choose();
  }
  return nullptr;
}

std::optional<ActivationClamp> ClampOf(Activation activation, float alpha, float beta) {
  switch (activation) {
    case Activation::kRelu:
      return ActivationClamp{0, std::numeric_limits<float>::infinity()};
    case Activation::kRelu6:
      return ActivationClamp{0, 6};
    case Activation::kClip:
      return ActivationClamp{alpha, beta};
    default:
      return std::nullopt;
  }
}

}  // namespace halftone::simd

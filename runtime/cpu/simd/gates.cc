// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/gates.h"

#include <bit>

#include "runtime/cpu/simd/vector_math.h"

namespace halftone::simd {
namespace {

using Kind = GateActivation::Kind;

// The bodies are compiled once for each kind of CPU, into functions that carry its attribute.

template <typename Function>
HALFTONE_INLINE void ForEach(float* x, int64_t count, const Function& function) {
  for (int64_t i = 0; i < count; ++i) x[i] = function(x[i]);
}

HALFTONE_INLINE void Clip(float limit, float* x, int64_t count) {
  if (limit <= 0) return;
  ForEach(x, count, [limit](float v) {
    v = v < -limit ? -limit : v;
    return v > limit ? limit : v;
  });
}

HALFTONE_INLINE void Activate(const GateActivation& activation, float* x, int64_t count) {
  const float alpha = static_cast<float>(activation.alpha), beta = static_cast<float>(activation.beta);
  switch (activation.kind) {
    case Kind::kSigmoid:
      return ForEach(x, count, [](float v) { return SigmoidByRatioOf(v); });
    case Kind::kTanh:
      return ForEach(x, count, [](float v) { return TanhOf(v); });
    case Kind::kRelu:
      return ForEach(x, count, [](float v) { return v < 0 ? 0.0f : v; });
    case Kind::kAffine:
      return ForEach(x, count, [=](float v) { return alpha * v + beta; });
    case Kind::kLeakyRelu:
      return ForEach(x, count, [=](float v) { return v < 0 ? alpha * v : v; });
    case Kind::kThresholdedRelu:
      return ForEach(x, count, [=](float v) { return v > alpha ? v : 0.0f; });
    case Kind::kScaledTanh:
      return ForEach(x, count, [=](float v) { return alpha * TanhOf(beta * v); });
    case Kind::kHardSigmoid:
      return ForEach(x, count, [=](float v) {
        v = alpha * v + beta;
        v = v < 0 ? 0.0f : v;
        return v > 1 ? 1.0f : v;
      });
    case Kind::kElu:
    case Kind::kSoftsign:
    case Kind::kSoftplus:  // rare: as exact as the libraries have them
      for (int64_t i = 0; i < count; ++i) x[i] = static_cast<float>(activation(x[i]));
  }
}

// Sigmoids, then tanhs, and nothing special: one pass does all.
HALFTONE_INLINE bool AreUsual(const GateRows& rows, int tanhs) {
  if (rows.clip > 0 || rows.input_forget || rows.peepholes != nullptr) return false;
  bool usual = rows.activations[0].kind == Kind::kSigmoid;
  for (int i = 1; i <= tanhs; ++i) usual &= rows.activations[i].kind == Kind::kTanh;
  return usual;
}

HALFTONE_INLINE void UsualLstmRow(int64_t n, const float* gates, float* c, float* h) {
  const float *i = gates, *o = gates + n, *f = gates + 2 * n, *g = gates + 3 * n;
  HALFTONE_IVDEP
  for (int64_t u = 0; u < n; ++u) {
    const float cell = SigmoidByRatioOf(f[u]) * c[u] + SigmoidByRatioOf(i[u]) * TanhOf(g[u]);
    c[u] = cell;
    h[u] = SigmoidByRatioOf(o[u]) * TanhOf(cell);
  }
}

HALFTONE_INLINE void LstmRow(const GateRows& rows, float* gates, float* c, float* h) {
  const int64_t n = rows.hidden;
  float *i = gates, *o = gates + n, *f = gates + 2 * n, *g = gates + 3 * n;
  if (rows.peepholes != nullptr) {
    const float *of_i = rows.peepholes, *of_f = rows.peepholes + 2 * n;
    for (int64_t u = 0; u < n; ++u) i[u] += of_i[u] * c[u];
    for (int64_t u = 0; u < n; ++u) f[u] += of_f[u] * c[u];
  }
  Clip(rows.clip, i, n);
  Activate(rows.activations[0], i, n);
  if (rows.input_forget) {
    for (int64_t u = 0; u < n; ++u) f[u] = 1.0f - i[u];
  } else {
    Clip(rows.clip, f, n);
    Activate(rows.activations[0], f, n);
  }
  Clip(rows.clip, g, n);
  Activate(rows.activations[1], g, n);
  for (int64_t u = 0; u < n; ++u) c[u] = f[u] * c[u] + i[u] * g[u];
  if (rows.peepholes != nullptr) {
    const float* of_o = rows.peepholes + n;
    for (int64_t u = 0; u < n; ++u) o[u] += of_o[u] * c[u];
  }
  Clip(rows.clip, o, n);
  Activate(rows.activations[0], o, n);
  for (int64_t u = 0; u < n; ++u) h[u] = c[u];
  Activate(rows.activations[2], h, n);
  for (int64_t u = 0; u < n; ++u) h[u] *= o[u];
}

HALFTONE_INLINE void LstmBody(const GateRows& rows) {
  const int64_t n = rows.hidden;
  const bool usual = AreUsual(rows, /*tanhs=*/2);
  for (int64_t b = 0; b < rows.count; ++b) {
    float *gates = rows.gates + b * 4 * n, *c = rows.c + b * n, *h = rows.h + b * n;
    usual ? UsualLstmRow(n, gates, c, h) : LstmRow(rows, gates, c, h);
  }
}

// How much of z row b keeps.
HALFTONE_INLINE float KeptOf(const GateRows& rows, int64_t b) {
  return rows.attention == nullptr ? 1.0f : 1.0f - rows.attention[b * rows.attention_stride];
}

// z and candidate to the new state.
HALFTONE_INLINE void MixRow(int64_t n, float kept, const float* gates, float* h) {
  const float *z = gates, *candidate = gates + 2 * n;
  HALFTONE_IVDEP
  for (int64_t u = 0; u < n; ++u) h[u] = (1.0f - kept * z[u]) * candidate[u] + kept * z[u] * h[u];
}

HALFTONE_INLINE void UsualGruLinearRow(int64_t n, float kept, const float* gates, const float* from_h, float* h) {
  HALFTONE_IVDEP
  for (int64_t u = 0; u < n; ++u) {
    const float z = kept * SigmoidByRatioOf(gates[u] + from_h[u]);
    const float r = SigmoidByRatioOf(gates[n + u] + from_h[n + u]);
    const float candidate = TanhOf(gates[2 * n + u] + r * from_h[2 * n + u]);
    h[u] = (1.0f - z) * candidate + z * h[u];
  }
}

HALFTONE_INLINE void GruLinearRow(const GateRows& rows, float kept, float* gates, const float* from_h, float* h) {
  const int64_t n = rows.hidden;
  float *r = gates + n, *candidate = gates + 2 * n;
  for (int64_t u = 0; u < 2 * n; ++u) gates[u] += from_h[u];
  Clip(rows.clip, gates, 2 * n);
  Activate(rows.activations[0], gates, 2 * n);
  for (int64_t u = 0; u < n; ++u) candidate[u] += r[u] * from_h[2 * n + u];
  Clip(rows.clip, candidate, n);
  Activate(rows.activations[1], candidate, n);
  MixRow(n, kept, gates, h);
}

HALFTONE_INLINE void GruLinearBody(const GateRows& rows) {
  const int64_t n = rows.hidden;
  const bool usual = AreUsual(rows, /*tanhs=*/1);
  for (int64_t b = 0; b < rows.count; ++b) {
    float *gates = rows.gates + b * 3 * n, *h = rows.h + b * n;
    const float *from_h = rows.recurrent + b * 3 * n, kept = KeptOf(rows, b);
    usual ? UsualGruLinearRow(n, kept, gates, from_h, h) : GruLinearRow(rows, kept, gates, from_h, h);
  }
}

HALFTONE_INLINE void GruResetBody(const GateRows& rows) {
  const int64_t n = rows.hidden;
  for (int64_t b = 0; b < rows.count; ++b) {
    float* gates = rows.gates + b * 3 * n;
    Clip(rows.clip, gates, 2 * n);
    Activate(rows.activations[0], gates, 2 * n);
    const float *r = gates + n, *h = rows.h + b * n;
    float* reset_h = rows.reset_h + b * n;
    for (int64_t u = 0; u < n; ++u) reset_h[u] = r[u] * h[u];
  }
}

HALFTONE_INLINE void GruFinishBody(const GateRows& rows) {
  const int64_t n = rows.hidden;
  for (int64_t b = 0; b < rows.count; ++b) {
    float* gates = rows.gates + b * 3 * n;
    Clip(rows.clip, gates + 2 * n, n);
    Activate(rows.activations[1], gates + 2 * n, n);
    MixRow(n, KeptOf(rows, b), gates, rows.h + b * n);
  }
}

HALFTONE_INLINE void RnnBody(const GateRows& rows) {
  const int64_t n = rows.hidden * rows.count;
  Clip(rows.clip, rows.gates, n);
  Activate(rows.activations[0], rows.gates, n);
  for (int64_t u = 0; u < n; ++u) rows.h[u] = rows.gates[u];
}

// Maximum and sum in 16 parts, which vectorize.
HALFTONE_INLINE void SoftmaxBody(float* x, int64_t count, float scale, const float* first, const float* second) {
  for (int64_t i = 0; i < count; ++i) x[i] *= scale;
  if (first != nullptr) {
    for (int64_t i = 0; i < count; ++i) x[i] += first[i];
  }
  if (second != nullptr) {
    for (int64_t i = 0; i < count; ++i) x[i] += second[i];
  }
  constexpr int kParts = 16;
  const int64_t whole = count / kParts * kParts;
  float parts[kParts];
  for (float& part : parts) part = x[0];
  for (int64_t i = 0; i < whole; i += kParts) {
    for (int k = 0; k < kParts; ++k) parts[k] = x[i + k] > parts[k] ? x[i + k] : parts[k];
  }
  float largest = x[0];
  for (const float part : parts) largest = part > largest ? part : largest;
  for (int64_t i = whole; i < count; ++i) largest = x[i] > largest ? x[i] : largest;
  for (int64_t i = 0; i < count; ++i) x[i] = ExpOf(x[i] - largest);
  for (float& part : parts) part = 0;
  for (int64_t i = 0; i < whole; i += kParts) {
    for (int k = 0; k < kParts; ++k) parts[k] += x[i + k];
  }
  float sum = 0;
  for (const float part : parts) sum += part;
  for (int64_t i = whole; i < count; ++i) sum += x[i];
  const float inverse = 1.0f / sum;
  for (int64_t k = 0; k < count; ++k) x[k] *= inverse;
}

HALFTONE_INLINE void ToBf16Body(const float* from, uint16_t* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t bits = std::bit_cast<uint32_t>(from[i]);
    const uint32_t rounded = bits + 0x7FFF + ((bits >> 16) & 1);
    const bool is_nan = (bits & 0x7FFFFFFF) > 0x7F800000;
    to[i] = static_cast<uint16_t>((is_nan ? bits | 0x400000 : rounded) >> 16);
  }
}

HALFTONE_INLINE void FromBf16Body(const uint16_t* from, float* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = std::bit_cast<float>(static_cast<uint32_t>(from[i]) << 16);
}

#define HALFTONE_FOR_CPU(name, attribute)                                                                         \
  struct name {                                                                                                   \
    attribute static void Lstm(const GateRows& rows) { LstmBody(rows); }                                          \
    attribute static void GruLinear(const GateRows& rows) { GruLinearBody(rows); }                                \
    attribute static void GruReset(const GateRows& rows) { GruResetBody(rows); }                                  \
    attribute static void GruFinish(const GateRows& rows) { GruFinishBody(rows); }                                \
    attribute static void Rnn(const GateRows& rows) { RnnBody(rows); }                                            \
    attribute static void ToBf16(const float* from, uint16_t* to, int64_t n) { ToBf16Body(from, to, n); }         \
    attribute static void FromBf16(const uint16_t* from, float* to, int64_t n) { FromBf16Body(from, to, n); }     \
    attribute static void Softmax(float* x, int64_t n, float scale, const float* first, const float* second) {    \
      SoftmaxBody(x, n, scale, first, second);                                                                    \
    }                                                                                                             \
    static constexpr GateFunctions kAll = {Lstm, GruLinear, GruReset, GruFinish, Rnn, ToBf16, FromBf16, Softmax}; \
  };

HALFTONE_FOR_CPU(Avx512, HALFTONE_FOR_AVX512)
HALFTONE_FOR_CPU(Avx2, HALFTONE_FOR_AVX2)
HALFTONE_FOR_CPU(Plain, )

}  // namespace

const GateFunctions& GateFunctionsForThisCpu() {
  static const GateFunctions& functions = ForThisCpu(Avx512::kAll, Avx2::kAll, Plain::kAll);
  return functions;
}

}  // namespace halftone::simd

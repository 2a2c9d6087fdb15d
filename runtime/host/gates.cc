#include "runtime/host/gates.h"

#include <bit>

#include "runtime/host/vector_math.h"

namespace halftone::host {
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
      return ForEach(x, count, [](float v) { return SigmoidOf(v); });
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

HALFTONE_INLINE void LstmBody(const GateRow& row) {
  const int64_t n = row.hidden;
  float *i = row.gates, *o = row.gates + n, *f = row.gates + 2 * n, *g = row.gates + 3 * n, *c = row.c, *h = row.h;
  if (row.peepholes != nullptr) {
    const float *of_i = row.peepholes, *of_f = row.peepholes + 2 * n;
    for (int64_t u = 0; u < n; ++u) i[u] += of_i[u] * c[u];
    for (int64_t u = 0; u < n; ++u) f[u] += of_f[u] * c[u];
  }
  Clip(row.clip, i, n);
  Activate(row.activations[0], i, n);
  if (row.input_forget) {
    for (int64_t u = 0; u < n; ++u) f[u] = 1.0f - i[u];
  } else {
    Clip(row.clip, f, n);
    Activate(row.activations[0], f, n);
  }
  Clip(row.clip, g, n);
  Activate(row.activations[1], g, n);
  for (int64_t u = 0; u < n; ++u) c[u] = f[u] * c[u] + i[u] * g[u];
  if (row.peepholes != nullptr) {
    const float* of_o = row.peepholes + n;
    for (int64_t u = 0; u < n; ++u) o[u] += of_o[u] * c[u];
  }
  Clip(row.clip, o, n);
  Activate(row.activations[0], o, n);
  for (int64_t u = 0; u < n; ++u) h[u] = c[u];
  Activate(row.activations[2], h, n);
  for (int64_t u = 0; u < n; ++u) h[u] *= o[u];
}

// z and candidate to the new state.
HALFTONE_INLINE void MixBody(const GateRow& row) {
  const int64_t n = row.hidden;
  const float *z = row.gates, *candidate = row.gates + 2 * n;
  float* h = row.h;
  for (int64_t u = 0; u < n; ++u) h[u] = (1.0f - z[u]) * candidate[u] + z[u] * h[u];
}

HALFTONE_INLINE void GruLinearBody(const GateRow& row) {
  const int64_t n = row.hidden;
  float *zr = row.gates, *r = row.gates + n, *candidate = row.gates + 2 * n;
  const float *from_h = row.recurrent, *candidate_from_h = row.recurrent + 2 * n;
  for (int64_t u = 0; u < 2 * n; ++u) zr[u] += from_h[u];
  Clip(row.clip, zr, 2 * n);
  Activate(row.activations[0], zr, 2 * n);
  for (int64_t u = 0; u < n; ++u) candidate[u] += r[u] * candidate_from_h[u];
  Clip(row.clip, candidate, n);
  Activate(row.activations[1], candidate, n);
  MixBody(row);
}

HALFTONE_INLINE void GruResetBody(const GateRow& row) {
  const int64_t n = row.hidden;
  Clip(row.clip, row.gates, 2 * n);
  Activate(row.activations[0], row.gates, 2 * n);
  const float *r = row.gates + n, *h = row.h;
  float* reset_h = row.reset_h;
  for (int64_t u = 0; u < n; ++u) reset_h[u] = r[u] * h[u];
}

HALFTONE_INLINE void GruFinishBody(const GateRow& row) {
  const int64_t n = row.hidden;
  Clip(row.clip, row.gates + 2 * n, n);
  Activate(row.activations[1], row.gates + 2 * n, n);
  MixBody(row);
}

HALFTONE_INLINE void RnnBody(const GateRow& row) {
  const int64_t n = row.hidden;
  Clip(row.clip, row.gates, n);
  Activate(row.activations[0], row.gates, n);
  for (int64_t u = 0; u < n; ++u) row.h[u] = row.gates[u];
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
    attribute static void Lstm(const GateRow& row) { LstmBody(row); }                                             \
    attribute static void GruLinear(const GateRow& row) { GruLinearBody(row); }                                   \
    attribute static void GruReset(const GateRow& row) { GruResetBody(row); }                                     \
    attribute static void GruFinish(const GateRow& row) { GruFinishBody(row); }                                   \
    attribute static void Rnn(const GateRow& row) { RnnBody(row); }                                               \
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

}  // namespace halftone::host

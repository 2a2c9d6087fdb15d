// SPDX-License-Identifier: Apache-2.0
// The inner loops of chain.h: T says how numbers come from memory and go back, and how many a vector has. Included by
// chain.cc and chain_bf16.cc, each for its own instructions; no other file may include it.
#include <algorithm>
#include <cstring>
#include <limits>

#include "runtime/cpu/simd/chain_kinds.h"
#include "runtime/cpu/simd/simd.h"
#include "runtime/cpu/simd/vectors.h"

namespace halftone::simd {
namespace {

// acc = function(acc, next), where next(v) is the vector for acc[v].
template <int V, typename Floats, typename Next>
HALFTONE_INLINE void Apply(ChainFunction function, const Next& next, Floats (&acc)[V]) {
  switch (function) {
    case ChainFunction::kAdd:
      for (int v = 0; v < V; ++v) acc[v] += next(v);
      break;
    case ChainFunction::kSub:
      for (int v = 0; v < V; ++v) acc[v] -= next(v);
      break;
    case ChainFunction::kReverseSub:
      for (int v = 0; v < V; ++v) acc[v] = next(v) - acc[v];
      break;
    case ChainFunction::kMul:
      for (int v = 0; v < V; ++v) acc[v] *= next(v);
      break;
    case ChainFunction::kDiv:
      for (int v = 0; v < V; ++v) acc[v] /= next(v);
      break;
    case ChainFunction::kReverseDiv:
      for (int v = 0; v < V; ++v) acc[v] = next(v) / acc[v];
      break;
    case ChainFunction::kMax:  // NaN stays NaN
      for (int v = 0; v < V; ++v) {
        const Floats n = next(v);
        acc[v] = ((acc[v] != acc[v]) | (acc[v] > n)) ? acc[v] : n;
      }
      break;
    case ChainFunction::kMin:
      for (int v = 0; v < V; ++v) {
        const Floats n = next(v);
        acc[v] = ((acc[v] != acc[v]) | (acc[v] < n)) ? acc[v] : n;
      }
      break;
  }
}

template <typename T, int V>
HALFTONE_INLINE void LoadOperand(const typename T::Stored* x, int64_t step, typename T::Floats (&to)[V]) {
  if (step == 1) {
    T::template LoadAll<V>(x, to);
  } else if (step == 0) {
    for (int v = 0; v < V; ++v) to[v] = typename T::Floats{} + Load(x);
  } else {
    typename T::Stored picked[T::kLanes * V];
    for (int i = 0; i < T::kLanes * V; ++i) picked[i] = x[i * step];
    T::template LoadAll<V>(picked, to);
  }
}

// What stands in memory as it is computed with is no array in between, which might not fit the registers.
template <typename T, int V>
HALFTONE_INLINE void ApplyOperand(ChainFunction function, const typename T::Stored* x, int64_t step,
                                  typename T::Floats (&acc)[V]) {
  if (step == 0) {
    const typename T::Floats number = typename T::Floats{} + Load(x);
    Apply(function, [&](int) { return number; }, acc);
    return;
  }
  if constexpr (T::kLoadsOne) {
    if (step == 1) {
      Apply(function, [&](int v) { return LoadFloats<typename T::Floats>(x + T::kLanes * v); }, acc);
      return;
    }
  }
  typename T::Floats next[V];
  LoadOperand<T, V>(x, step, next);
  Apply(function, [&](int v) { return next[v]; }, acc);
}

template <int V, typename Floats>
HALFTONE_INLINE void Activate(const ChainCode& chain, Floats (&numbers)[V]) {
  constexpr int kLanes = kLanesOf<Floats>;
  if (chain.clamps) {
    for (int v = 0; v < V; ++v) {
      Floats x = numbers[v];
      x = x < chain.low ? Floats{} + chain.low : x;
      if (chain.high < std::numeric_limits<float>::infinity()) x = x > chain.high ? Floats{} + chain.high : x;
      numbers[v] = x;
    }
  } else if (chain.activate != nullptr) {
    float memory[kLanes * V];
    for (int v = 0; v < V; ++v) StoreFloats(memory + kLanes * v, numbers[v]);
    chain.activate(memory, memory, kLanes * V, chain.alpha, chain.beta);
    for (int v = 0; v < V; ++v) numbers[v] = LoadFloats<Floats>(memory + kLanes * v);
  }
}

// The results of V vectors from element i of a row on.
template <typename T, int V>
HALFTONE_INLINE void Compute(const ChainCode& chain, const ChainPieces& p, int64_t i, typename T::Floats (&acc)[V]) {
  const auto at = [&](int k) { return reinterpret_cast<const typename T::Stored*>(p.from[k]) + i * p.step[k]; };
  LoadOperand<T, V>(at(0), p.step[0], acc);
  for (int k = 1; k < chain.operands; ++k) {
    ApplyOperand<T, V>(chain.functions[k], at(k), p.step[k], acc);
  }
  Activate(chain, acc);
}

// A row of at least V vectors. What the last vectors have in common with those before is computed twice, before it
// is written.
template <typename T, int V>
HALFTONE_INLINE void LongRow(const ChainCode& chain, const ChainPieces& p) {
  auto* y = reinterpret_cast<typename T::Stored*>(p.y);
  const int64_t last = p.count - T::kLanes * V;
  typename T::Floats end[V];
  Compute<T, V>(chain, p, last, end);
  for (int64_t i = 0; i < last; i += T::kLanes * V) {
    typename T::Floats acc[V];
    Compute<T, V>(chain, p, i, acc);
    T::template StoreAll<V>(y + i, acc);
  }
  T::template StoreAll<V>(y + last, end);
}

// A row of fewer elements than the least that is loaded at once.
template <typename T>
HALFTONE_INLINE void ShortRow(const ChainCode& chain, const ChainPieces& p) {
  using Stored = typename T::Stored;
  constexpr int V = T::kVectors;
  Stored copies[kMostChainOperands][T::kLanes * V];
  ChainPieces whole;
  const size_t bytes = static_cast<size_t>(p.count) * sizeof(Stored);
  for (int k = 0; k < chain.operands; ++k) {
    const Stored* from = reinterpret_cast<const Stored*>(p.from[k]);
    if (p.step[k] == 1) {
      std::memcpy(copies[k], from, bytes);
    } else {
      for (int64_t i = 0; i < p.count; ++i) copies[k][i] = from[i * p.step[k]];
    }
    std::fill(copies[k] + p.count, copies[k] + T::kLanes * V, Stored{0});
    whole.from[k] = reinterpret_cast<const std::byte*>(copies[k]);
    whole.step[k] = 1;
  }
  typename T::Floats acc[V];
  Compute<T, V>(chain, whole, 0, acc);
  Stored results[T::kLanes * V];
  T::template StoreAll<V>(results, acc);
  std::memcpy(p.y, results, bytes);
}

template <typename T>
HALFTONE_INLINE void Body(const ChainCode& chain, ChainPieces p) {
  constexpr int64_t kBytes = sizeof(typename T::Stored);
  for (int64_t row = 0; row < p.rows; ++row) {
    if (p.count >= T::kLanes * T::kMostVectors) {
      LongRow<T, T::kMostVectors>(chain, p);
    } else if (p.count >= T::kLanes * T::kVectors) {
      LongRow<T, T::kVectors>(chain, p);
    } else {
      ShortRow<T>(chain, p);
    }
    for (int k = 0; k < chain.operands; ++k) p.from[k] += p.row_step[k] * kBytes;
    p.y += p.count * kBytes;
  }
}

}  // namespace
}  // namespace halftone::simd

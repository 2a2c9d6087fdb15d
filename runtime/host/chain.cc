#include "runtime/host/chain.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "runtime/host/parallel.h"
#include "runtime/host/row_activation.h"
#include "runtime/host/simd.h"
#include "runtime/host/vector16.h"

namespace halftone::host {
namespace {

constexpr int64_t kGrain = 16384;  // elements that are worth a thread
constexpr int kMostVectors = 4;    // of 16 numbers, in registers at a time
constexpr int kMostOperands = 16;

enum class Function : uint8_t { kAdd, kSub, kReverseSub, kMul, kDiv, kReverseDiv, kMax, kMin };

std::optional<Function> FunctionOf(const ChainStep& step) {
  switch (step.op) {
    case OpKind::kAdd:
      return Function::kAdd;
    case OpKind::kSub:
      return step.reversed ? Function::kReverseSub : Function::kSub;
    case OpKind::kMul:
      return Function::kMul;
    case OpKind::kDiv:
      return step.reversed ? Function::kReverseDiv : Function::kDiv;
    case OpKind::kMaximum:
      return Function::kMax;
    case OpKind::kMinimum:
      return Function::kMin;
    default:
      return std::nullopt;
  }
}

// What the loops know of a chain.
struct Chain {
  int operands = 0;
  Function functions[kMostOperands] = {};  // of operand i: with what stands before it
  bool clamps = false;                     // the activation is a clamp
  float low = 0, high = 0;
  ActivateRow activate = nullptr;  // else
  float alpha = 0, beta = 0;
};

// Rows of `count` elements. Of an operand: from element to element, 0 or more; from row to row.
struct Pieces {
  int64_t rows = 0, count = 0;
  const std::byte* from[kMostOperands] = {};
  int64_t step[kMostOperands] = {}, row_step[kMostOperands] = {};
  std::byte* y = nullptr;
};

// acc = function(acc, next)
template <int V>
HALFTONE_INLINE void Apply(Function function, const Floats (&next)[V], Floats (&acc)[V]) {
  switch (function) {
    case Function::kAdd:
      for (int v = 0; v < V; ++v) acc[v] += next[v];
      break;
    case Function::kSub:
      for (int v = 0; v < V; ++v) acc[v] -= next[v];
      break;
    case Function::kReverseSub:
      for (int v = 0; v < V; ++v) acc[v] = next[v] - acc[v];
      break;
    case Function::kMul:
      for (int v = 0; v < V; ++v) acc[v] *= next[v];
      break;
    case Function::kDiv:
      for (int v = 0; v < V; ++v) acc[v] /= next[v];
      break;
    case Function::kReverseDiv:
      for (int v = 0; v < V; ++v) acc[v] = next[v] / acc[v];
      break;
    case Function::kMax:  // NaN stays NaN
      for (int v = 0; v < V; ++v) acc[v] = (acc[v] != acc[v]) | (acc[v] > next[v]) ? acc[v] : next[v];
      break;
    case Function::kMin:
      for (int v = 0; v < V; ++v) acc[v] = (acc[v] != acc[v]) | (acc[v] < next[v]) ? acc[v] : next[v];
      break;
  }
}

// V vectors of numbers from memory and back.
struct OfF32 {
  using Stored = float;
  static constexpr int kVectors = 1;  // the least that is loaded at once
  template <int V>
  static HALFTONE_INLINE void LoadAll(const float* x, Floats (&to)[V]) {
    for (int v = 0; v < V; ++v) to[v] = LoadFloats(x + 16 * v);
  }
  template <int V>
  static HALFTONE_INLINE void StoreAll(float* y, const Floats (&from)[V]) {
    for (int v = 0; v < V; ++v) StoreFloats(y + 16 * v, from[v]);
  }
};
struct OfBf16 {
  using Stored = uint16_t;
  static constexpr int kVectors = 2;  // the even and the odd ones
  template <int V>
  static HALFTONE_INLINE void LoadAll(const uint16_t* x, Floats (&to)[V]) {
    for (int v = 0; v < V; v += 2) {
      const Pair pair = LoadPair(x + 16 * v);
      to[v] = pair.even;
      to[v + 1] = pair.odd;
    }
  }
  template <int V>
  static HALFTONE_INLINE void StoreAll(uint16_t* y, const Floats (&from)[V]) {
    for (int v = 0; v < V; v += 2) StorePair(y + 16 * v, {from[v], from[v + 1]});
  }
};

template <typename T, int V>
HALFTONE_INLINE void LoadOperand(const typename T::Stored* x, int64_t step, Floats (&to)[V]) {
  if (step == 1) {
    T::template LoadAll<V>(x, to);
  } else if (step == 0) {
    for (int v = 0; v < V; ++v) to[v] = Floats{} + Load(x);
  } else {
    typename T::Stored picked[16 * V];
    for (int i = 0; i < 16 * V; ++i) picked[i] = x[i * step];
    T::template LoadAll<V>(picked, to);
  }
}

template <int V>
HALFTONE_INLINE void Activate(const Chain& chain, Floats (&numbers)[V]) {
  if (chain.clamps) {
    for (int v = 0; v < V; ++v) {
      Floats x = numbers[v];
      x = x < chain.low ? Floats{} + chain.low : x;
      numbers[v] = x > chain.high ? Floats{} + chain.high : x;
    }
  } else if (chain.activate != nullptr) {
    float memory[16 * V];
    for (int v = 0; v < V; ++v) StoreFloats(memory + 16 * v, numbers[v]);
    chain.activate(memory, 16 * V, chain.alpha, chain.beta);
    for (int v = 0; v < V; ++v) numbers[v] = LoadFloats(memory + 16 * v);
  }
}

// The results of 16 V elements from element i of a row on.
template <typename T, int V>
HALFTONE_INLINE void Compute(const Chain& chain, const Pieces& p, int64_t i, Floats (&acc)[V]) {
  const auto at = [&](int k) { return reinterpret_cast<const typename T::Stored*>(p.from[k]) + i * p.step[k]; };
  LoadOperand<T, V>(at(0), p.step[0], acc);
  for (int k = 1; k < chain.operands; ++k) {
    Floats next[V];
    LoadOperand<T, V>(at(k), p.step[k], next);
    Apply<V>(chain.functions[k], next, acc);
  }
  Activate<V>(chain, acc);
}

// A row of at least 16 V elements. What the last vectors have in common with those before is computed twice, before it
// is written.
template <typename T, int V>
HALFTONE_INLINE void LongRow(const Chain& chain, const Pieces& p) {
  auto* y = reinterpret_cast<typename T::Stored*>(p.y);
  const int64_t last = p.count - 16 * V;
  Floats end[V];
  Compute<T, V>(chain, p, last, end);
  for (int64_t i = 0; i < last; i += 16 * V) {
    Floats acc[V];
    Compute<T, V>(chain, p, i, acc);
    T::template StoreAll<V>(y + i, acc);
  }
  T::template StoreAll<V>(y + last, end);
}

// A row of fewer elements than the least that is loaded at once.
template <typename T>
HALFTONE_INLINE void ShortRow(const Chain& chain, const Pieces& p) {
  using Stored = typename T::Stored;
  constexpr int V = T::kVectors;
  Stored copies[kMostOperands][16 * V];
  Pieces whole;
  const size_t bytes = static_cast<size_t>(p.count) * sizeof(Stored);
  for (int k = 0; k < chain.operands; ++k) {
    const Stored* from = reinterpret_cast<const Stored*>(p.from[k]);
    if (p.step[k] == 1) {
      std::memcpy(copies[k], from, bytes);
    } else {
      for (int64_t i = 0; i < p.count; ++i) copies[k][i] = from[i * p.step[k]];
    }
    std::fill(copies[k] + p.count, copies[k] + 16 * V, Stored{0});
    whole.from[k] = reinterpret_cast<const std::byte*>(copies[k]);
    whole.step[k] = 1;
  }
  Floats acc[V];
  Compute<T, V>(chain, whole, 0, acc);
  Stored results[16 * V];
  T::template StoreAll<V>(results, acc);
  std::memcpy(p.y, results, bytes);
}

template <typename T>
HALFTONE_INLINE void Body(const Chain& chain, Pieces p) {
  constexpr int64_t kBytes = sizeof(typename T::Stored);
  for (int64_t row = 0; row < p.rows; ++row) {
    if (p.count >= 16 * kMostVectors) {
      LongRow<T, kMostVectors>(chain, p);
    } else if (p.count >= 16 * T::kVectors) {
      LongRow<T, T::kVectors>(chain, p);
    } else {
      ShortRow<T>(chain, p);
    }
    for (int k = 0; k < chain.operands; ++k) p.from[k] += p.row_step[k] * kBytes;
    p.y += p.count * kBytes;
  }
}

using Loop = void (*)(const Chain& chain, const Pieces& pieces);
template <typename T>
struct Loops {
  HALFTONE_FOR_AVX512 static void Avx512(const Chain& chain, const Pieces& p) { Body<T>(chain, p); }
  HALFTONE_FOR_AVX2 static void Avx2(const Chain& chain, const Pieces& p) { Body<T>(chain, p); }
  static void Any(const Chain& chain, const Pieces& p) { Body<T>(chain, p); }
  static Loop Choose() { return ForThisCpu<Loop>(Avx512, Avx2, Any); }
};

class ChainLoop final : public Step {
 public:
  ChainLoop(ChainTask task, const Chain& chain)
      : chain_(chain),
        loop_(task.type == DataType::kBFloat16 ? Loops<OfBf16>::Choose() : Loops<OfF32>::Choose()),
        bytes_(static_cast<int64_t>(ElementSize(task.type))),
        dims_(std::move(task.dims)),
        strides_(std::move(task.strides)) {
    for (size_t i = dims_.size(); i-- > 0;) {
      if (dims_[i] == 1) Remove(i);
    }
    for (size_t i = dims_.size(); i-- > 1;) {  // rows as long as possible
      if (!CanMerge(i)) continue;
      dims_[i - 1] *= dims_[i];
      for (std::vector<int64_t>& strides : strides_) strides[i - 1] = strides[i];
      Remove(i);
    }
    while (dims_.size() < 2) {
      dims_.insert(dims_.begin(), 1);
      for (std::vector<int64_t>& strides : strides_) strides.insert(strides.begin(), 0);
    }
  }

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) override {
    from_.assign(inputs.begin(), inputs.end());
    y_ = outputs[0];
  }

  absl::Status Run() override {
    const int64_t count = dims_.back();
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < dims_.size(); ++i) rows *= dims_[i];
    if (rows == 1) {
      ParallelFor(count, kGrain, [&](int64_t first, int64_t last) { RunRows(0, 1, first, last); });
    } else {
      ParallelFor(rows, kGrain / count + 1, [&](int64_t first, int64_t last) { RunRows(first, last, 0, count); });
    }
    return absl::OkStatus();
  }

 private:
  bool CanMerge(size_t i) const {
    return std::ranges::all_of(
        strides_, [&](const std::vector<int64_t>& strides) { return strides[i - 1] == strides[i] * dims_[i]; });
  }
  void Remove(size_t i) {
    dims_.erase(dims_.begin() + static_cast<int64_t>(i));
    for (std::vector<int64_t>& strides : strides_) strides.erase(strides.begin() + static_cast<int64_t>(i));
  }

  // Elements [begin, end) of rows [first, last); those that follow each other along the second dimension from the end
  // go to the loop together.
  void RunRows(int64_t first, int64_t last, int64_t begin, int64_t end) const {
    const size_t inner = dims_.size() - 1, rows = inner - 1;
    while (first < last) {
      const int64_t in_block = first % dims_[rows];
      Pieces p{.rows = std::min(last - first, dims_[rows] - in_block), .count = end - begin};
      for (int k = 0; k < chain_.operands; ++k) {
        const std::vector<int64_t>& strides = strides_[k];
        int64_t offset = begin * strides[inner], rest = first;
        for (size_t i = inner; i-- > 0;) {
          offset += rest % dims_[i] * strides[i];
          rest /= dims_[i];
        }
        p.from[k] = from_[k] + offset * bytes_;
        p.step[k] = strides[inner];
        p.row_step[k] = strides[rows];
      }
      p.y = y_ + (first * dims_[inner] + begin) * bytes_;
      loop_(chain_, p);
      first += p.rows;
    }
  }

  const Chain chain_;
  const Loop loop_;
  const int64_t bytes_;
  std::vector<int64_t> dims_;
  std::vector<std::vector<int64_t>> strides_;
  std::vector<const std::byte*> from_;
  std::byte* y_ = nullptr;
};

}  // namespace

std::unique_ptr<Step> MakeChainStep(ChainTask task) {
  Chain chain{.operands = static_cast<int>(task.steps.size()) + 1};
  if (chain.operands > kMostOperands) return nullptr;
  for (int k = 1; k < chain.operands; ++k) {
    const std::optional<Function> function = FunctionOf(task.steps[k - 1]);
    if (!function.has_value()) return nullptr;
    chain.functions[k] = *function;
  }
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  chain.clamps = true;
  switch (task.activation) {
    case Activation::kRelu:
      chain.high = kInfinity;
      break;
    case Activation::kRelu6:
      chain.high = 6;
      break;
    case Activation::kClip:
      chain.low = task.alpha;
      chain.high = task.beta;
      break;
    default:
      chain.clamps = false;
      chain.activate = RowActivation(task.activation);
      chain.alpha = task.alpha;
      chain.beta = task.beta;
  }
  return std::make_unique<ChainLoop>(std::move(task), chain);
}

}  // namespace halftone::host

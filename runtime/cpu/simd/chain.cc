// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/simd/chain.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "runtime/cpu/simd/chain_loops.h"
#include "runtime/cpu/simd/parallel.h"

namespace halftone::simd {
namespace {

constexpr int64_t kGrain = 16384;  // elements that are worth a thread
constexpr int64_t kShortRow = 64;  // elements: shorter ones are worth putting together
constexpr int64_t kLongestTile = 1024;
constexpr int64_t kMostExpanded = 1 << 16;  // elements of a step: they stay in the L2 cache

std::optional<ChainFunction> FunctionOf(const ChainStep& step) {
  switch (step.op) {
    case OpKind::kAdd:
      return ChainFunction::kAdd;
    case OpKind::kSub:
      return step.reversed ? ChainFunction::kReverseSub : ChainFunction::kSub;
    case OpKind::kMul:
      return ChainFunction::kMul;
    case OpKind::kDiv:
      return step.reversed ? ChainFunction::kReverseDiv : ChainFunction::kDiv;
    case OpKind::kMaximum:
      return ChainFunction::kMax;
    case OpKind::kMinimum:
      return ChainFunction::kMin;
    default:
      return std::nullopt;
  }
}

// How many vectors are in registers at a time: half of these.
template <typename F>
inline constexpr int kMostVectorsOf = kLanesOf<F> == 8 ? 8 : 4;

// V vectors of numbers from memory and back, each of type F.
template <typename F>
struct OfF32 {
  using Stored = float;
  using Floats = F;
  static constexpr int kLanes = kLanesOf<F>;
  static constexpr int kVectors = 1;  // the least that is loaded at once
  static constexpr int kMostVectors = kMostVectorsOf<F>;
  static constexpr bool kLoadsOne = true;  // by LoadFloats
  template <int V>
  static HALFTONE_INLINE void LoadAll(const float* x, F (&to)[V]) {
    for (int v = 0; v < V; ++v) to[v] = LoadFloats<F>(x + kLanes * v);
  }
  template <int V>
  static HALFTONE_INLINE void StoreAll(float* y, const F (&from)[V]) {
    for (int v = 0; v < V; ++v) StoreFloats(y + kLanes * v, from[v]);
  }
};
template <typename F>
struct OfBf16 {
  using Stored = uint16_t;
  using Floats = F;
  static constexpr int kLanes = kLanesOf<F>;
  static constexpr int kVectors = 2;  // the even and the odd ones
  static constexpr int kMostVectors = kMostVectorsOf<F>;
  static constexpr bool kLoadsOne = false;
  template <int V>
  static HALFTONE_INLINE void LoadAll(const uint16_t* x, F (&to)[V]) {
    for (int v = 0; v < V; v += 2) {
      const PairOf<F> pair = LoadPair<F>(x + kLanes * v);
      to[v] = pair.even;
      to[v + 1] = pair.odd;
    }
  }
  template <int V>
  static HALFTONE_INLINE void StoreAll(uint16_t* y, const F (&from)[V]) {
    for (int v = 0; v < V; v += 2) StorePair<F>(y + kLanes * v, {from[v], from[v + 1]});
  }
};

template <template <typename F> typename T>
struct Loops {
  HALFTONE_FOR_AVX512 static void Avx512(const ChainCode& chain, const ChainPieces& p) {
    Body<T<Vectors<16>::Floats>>(chain, p);
  }
  HALFTONE_FOR_AVX2 static void Avx2(const ChainCode& chain, const ChainPieces& p) {
    Body<T<Vectors<8>::Floats>>(chain, p);
  }
  static void Any(const ChainCode& chain, const ChainPieces& p) { Body<T<Vectors<4>::Floats>>(chain, p); }
  static ChainRows Choose() { return ForThisCpu<ChainRows>(Avx512, Avx2, Any); }
};

ChainRows RowsFor(DataType type) {
  if (type != DataType::kBFloat16) return Loops<OfF32>::Choose();
  const ChainRows native = NativeBf16Chain();
  return native != nullptr ? native : Loops<OfBf16>::Choose();
}

class ChainLoop final : public Step {
 public:
  ChainLoop(ChainTask task, const ChainCode& chain)
      : chain_(chain),
        loop_(RowsFor(task.type)),
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
    Tile();
  }

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) override {
    from_.assign(inputs.begin(), inputs.end());
    for (const Expanded& expanded : expanded_) from_[expanded.operand] = expanded.memory.data();
    inputs_.assign(inputs.begin(), inputs.end());
    y_ = outputs[0];
  }

  absl::Status Run() override {
    for (Expanded& e : expanded_) {
      const std::byte* x = inputs_[e.operand];
      std::byte* y = e.memory.data();
      if (bytes_ == 2) {
        Expand(e, 0, reinterpret_cast<const uint16_t*>(x), reinterpret_cast<uint16_t*>(y));
      } else {
        Expand(e, 0, reinterpret_cast<const uint32_t*>(x), reinterpret_cast<uint32_t*>(y));
      }
    }
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

  // An operand that is written out for rows of several short ones: dims and strides, in elements, as it is read.
  struct Expanded {
    size_t operand = 0;
    std::vector<int64_t> dims, strides;
    std::vector<std::byte> memory;
  };

  // Several short rows become one long one. Operands that do not run on from row to row are written out so that they
  // do; where that is much of the work, rows stay short.
  void Tile() {
    const size_t inner = dims_.size() - 1, rows = inner - 1;
    const int64_t count = dims_[inner];
    if (count >= kShortRow) return;
    int64_t together = 0, elements = 1;
    for (int64_t f = 2; f * count <= kLongestTile; ++f) {
      if (dims_[rows] % f == 0 && f * count >= kShortRow) together = f;
    }
    if (together == 0) return;
    for (const int64_t dim : dims_) elements *= dim;

    std::vector<int64_t> dims = dims_;
    dims[rows] /= together;
    dims[inner] *= together;
    std::vector<std::vector<int64_t>> strides = strides_;
    std::vector<Expanded> expanded;
    int64_t left = std::min(elements / 4 + kLongestTile, kMostExpanded);
    for (size_t k = 0; k < strides.size(); ++k) {
      const int64_t step = strides[k][inner], row_step = strides[k][rows];
      strides[k][rows] *= together;
      if (row_step == step * count) continue;
      Expanded e{.operand = k, .dims = {together, count}, .strides = {row_step, step}};
      int64_t size = together * count;
      strides[k][inner] = 1;
      for (size_t i = inner; i-- > 0;) {
        if (strides[k][i] == 0) continue;
        e.dims.insert(e.dims.begin(), dims[i]);
        e.strides.insert(e.strides.begin(), std::exchange(strides[k][i], size));
        size *= dims[i];
      }
      if ((left -= size) < 0) return;
      e.memory.resize(static_cast<size_t>(size * bytes_));
      expanded.push_back(std::move(e));
    }
    dims_ = std::move(dims);
    strides_ = std::move(strides);
    expanded_ = std::move(expanded);
  }

  // Writes dimensions i and following of an operand; returns the end of what it has written.
  template <typename T>
  static T* Expand(const Expanded& e, size_t i, const T* x, T* y) {
    const int64_t dim = e.dims[i], stride = e.strides[i];
    if (i + 1 < e.dims.size()) {
      for (int64_t at = 0; at < dim; ++at) y = Expand(e, i + 1, x + at * stride, y);
      return y;
    }
    for (int64_t at = 0; at < dim; ++at) y[at] = x[at * stride];
    return y + dim;
  }

  // Elements [begin, end) of rows [first, last); those that follow each other along the second dimension from the end
  // go to the loop together.
  void RunRows(int64_t first, int64_t last, int64_t begin, int64_t end) const {
    const size_t inner = dims_.size() - 1, rows = inner - 1;
    while (first < last) {
      const int64_t in_block = first % dims_[rows];
      ChainPieces p{.rows = std::min(last - first, dims_[rows] - in_block), .count = end - begin};
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

  const ChainCode chain_;
  const ChainRows loop_;
  const int64_t bytes_;
  std::vector<int64_t> dims_;
  std::vector<std::vector<int64_t>> strides_;
  std::vector<Expanded> expanded_;
  std::vector<const std::byte*> inputs_, from_;
  std::byte* y_ = nullptr;
};

}  // namespace

std::unique_ptr<Step> MakeChainStep(ChainTask task) {
  ChainCode chain{.operands = static_cast<int>(task.steps.size()) + 1};
  if (chain.operands > kMostChainOperands) return nullptr;
  for (int k = 1; k < chain.operands; ++k) {
    const std::optional<ChainFunction> function = FunctionOf(task.steps[k - 1]);
    if (!function.has_value()) return nullptr;
    chain.functions[k] = *function;
  }
  if (const std::optional<ActivationClamp> clamp = ClampOf(task.activation, task.alpha, task.beta); clamp.has_value()) {
    chain.clamps = true;
    chain.low = clamp->low;
    chain.high = clamp->high;
  } else {
    chain.activate = RowActivation(task.activation);
    chain.alpha = task.alpha;
    chain.beta = task.beta;
  }
  return std::make_unique<ChainLoop>(std::move(task), chain);
}

}  // namespace halftone::simd

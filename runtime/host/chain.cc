#include "runtime/host/chain.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/host/chain_loops.h"
#include "runtime/host/parallel.h"

namespace halftone::host {
namespace {

constexpr int64_t kGrain = 16384;  // elements that are worth a thread

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

template <typename T>
struct Loops {
  HALFTONE_FOR_AVX512 static void Avx512(const ChainCode& chain, const ChainPieces& p) { Body<T>(chain, p); }
  HALFTONE_FOR_AVX2 static void Avx2(const ChainCode& chain, const ChainPieces& p) { Body<T>(chain, p); }
  static void Any(const ChainCode& chain, const ChainPieces& p) { Body<T>(chain, p); }
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
  std::vector<const std::byte*> from_;
  std::byte* y_ = nullptr;
};

}  // namespace

std::unique_ptr<Step> MakeChainStep(ChainTask task) {
  ChainCode chain{.operands = static_cast<int>(task.steps.size()) + 1};
  if (chain.operands > kMostOperands) return nullptr;
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

}  // namespace halftone::host

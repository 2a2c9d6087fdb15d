#include "runtime/host/chain.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "runtime/host/chain_loops.h"
#include "runtime/host/parallel.h"

namespace halftone::host {
namespace {

constexpr int64_t kGrain = 16384;  // elements that are worth a thread
constexpr int64_t kShortRow = 64;  // elements: shorter ones are worth putting together
constexpr int64_t kLongestTile = 1024;

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
    for (const Repeated& repeated : repeated_) from_[repeated.operand] = repeated.memory.data();
    inputs_.assign(inputs.begin(), inputs.end());
    y_ = outputs[0];
  }

  absl::Status Run() override {
    for (Repeated& repeated : repeated_) {
      const std::byte* from = inputs_[repeated.operand];
      const size_t bytes = static_cast<size_t>(repeated.count * bytes_);
      for (size_t at = 0; at < repeated.memory.size(); at += bytes)
        std::memcpy(repeated.memory.data() + at, from, bytes);
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

  // A short operand that all rows read again, as often as a tile of several rows needs it.
  struct Repeated {
    size_t operand = 0;
    int64_t count = 0;
    std::vector<std::byte> memory;
  };

  // Several short rows become one long one where each operand either runs on from row to row or is the same for all.
  void Tile() {
    const size_t inner = dims_.size() - 1, rows = inner - 1;
    const int64_t count = dims_[inner];
    if (count >= kShortRow) return;
    int64_t together = 0;
    for (int64_t f = 2; f * count <= kLongestTile; ++f) {
      if (dims_[rows] % f == 0 && f * count >= kShortRow) together = f;
    }
    const auto runs_on = [&](const std::vector<int64_t>& s) { return s[rows] == s[inner] * count; };
    const auto repeats = [](const std::vector<int64_t>& s) {
      return s.back() == 1 && std::all_of(s.begin(), s.end() - 1, [](int64_t stride) { return stride == 0; });
    };
    if (together == 0 || !std::ranges::all_of(strides_, [&](const auto& s) { return runs_on(s) || repeats(s); }))
      return;
    dims_[rows] /= together;
    dims_[inner] *= together;
    for (size_t k = 0; k < strides_.size(); ++k) {
      if (repeats(strides_[k])) {
        repeated_.push_back({k, count, std::vector<std::byte>(static_cast<size_t>(dims_[inner] * bytes_))});
      } else {
        strides_[k][rows] *= together;
      }
    }
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
  std::vector<Repeated> repeated_;
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

}  // namespace halftone::host

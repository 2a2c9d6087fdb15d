// SPDX-License-Identifier: Apache-2.0
// The inner loops of skinny_matmul.h, for one kind of sums: six rows by 64 columns in registers, one row of weights
// after the other. After each group of steps a few cache lines of the next panel are prefetched, so that the whole
// panel is in the cache when the last rows of this one are done. Included by skinny_matmul_f32.cc,
// skinny_matmul_bf16.cc and skinny_matmul_int8.cc, each for its own instructions; no other file may include it.
namespace halftone::simd {
namespace {

constexpr int kRows = 6;     // in registers
constexpr int kVectors = 4;  // of 16 columns: a panel
constexpr int kLanes = 16;
constexpr int64_t kStepsOfFetch = 4;  // steps between two groups of fetches
constexpr int64_t kLine = 64;
constexpr int64_t kStepBytes = kVectors * kLine;  // of weights

// What is fetched during one pass over some rows.
struct Fetch {
  const char* next = nullptr;
  int64_t lines = 0;  // after each group of steps
};

// The sums of one pass: rows of columns of a panel, f32 or s32.
struct Tile {
  alignas(kLine) float numbers[kRows * kPanelColumns];
};

// Which of 16 columns from `column` on exist.
inline __mmask16 MaskOf(int64_t columns, int64_t column) {
  const int64_t left = std::clamp<int64_t>(columns - column, 0, kLanes);
  return static_cast<__mmask16>((1u << left) - 1u);
}

// `Sums`: Element (of x), kDepth (elements of x in a step), Numbers (16 sums), Load, Spread and Add. Where FloatPanels
// finishes them Result too (of y and the residual), and LoadRow and StoreRow of 16 results.
template <typename Sums, int R, int V>
inline __attribute__((always_inline)) void Step(const typename Sums::Element* x, int64_t stride, const char* weights,
                                                typename Sums::Numbers (&sums)[R][V]) {
  decltype(Sums::Load(weights)) w[V];
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) w[v] = Sums::Load(weights + v * kLine);
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    const auto element = Sums::Spread(x + r * stride);
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) sums[r][v] = Sums::Add(sums[r][v], element, w[v]);
  }
}

// The whole depth of one panel for R rows, 16 V columns of it; the sums of a row lie `to_stride` after those of the
// one before. Steps of a panel that is not packed lie step_bytes apart.
template <typename Sums, int R, int V, bool kPacked>
void Pass(const typename Sums::Element* x, int64_t stride, const char* weights, int64_t step_bytes, int64_t steps,
          Fetch fetch, float* to, int64_t to_stride) {
  if (kPacked) step_bytes = kStepBytes;
  typename Sums::Numbers sums[R][V];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) sums[r][v] = typename Sums::Numbers{};
  }
  int64_t k = 0;
  for (; k + kStepsOfFetch <= steps; k += kStepsOfFetch) {
    for (int64_t i = 0; i < fetch.lines; ++i, fetch.next += kLine) _mm_prefetch(fetch.next, _MM_HINT_T1);
#pragma GCC unroll 4
    for (int64_t i = 0; i < kStepsOfFetch; ++i)
      Step<Sums, R, V>(x + (k + i) * Sums::kDepth, stride, weights + (k + i) * step_bytes, sums);
  }
  for (; k < steps; ++k) Step<Sums, R, V>(x + k * Sums::kDepth, stride, weights + k * step_bytes, sums);
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) Sums::Store(to + r * to_stride + v * kLanes, sums[r][v]);
  }
}

template <typename Sums>
using PassFunction = void (*)(const typename Sums::Element*, int64_t, const char*, int64_t, int64_t, Fetch, float*,
                              int64_t);
template <typename Sums, int V = kVectors, bool kPacked = true>
constexpr PassFunction<Sums> kPasses[] = {nullptr,
                                          Pass<Sums, 1, V, kPacked>,
                                          Pass<Sums, 2, V, kPacked>,
                                          Pass<Sums, 3, V, kPacked>,
                                          Pass<Sums, 4, V, kPacked>,
                                          Pass<Sums, 5, V, kPacked>,
                                          Pass<Sums, 6, V, kPacked>};

// numbers = scale * numbers + bias, of columns from `column` on.
inline void AddBias(const SkinnyMatMulTask& task, int rows, int64_t column, Tile& tile) {
  const __m512 scale = _mm512_set1_ps(task.scale);
  for (int v = 0; v < kVectors; ++v) {
    const __mmask16 mask = MaskOf(task.columns, column + v * kLanes);
    const __m512 bias =
        task.bias == nullptr ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(mask, task.bias + column + v * kLanes);
    for (int r = 0; r < rows; ++r) {
      float* numbers = tile.numbers + r * kPanelColumns + v * kLanes;
      _mm512_store_ps(numbers, _mm512_fmadd_ps(_mm512_load_ps(numbers), scale, bias));
    }
  }
}

// numbers += the residual.
template <typename Sums>
void AddResidual(const SkinnyMatMulTask& task, int64_t row, int rows, int64_t column, Tile& tile) {
  const auto* residual = static_cast<const typename Sums::Result*>(task.residual);
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      const __mmask16 mask = MaskOf(task.columns, column + v * kLanes);
      float* numbers = tile.numbers + r * kPanelColumns + v * kLanes;
      const __m512 addend = Sums::LoadRow(mask, residual + (row + r) * task.residual_stride + column + v * kLanes);
      _mm512_store_ps(numbers, _mm512_add_ps(_mm512_load_ps(numbers), addend));
    }
  }
}

// What stands after the sums, and the way to memory.
template <typename Sums>
void Finish(const SkinnyMatMulTask& task, int64_t row, int rows, int64_t column, Tile& tile) {
  if (task.bias != nullptr || task.scale != 1) AddBias(task, rows, column, tile);
  if (task.activation_first && task.activate != nullptr) task.activate(tile.numbers, rows * kPanelColumns);
  if (task.residual != nullptr) AddResidual<Sums>(task, row, rows, column, tile);
  if (!task.activation_first && task.activate != nullptr) task.activate(tile.numbers, rows * kPanelColumns);
  auto* y = static_cast<typename Sums::Result*>(task.y);
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      const __mmask16 mask = MaskOf(task.columns, column + v * kLanes);
      Sums::StoreRow(y + (row + r) * task.columns + column + v * kLanes, mask,
                     _mm512_load_ps(tile.numbers + r * kPanelColumns + v * kLanes));
    }
  }
}

// Asks for what is touched after the sums: a piece of each row, too far apart for the hardware to guess. Sizes of
// elements in bytes.
inline void FetchRows(const SkinnyMatMulTask& task, int64_t row, int rows, int64_t column, int64_t y_size,
                      int64_t residual_size) {
  const auto* residual = static_cast<const char*>(task.residual);
  auto* y = static_cast<char*>(task.y);
  for (int r = 0; r < rows; ++r) {
    if (residual != nullptr) {
      const char* from = residual + ((row + r) * task.residual_stride + column) * residual_size;
      for (int64_t i = 0; i < kPanelColumns * residual_size; i += kLine) __builtin_prefetch(from + i, /*write=*/0);
    }
    char* to = y + ((row + r) * task.columns + column) * y_size;
    for (int64_t i = 0; i < kPanelColumns * y_size; i += kLine) __builtin_prefetch(to + i, /*write=*/1);
  }
}

// `fetch_rows(row, rows, column)`: rows and columns of a panel are about to be summed. `finish(row, rows, column,
// tile)`: they have been.
template <typename Sums, typename Fetched, typename Finished>
void Panels(const SkinnyMatMulTask& task, int64_t first, int64_t last, const Fetched& fetch_rows,
            const Finished& finish) {
  using Element = typename Sums::Element;
  const Element* x = static_cast<const Element*>(task.x);
  const int64_t steps = task.depth / Sums::kDepth;
  const int64_t passes = (task.rows + kRows - 1) / kRows;
  // So many lines a group of steps that all passes together fetch a panel. One pass reads as fast as memory is.
  const int64_t lines = passes == 1 ? 0 : (kStepsOfFetch * kVectors + passes - 1) / passes;
  const int64_t fetched = steps / kStepsOfFetch * lines * kLine;  // a pass
  Tile tile;
  for (int64_t panel = first; panel < last; ++panel) {
    const char* weights = static_cast<const char*>(task.weights) + panel * task.panel_bytes;
    const bool more = panel + 1 < last;
    for (int64_t pass = 0; pass < passes; ++pass) {
      const int64_t row = task.rows * pass / passes, end = task.rows * (pass + 1) / passes;
      Fetch fetch{weights + task.panel_bytes + pass * fetched, lines};
      if (!more || pass * fetched >= task.panel_bytes) fetch.lines = 0;
      const int rows = static_cast<int>(end - row);
      fetch_rows(row, rows, panel * kPanelColumns);
      kPasses<Sums>[rows](x + row * task.x_stride, task.x_stride, weights, kStepBytes, steps, fetch, tile.numbers,
                          kPanelColumns);
      finish(row, rows, panel * kPanelColumns, tile);
    }
  }
}

// Of sums in f32.
template <typename Sums>
void FloatPanels(const SkinnyMatMulTask& task, int64_t first, int64_t last) {
  constexpr int64_t kSize = sizeof(typename Sums::Result);
  Panels<Sums>(
      task, first, last,
      [&](int64_t row, int rows, int64_t column) { FetchRows(task, row, rows, column, kSize, kSize); },
      [&](int64_t row, int rows, int64_t column, Tile& tile) { Finish<Sums>(task, row, rows, column, tile); });
}

// See BlockMatMul.
template <typename Sums>
void MultiplyRows(const BlockTask& task) {
  using Functions = const PassFunction<Sums>*;
  static constexpr Functions kPacked[] = {nullptr, kPasses<Sums, 1>, kPasses<Sums, 2>, kPasses<Sums, 3>,
                                          kPasses<Sums, 4>};
  static constexpr Functions kAsItLies[] = {nullptr, kPasses<Sums, 1, false>, kPasses<Sums, 2, false>,
                                            kPasses<Sums, 3, false>, kPasses<Sums, 4, false>};
  const int64_t vectors = (task.columns + kLanes - 1) / kLanes;
  const Functions functions = (task.step_bytes == kStepBytes ? kPacked : kAsItLies)[vectors];
  const auto* x = static_cast<const typename Sums::Element*>(task.x);
  const int64_t passes = (task.rows + kRows - 1) / kRows;
  for (int64_t pass = 0; pass < passes; ++pass) {
    const int64_t row = task.rows * pass / passes, end = task.rows * (pass + 1) / passes;
    functions[end - row](x + row * task.x_stride, task.x_stride, static_cast<const char*>(task.panel), task.step_bytes,
                         task.steps, Fetch(), task.to + row * task.to_stride, task.to_stride);
  }
}

}  // namespace
}  // namespace halftone::simd

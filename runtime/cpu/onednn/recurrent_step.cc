// SPDX-License-Identifier: Apache-2.0
// The products with x need no state: they are made for a piece of several steps at once, small enough to stay in cache.
// Each step then adds its matmul with h and goes through its rows.
#include "runtime/cpu/onednn/recurrent_step.h"

#include <algorithm>
#include <cstring>

#include "base/strings.h"
#include "runtime/cpu/simd/gates.h"
#include "runtime/cpu/simd/parallel.h"

namespace halftone::onednn {
namespace {

constexpr int64_t kGrainElements = 1 << 14;  // of gates that are worth a thread

// Where the parts of the scratch memory begin, in bytes.
struct Layout {
  size_t gates = 0, x = 0, h = 0, c = 0, recurrent = 0, reset = 0, matmul = 0, end = 0;
  size_t narrow_h = 0, narrow_reset = 0;  // as the products read them, where that is not f32
};

Layout LayoutOf(const RecurrentProblem& p, const std::vector<RecurrentDirection>& directions) {
  Layout layout;
  size_t at = 0;
  const auto part = [&at](int64_t elements, size_t bytes) {
    const size_t begin = at;
    at += (static_cast<size_t>(elements) * bytes + 63) / 64 * 64;
    return begin;
  };
  const int64_t states = p.batch * p.hidden;
  const int64_t narrow = p.h_type == DataType::kFloat32 ? 0 : states;
  layout.gates = part(p.piece * p.batch * p.gates * p.hidden, sizeof(float));
  layout.x = part(p.options.batch_first ? p.piece * p.batch * p.input : 0, ElementSize(p.x_type));
  layout.h = part(states, sizeof(float));
  layout.c = part(p.op == OpKind::kLstm ? states : 0, sizeof(float));
  layout.recurrent = part(p.linear_gru() ? 3 * states : 0, sizeof(float));
  layout.reset = part(p.plain_gru() ? states : 0, sizeof(float));
  layout.narrow_h = part(narrow, ElementSize(p.h_type));
  layout.narrow_reset = part(p.plain_gru() ? narrow : 0, ElementSize(p.h_type));
  size_t matmul = 0;  // one runs at a time
  for (const RecurrentDirection& d : directions) {
    for (const PrepackedMatMul* one : {&d.from_x, &d.from_x_rest, &d.from_h, &d.from_reset})
      matmul = std::max(matmul, one->scratch_bytes());
  }
  layout.matmul = part(static_cast<int64_t>(matmul), 1);
  layout.end = at;
  return layout;
}

class RecurrentStep final : public Step {
 public:
  RecurrentStep(RecurrentProblem problem, std::vector<RecurrentDirection> directions, RecurrentNeeds needs)
      : p_(std::move(problem)), directions_(std::move(directions)), needs_(needs), layout_(LayoutOf(p_, directions_)) {}

  size_t scratch_bytes() const { return layout_.end; }

  StepFacts facts() const override {
    StepFacts facts;
    for (const RecurrentDirection& direction : directions_) {
      for (const PrepackedMatMul* matmul : {&direction.from_x, &direction.from_h, &direction.from_reset})
        facts.Add(matmul->facts());
    }
    return facts;
  }

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte* scratch) override {
    const auto input = [&](int need) { return need < 0 ? nullptr : inputs[need]; };
    x_ = input(needs_.x);
    lengths_ = reinterpret_cast<const int32_t*>(input(needs_.lengths));
    initial_h_ = input(needs_.h);
    initial_c_ = input(needs_.c);
    attention_ = reinterpret_cast<const float*>(input(needs_.attention));
    const auto output = [&](size_t i) { return i < outputs.size() ? outputs[i] : nullptr; };
    y_ = output(0);
    y_h_ = output(1);
    y_c_ = output(2);
    scratch_ = scratch;
  }

  absl::Status Run() override {
    for (int64_t b = 0; lengths_ != nullptr && b < p_.batch; ++b) {
      if (lengths_[b] < 0 || lengths_[b] > p_.steps) {
        return absl::InvalidArgumentError(
            Concat("sequence_lengths has ", lengths_[b], " for sequence ", b, ", need 0 to ", p_.steps));
      }
    }
    return Guard([&] {
      for (size_t d = 0; d < directions_.size(); ++d) RunDirection(d);
    });
  }

 private:
  template <typename T>
  T* At(size_t offset) const {
    return reinterpret_cast<T*>(scratch_ + offset);
  }
  bool narrow() const { return p_.h_type != DataType::kFloat32; }
  bool given_in_bf16() const { return p_.state_type == DataType::kBFloat16; }

  // `row`, of states, as the products read it, at its place of `narrow`.
  void Narrow(const float* row, size_t narrow, int64_t at, int64_t count) const {
    if (p_.h_type == DataType::kBFloat16) functions_.to_bf16(row, At<uint16_t>(narrow) + at, count);
    if (p_.h_type == DataType::kUInt8) simd::QuantizeRow(p_.h_quantization, row, count, At<std::byte>(narrow) + at);
  }

  // The first element of a row of the states given or returned, and of y.
  int64_t StateAt(size_t d, int64_t b) const {
    const int64_t directions = static_cast<int64_t>(directions_.size()), direction = static_cast<int64_t>(d);
    return (p_.options.batch_first ? b * directions + direction : direction * p_.batch + b) * p_.hidden;
  }
  int64_t ResultAt(size_t d, int64_t t, int64_t b) const {
    const int64_t directions = static_cast<int64_t>(directions_.size()), direction = static_cast<int64_t>(d);
    return (p_.options.batch_first ? (b * p_.steps + t) * directions + direction
                                   : (t * directions + direction) * p_.batch + b) *
           p_.hidden;
  }
  void Load(const std::byte* from, int64_t at, float* row) const {
    if (from == nullptr) {
      std::fill_n(row, p_.hidden, 0.0f);
    } else if (given_in_bf16()) {
      functions_.from_bf16(reinterpret_cast<const uint16_t*>(from) + at, row, p_.hidden);
    } else {
      std::memcpy(row, reinterpret_cast<const float*>(from) + at, p_.hidden * sizeof(float));
    }
  }
  void Store(const float* row, std::byte* to, int64_t at) const {
    if (given_in_bf16()) {
      functions_.to_bf16(row, reinterpret_cast<uint16_t*>(to) + at, p_.hidden);
    } else {
      std::memcpy(reinterpret_cast<float*>(to) + at, row, p_.hidden * sizeof(float));
    }
  }

  void RunDirection(size_t d) {
    const RecurrentDirection& direction = directions_[d];
    float *h = At<float>(layout_.h), *c = At<float>(layout_.c);
    for (int64_t b = 0; b < p_.batch; ++b) {
      Load(initial_h_, StateAt(d, b), h + b * p_.hidden);
      if (p_.op == OpKind::kLstm) Load(initial_c_, StateAt(d, b), c + b * p_.hidden);
    }
    Narrow(h, layout_.narrow_h, 0, p_.batch * p_.hidden);
    const bool reverse = p_.options.reverse[d];
    const int64_t pieces = (p_.steps + p_.piece - 1) / p_.piece;
    for (int64_t i = 0; i < pieces; ++i) {
      const int64_t first = (reverse ? pieces - 1 - i : i) * p_.piece;
      const int64_t count = std::min(p_.piece, p_.steps - first);
      float* gates = At<float>(layout_.gates);
      (count == p_.piece ? direction.from_x : direction.from_x_rest)
          .Run(InputOf(first, count), gates, At<std::byte>(layout_.matmul));
      for (int64_t k = 0; k < count; ++k) {
        const int64_t t = reverse ? count - 1 - k : k;
        RunStep(d, first + t, gates + t * p_.batch * p_.gates * p_.hidden);
      }
    }
    for (int64_t b = 0; b < p_.batch; ++b) {
      if (y_h_ != nullptr) Store(h + b * p_.hidden, y_h_, StateAt(d, b));
      if (y_c_ != nullptr) Store(c + b * p_.hidden, y_c_, StateAt(d, b));
    }
  }

  // x of some steps, step by step.
  const std::byte* InputOf(int64_t first, int64_t count) const {
    const int64_t row = p_.input * static_cast<int64_t>(ElementSize(p_.x_type));
    if (!p_.options.batch_first) return x_ + first * p_.batch * row;
    std::byte* copy = At<std::byte>(layout_.x);
    for (int64_t t = 0; t < count; ++t) {
      for (int64_t b = 0; b < p_.batch; ++b) {
        std::memcpy(copy + (t * p_.batch + b) * row, x_ + (b * p_.steps + first + t) * row, row);
      }
    }
    return copy;
  }

  void RunStep(size_t d, int64_t t, float* gates) {
    const RecurrentDirection& direction = directions_[d];
    std::byte* const scratch = At<std::byte>(layout_.matmul);
    const std::byte* h = At<std::byte>(narrow() ? layout_.narrow_h : layout_.h);
    direction.from_h.Run(h, p_.linear_gru() ? At<float>(layout_.recurrent) : gates, scratch);
    if (p_.plain_gru()) {
      ForRows([&](int64_t begin, int64_t end) {
        const simd::GateRows rows = RowsOf(d, t, gates, begin, end);
        functions_.gru_reset(rows);
        Narrow(rows.reset_h, layout_.narrow_reset, begin * p_.hidden, rows.count * p_.hidden);
      });
      direction.from_reset.Run(At<std::byte>(narrow() ? layout_.narrow_reset : layout_.reset), gates + 2 * p_.hidden,
                               scratch);
    }
    ForRows([&](int64_t begin, int64_t end) {
      if (lengths_ == nullptr) return Update(d, t, gates, begin, end);
      for (int64_t b = begin; b < end; ++b) {
        if (t < lengths_[b]) {
          Update(d, t, gates, b, b + 1);
        } else if (y_ != nullptr) {
          WriteZeros(y_ + ResultAt(d, t, b) * y_size());
        }
      }
    });
  }

  // The new state of these rows, and their part of y.
  void Update(size_t d, int64_t t, float* gates, int64_t begin, int64_t end) const {
    const auto function = p_.op == OpKind::kLstm  ? functions_.lstm
                          : p_.op == OpKind::kRnn ? functions_.rnn
                          : p_.linear_gru()       ? functions_.gru_linear
                                                  : functions_.gru_finish;
    const simd::GateRows rows = RowsOf(d, t, gates, begin, end);
    function(rows);
    const int64_t n = p_.hidden, size = (end - begin) * n;
    Narrow(rows.h, layout_.narrow_h, begin * n, size);
    if (y_ == nullptr) return;
    if (!p_.options.batch_first) return WriteResult(begin, size, y_ + ResultAt(d, t, begin) * y_size());
    for (int64_t b = begin; b < end; ++b) WriteResult(b, n, y_ + ResultAt(d, t, b) * y_size());
  }

  int64_t y_size() const { return static_cast<int64_t>(ElementSize(p_.y_type)); }

  // `count` numbers of the states from row `b` on.
  void WriteResult(int64_t b, int64_t count, std::byte* y) const {
    const int64_t at = b * p_.hidden;
    const bool same_bytes = p_.y_quantization.scale == p_.h_quantization.scale &&
                            p_.y_quantization.zero_point == p_.h_quantization.zero_point;
    if (p_.y_type == p_.h_type && narrow() && same_bytes) {
      std::memcpy(y, At<std::byte>(layout_.narrow_h) + at * y_size(), count * y_size());
    } else if (p_.y_type == DataType::kFloat32) {
      std::memcpy(y, At<float>(layout_.h) + at, count * y_size());
    } else if (p_.y_type == DataType::kBFloat16) {
      functions_.to_bf16(At<float>(layout_.h) + at, reinterpret_cast<uint16_t*>(y), count);
    } else {
      simd::QuantizeRow(p_.y_quantization, At<float>(layout_.h) + at, count, y);
    }
  }
  void WriteZeros(std::byte* y) const {
    const bool quantized = p_.y_type == DataType::kUInt8 || p_.y_type == DataType::kInt8;
    std::memset(y, quantized ? p_.y_quantization.zero_point : 0, p_.hidden * y_size());
  }

  template <typename Body>
  void ForRows(const Body& body) const {
    simd::ParallelFor(p_.batch, std::max<int64_t>(1, kGrainElements / (p_.gates * p_.hidden)), body);
  }

  simd::GateRows RowsOf(size_t d, int64_t t, float* gates, int64_t begin, int64_t end) const {
    const int64_t n = p_.hidden;
    simd::GateRows rows;
    rows.count = end - begin;
    rows.hidden = n;
    rows.activations = p_.options.activations[d].data();
    rows.clip = static_cast<float>(p_.options.clip);
    rows.input_forget = p_.options.input_forget;
    rows.gates = gates + begin * p_.gates * n;
    rows.recurrent = At<float>(layout_.recurrent) + begin * 3 * n;
    rows.peepholes = directions_[d].peepholes.empty() ? nullptr : directions_[d].peepholes.data();
    if (attention_ != nullptr) {
      rows.attention_stride = p_.options.batch_first ? p_.steps : 1;
      rows.attention = attention_ + (p_.options.batch_first ? t : t * p_.batch) + begin * rows.attention_stride;
    }
    rows.h = At<float>(layout_.h) + begin * n;
    rows.c = At<float>(layout_.c) + begin * n;
    rows.reset_h = At<float>(layout_.reset) + begin * n;
    return rows;
  }

  const RecurrentProblem p_;
  const std::vector<RecurrentDirection> directions_;
  const RecurrentNeeds needs_;
  const Layout layout_;
  const simd::GateFunctions& functions_ = simd::GateFunctionsForThisCpu();
  const std::byte* x_ = nullptr;
  const int32_t* lengths_ = nullptr;
  const std::byte* initial_h_ = nullptr;
  const std::byte* initial_c_ = nullptr;
  const float* attention_ = nullptr;
  std::byte* y_ = nullptr;
  std::byte* y_h_ = nullptr;
  std::byte* y_c_ = nullptr;
  std::byte* scratch_ = nullptr;
};

}  // namespace

void SetRecurrentStep(RecurrentProblem problem, std::vector<RecurrentDirection> directions, RecurrentNeeds needs,
                      Prepared& prepared) {
  auto step = std::make_unique<RecurrentStep>(std::move(problem), std::move(directions), needs);
  prepared.scratch_bytes = step->scratch_bytes();
  prepared.step = std::move(step);
}

}  // namespace halftone::onednn

// lstm, gru, rnn with every option: matrix products by oneDNN, the rest by loops of ours (runtime/host/gates.h).
//
// The products with x need no state: they are made for a piece of several steps at once, small enough to stay in cache.
// Each step then adds its product with h and goes through its rows. Weights are packed once.
#include "ir/recurrent.h"

#include <algorithm>
#include <cstring>

#include "base/status.h"
#include "base/strings.h"
#include "runtime/host/gates.h"
#include "runtime/host/parallel.h"
#include "runtime/onednn/fixed_product.h"
#include "runtime/onednn/kernels.h"
#include "runtime/onednn/support.h"

namespace halftone::onednn {
namespace {

constexpr int64_t kPieceBytes = 1 << 20;     // of products with x that are made at once
constexpr int64_t kPieceRows = 192;          // enough for a matrix product to be fast
constexpr int64_t kGrainElements = 1 << 14;  // of gates that are worth a thread

struct Sizes {
  int64_t steps = 0, batch = 0, input = 0, hidden = 0;
};

// One direction made ready.
struct Direction {
  bool reverse = false;
  const std::vector<GateActivation>* activations = nullptr;
  std::vector<float> peepholes;
  FixedProduct from_x, from_x_rest;  // a whole piece; the last one
  FixedProduct from_h;               // of gru without linear_before_reset: of z and r
  FixedProduct from_reset;           // of it: of the third gate
};

// Where the parts of the scratch memory begin, in bytes.
struct Layout {
  size_t gates = 0, x = 0, h = 0, c = 0, recurrent = 0, reset = 0, h16 = 0, reset16 = 0, end = 0;
};

struct Problem {
  OpKind op = OpKind::kRnn;
  RecurrentOptions options;
  Sizes size;
  DataType type = DataType::kFloat32;  // f32 or bf16: of x, the weights, the states given and the results
  int64_t piece = 1;                   // steps
  int gates = 1;

  bool linear_gru() const { return op == OpKind::kGru && options.linear_before_reset; }
  bool plain_gru() const { return op == OpKind::kGru && !options.linear_before_reset; }
};

Layout LayoutOf(const Problem& p) {
  Layout layout;
  size_t at = 0;
  const auto part = [&at](int64_t elements, size_t bytes) {
    const size_t begin = at;
    at += (static_cast<size_t>(elements) * bytes + 63) / 64 * 64;
    return begin;
  };
  const Sizes& s = p.size;
  const int64_t states = s.batch * s.hidden;
  const bool bf16 = p.type == DataType::kBFloat16;
  layout.gates = part(p.piece * s.batch * p.gates * s.hidden, sizeof(float));
  layout.x = part(p.options.batch_first ? p.piece * s.batch * s.input : 0, ElementSize(p.type));
  layout.h = part(states, sizeof(float));
  layout.c = part(p.op == OpKind::kLstm ? states : 0, sizeof(float));
  layout.recurrent = part(p.linear_gru() ? 3 * states : 0, sizeof(float));
  layout.reset = part(p.plain_gru() ? states : 0, sizeof(float));
  layout.h16 = part(bf16 ? states : 0, sizeof(uint16_t));
  layout.reset16 = part(bf16 && p.plain_gru() ? states : 0, sizeof(uint16_t));
  layout.end = at;
  return layout;
}

// Which of Prepared::inputs holds what; -1: absent.
struct Needs {
  int x = -1, lengths = -1, h = -1, c = -1;
};

class RecurrentStep final : public Step {
 public:
  RecurrentStep(Problem problem, std::vector<Direction> directions, Needs needs)
      : problem_(std::move(problem)), directions_(std::move(directions)), needs_(needs), layout_(LayoutOf(problem_)) {
    for (size_t d = 0; d < directions_.size(); ++d) directions_[d].activations = &problem_.options.activations[d];
  }

  StepFacts facts() const override {
    StepFacts facts;
    for (const Direction& direction : directions_) {
      for (const FixedProduct* product : {&direction.from_x, &direction.from_h, &direction.from_reset})
        facts.Add(product->facts());
    }
    return facts;
  }

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte* scratch) override {
    const auto input = [&](int need) { return need < 0 ? nullptr : inputs[need]; };
    x_ = input(needs_.x);
    lengths_ = reinterpret_cast<const int32_t*>(input(needs_.lengths));
    initial_h_ = input(needs_.h);
    initial_c_ = input(needs_.c);
    const auto output = [&](size_t i) { return i < outputs.size() ? outputs[i] : nullptr; };
    y_ = output(0);
    y_h_ = output(1);
    y_c_ = output(2);
    scratch_ = scratch;
  }

  absl::Status Run() override {
    const Sizes& s = problem_.size;
    for (int64_t b = 0; lengths_ != nullptr && b < s.batch; ++b) {
      if (lengths_[b] < 0 || lengths_[b] > s.steps) {
        return absl::InvalidArgumentError(
            Concat("sequence_lengths has ", lengths_[b], " for sequence ", b, ", need 0 to ", s.steps));
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
  size_t bytes() const { return ElementSize(problem_.type); }
  bool bf16() const { return problem_.type == DataType::kBFloat16; }

  // The first element of a row of the states given or returned, and of y.
  int64_t StateAt(size_t d, int64_t b) const {
    const int64_t directions = static_cast<int64_t>(directions_.size()), direction = static_cast<int64_t>(d);
    return (problem_.options.batch_first ? b * directions + direction : direction * problem_.size.batch + b) *
           problem_.size.hidden;
  }
  int64_t ResultAt(size_t d, int64_t t, int64_t b) const {
    const Sizes& s = problem_.size;
    const int64_t directions = static_cast<int64_t>(directions_.size()), direction = static_cast<int64_t>(d);
    return (problem_.options.batch_first ? (b * s.steps + t) * directions + direction
                                         : (t * directions + direction) * s.batch + b) *
           s.hidden;
  }
  void Load(const std::byte* from, int64_t at, float* row) const {
    const int64_t n = problem_.size.hidden;
    if (from == nullptr) {
      std::fill_n(row, n, 0.0f);
    } else if (bf16()) {
      functions_.from_bf16(reinterpret_cast<const uint16_t*>(from) + at, row, n);
    } else {
      std::memcpy(row, reinterpret_cast<const float*>(from) + at, n * sizeof(float));
    }
  }
  void Store(const float* row, std::byte* to, int64_t at) const {
    const int64_t n = problem_.size.hidden;
    if (bf16()) {
      functions_.to_bf16(row, reinterpret_cast<uint16_t*>(to) + at, n);
    } else {
      std::memcpy(reinterpret_cast<float*>(to) + at, row, n * sizeof(float));
    }
  }

  void RunDirection(size_t d) {
    const Sizes& s = problem_.size;
    const Direction& direction = directions_[d];
    float *h = At<float>(layout_.h), *c = At<float>(layout_.c);
    for (int64_t b = 0; b < s.batch; ++b) {
      Load(initial_h_, StateAt(d, b), h + b * s.hidden);
      if (bf16()) functions_.to_bf16(h + b * s.hidden, At<uint16_t>(layout_.h16) + b * s.hidden, s.hidden);
      if (problem_.op == OpKind::kLstm) Load(initial_c_, StateAt(d, b), c + b * s.hidden);
    }
    const int64_t pieces = (s.steps + problem_.piece - 1) / problem_.piece;
    for (int64_t i = 0; i < pieces; ++i) {
      const int64_t first = (direction.reverse ? pieces - 1 - i : i) * problem_.piece;
      const int64_t count = std::min(problem_.piece, s.steps - first);
      (count == problem_.piece ? direction.from_x : direction.from_x_rest)
          .Run(InputOf(first, count), At<float>(layout_.gates));
      for (int64_t k = 0; k < count; ++k) {
        const int64_t t = direction.reverse ? count - 1 - k : k;
        RunStep(d, first + t, At<float>(layout_.gates) + t * s.batch * problem_.gates * s.hidden);
      }
    }
    for (int64_t b = 0; b < s.batch; ++b) {
      if (y_h_ != nullptr) Store(h + b * s.hidden, y_h_, StateAt(d, b));
      if (y_c_ != nullptr) Store(c + b * s.hidden, y_c_, StateAt(d, b));
    }
  }

  // x of some steps, step by step.
  const std::byte* InputOf(int64_t first, int64_t count) const {
    const Sizes& s = problem_.size;
    const int64_t row = s.input * static_cast<int64_t>(bytes());
    if (!problem_.options.batch_first) return x_ + first * s.batch * row;
    std::byte* copy = At<std::byte>(layout_.x);
    for (int64_t t = 0; t < count; ++t) {
      for (int64_t b = 0; b < s.batch; ++b) {
        std::memcpy(copy + (t * s.batch + b) * row, x_ + (b * s.steps + first + t) * row, row);
      }
    }
    return copy;
  }

  void RunStep(size_t d, int64_t t, float* gates) {
    const Direction& direction = directions_[d];
    const void* h = bf16() ? At<std::byte>(layout_.h16) : At<std::byte>(layout_.h);
    direction.from_h.Run(h, problem_.linear_gru() ? At<float>(layout_.recurrent) : gates);
    if (problem_.plain_gru()) {
      ForRows(d, gates, [&](const host::GateRow& row, int64_t b) {
        functions_.gru_reset(row);
        if (bf16()) {
          const int64_t n = problem_.size.hidden;
          functions_.to_bf16(row.reset_h, At<uint16_t>(layout_.reset16) + b * n, n);
        }
      });
      direction.from_reset.Run(bf16() ? At<std::byte>(layout_.reset16) : At<std::byte>(layout_.reset),
                               gates + 2 * problem_.size.hidden);
    }
    const auto function = problem_.op == OpKind::kLstm  ? functions_.lstm
                          : problem_.op == OpKind::kRnn ? functions_.rnn
                          : problem_.linear_gru()       ? functions_.gru_linear
                                                        : functions_.gru_finish;
    ForRows(d, gates, [&](const host::GateRow& row, int64_t b) {
      const int64_t n = problem_.size.hidden;
      const bool active = lengths_ == nullptr || t < lengths_[b];
      if (active) {
        function(row);
        if (bf16()) functions_.to_bf16(row.h, At<uint16_t>(layout_.h16) + b * n, n);
        if (y_ != nullptr) Store(row.h, y_, ResultAt(d, t, b));
      } else if (y_ != nullptr) {
        std::memset(y_ + ResultAt(d, t, b) * static_cast<int64_t>(bytes()), 0, n * bytes());
      }
    });
  }

  template <typename Body>
  void ForRows(size_t d, float* gates, const Body& body) {
    const int64_t n = problem_.size.hidden;
    const Direction& direction = directions_[d];
    host::ParallelFor(problem_.size.batch, std::max<int64_t>(1, kGrainElements / (problem_.gates * n)),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t b = begin; b < end; ++b) {
                          host::GateRow row;
                          row.hidden = n;
                          row.activations = direction.activations->data();
                          row.clip = static_cast<float>(problem_.options.clip);
                          row.input_forget = problem_.options.input_forget;
                          row.gates = gates + b * problem_.gates * n;
                          row.recurrent = At<float>(layout_.recurrent) + b * 3 * n;
                          row.peepholes = direction.peepholes.empty() ? nullptr : direction.peepholes.data();
                          row.h = At<float>(layout_.h) + b * n;
                          row.c = At<float>(layout_.c) + b * n;
                          row.reset_h = At<float>(layout_.reset) + b * n;
                          body(row, b);
                        }
                      });
  }

  const Problem problem_;
  std::vector<Direction> directions_;
  const Needs needs_;
  const Layout layout_;
  const host::GateFunctions& functions_ = host::GateFunctionsForThisCpu();
  const std::byte* x_ = nullptr;
  const int32_t* lengths_ = nullptr;
  const std::byte* initial_h_ = nullptr;
  const std::byte* initial_c_ = nullptr;
  std::byte* y_ = nullptr;
  std::byte* y_h_ = nullptr;
  std::byte* y_c_ = nullptr;
  std::byte* scratch_ = nullptr;
};

// Rows [begin, begin + rows) of matrix d of a [D, R, C] tensor, in another type.
absl::StatusOr<Tensor> Rows(const Tensor& tensor, int64_t d, int64_t begin, int64_t rows, DataType type) {
  const int64_t columns = tensor.dims().back(), all = tensor.dims()[1];
  const size_t bytes = ElementSize(tensor.type());
  const size_t offset = static_cast<size_t>((d * all + begin) * columns) * bytes;
  return Tensor(tensor.type(), {rows, columns},
                Buffer::View(tensor.raw() + offset, static_cast<size_t>(rows * columns) * bytes, tensor.buffer()))
      .ConvertTo(type);
}

class RecurrentKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType type = context.InputType(kRecurrentX);
    if (!IsFloatingPoint(type)) return absl::UnimplementedError("for floats only");
    if (type == DataType::kBFloat16) {
      absl::StatusOr<Prepared> prepared = Build(context, type);
      if (prepared.ok() && !IsSlow(prepared->kernel)) return prepared;
    }
    return Build(context, DataType::kFloat32);
  }

 private:
  static absl::StatusOr<Problem> Describe(const NodeContext& context, DataType type) {
    const Node& node = context.node();
    Problem problem{.op = node.op, .type = type};
    HALFTONE_ASSIGN_OR_RETURN(problem.options, ResolveRecurrent(node.op, node.attributes));
    std::vector<Shape> shapes;
    for (int i = 0; i < context.num_inputs(); ++i) {
      shapes.push_back(context.HasInput(i) ? Shape::Of(context.InputDims(i)) : Shape());
    }
    HALFTONE_ASSIGN_OR_RETURN(const RecurrentSizes sizes, SizesOfRecurrent(problem.options, node.attributes, shapes));
    problem.size = {sizes.steps.value, sizes.batch.value, sizes.input.value, sizes.hidden.value};
    problem.gates = problem.options.gates;
    const Sizes& s = problem.size;
    if (s.steps == 0 || s.batch == 0 || s.input == 0) return absl::UnimplementedError("nothing to compute");
    const int64_t step_bytes = s.batch * problem.gates * s.hidden * static_cast<int64_t>(sizeof(float));
    const int64_t by_cache = std::max<int64_t>(1, kPieceBytes / step_bytes);
    const int64_t by_rows = (kPieceRows + s.batch - 1) / s.batch;
    problem.piece = std::min(s.steps, std::max(by_cache, by_rows));
    return problem;
  }

  // Sums of the biases of x and of h but where they do not meet: the third gate of a linear gru keeps its own.
  static void ReadBiases(const NodeContext& context, const Problem& p, int64_t d, std::vector<float>& of_x,
                         std::vector<float>& of_h) {
    const int64_t n = p.gates * p.size.hidden;
    of_x.assign(n, 0.0f);
    of_h.assign(n, 0.0f);
    const Tensor* bias = context.HasInput(kRecurrentB) ? context.Constant(kRecurrentB) : nullptr;
    if (bias == nullptr) return;
    const std::vector<float> all = bias->ToFloats();
    for (int64_t i = 0; i < n; ++i) {
      const float x = all[d * 2 * n + i], h = all[d * 2 * n + n + i];
      const bool apart = p.linear_gru() && i >= 2 * p.size.hidden;
      of_x[i] = apart ? x : x + h;
      of_h[i] = apart ? h : 0.0f;
    }
  }

  static absl::StatusOr<Direction> MakeDirection(const NodeContext& context, const Problem& p, int64_t d) {
    const Sizes& s = p.size;
    const int64_t columns = p.gates * s.hidden;
    const Tensor &w = *context.Constant(kRecurrentW), &r = *context.Constant(kRecurrentR);
    std::vector<float> of_x, of_h;
    ReadBiases(context, p, d, of_x, of_h);
    const Tensor bias_x = Tensor::Of<float>({columns}, of_x), bias_h = Tensor::Of<float>({columns}, of_h);

    Direction direction;
    direction.reverse = p.options.reverse[d];
    HALFTONE_ASSIGN_OR_RETURN(const Tensor w_d, Rows(w, d, 0, columns, p.type));
    FixedProduct::Form form{p.piece * s.batch, s.input, columns, columns, p.type, /*add=*/false};
    HALFTONE_ASSIGN_OR_RETURN(direction.from_x, FixedProduct::Make(form, &w_d, &bias_x, nullptr));
    if (const int64_t rest = s.steps % p.piece; rest != 0) {
      form.m = rest * s.batch;
      HALFTONE_ASSIGN_OR_RETURN(direction.from_x_rest, FixedProduct::Make(form, nullptr, nullptr, &direction.from_x));
    }
    const int64_t together = p.plain_gru() ? 2 * s.hidden : columns;  // gates that are made from h itself
    HALFTONE_ASSIGN_OR_RETURN(const Tensor r_d, Rows(r, d, 0, together, p.type));
    form = {s.batch, s.hidden, together, columns, p.type, /*add=*/!p.linear_gru()};
    HALFTONE_ASSIGN_OR_RETURN(direction.from_h,
                              FixedProduct::Make(form, &r_d, p.linear_gru() ? &bias_h : nullptr, nullptr));
    if (p.plain_gru()) {
      HALFTONE_ASSIGN_OR_RETURN(const Tensor reset_d, Rows(r, d, together, s.hidden, p.type));
      form.n = s.hidden;
      HALFTONE_ASSIGN_OR_RETURN(direction.from_reset, FixedProduct::Make(form, &reset_d, nullptr, nullptr));
    }
    if (context.HasInput(kRecurrentPeepholes)) {
      const std::vector<float> all = context.Constant(kRecurrentPeepholes)->ToFloats();
      direction.peepholes.assign(all.begin() + d * 3 * s.hidden, all.begin() + (d + 1) * 3 * s.hidden);
    }
    return direction;
  }

  static absl::StatusOr<Prepared> Build(const NodeContext& context, DataType type) {
    for (const int i : {kRecurrentW, kRecurrentR, kRecurrentB, kRecurrentPeepholes}) {
      if (context.HasInput(i) && context.Constant(i) == nullptr) {
        return absl::UnimplementedError("weights that are computed");
      }
    }
    if (context.node().op == OpKind::kGru && context.HasInput(kGruAttention)) {
      return absl::UnimplementedError("attention");
    }
    if (context.HasInput(kRecurrentLengths) && context.InputType(kRecurrentLengths) != DataType::kInt32) {
      return absl::UnimplementedError("sequence lengths that are not s32");
    }
    HALFTONE_ASSIGN_OR_RETURN(Problem problem, Describe(context, type));
    std::vector<Direction> directions;
    for (int64_t d = 0; d < problem.options.directions(); ++d) {
      HALFTONE_ASSIGN_OR_RETURN(directions.emplace_back(), MakeDirection(context, problem, d));
    }
    Prepared prepared;
    const auto need = [&](int index, DataType wanted) {
      if (!context.HasInput(index)) return -1;
      prepared.inputs.push_back(InputNeed{index, Placement{wanted}});
      return static_cast<int>(prepared.inputs.size()) - 1;
    };
    Needs needs;
    needs.x = need(kRecurrentX, type);
    needs.lengths = need(kRecurrentLengths, DataType::kInt32);
    needs.h = need(kRecurrentH, type);
    needs.c = need(kRecurrentC, type);
    prepared.outputs.assign(context.node().outputs.size(), Placement{type});
    prepared.scratch_bytes = LayoutOf(problem).end;
    const std::string& product = directions[0].from_h.name();
    prepared.kernel = IsSlow(product) ? product : Concat("steps+", product);
    prepared.step = std::make_unique<RecurrentStep>(std::move(problem), std::move(directions), needs);
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeRecurrentKernel() { return std::make_unique<RecurrentKernel>(); }

}  // namespace halftone::onednn

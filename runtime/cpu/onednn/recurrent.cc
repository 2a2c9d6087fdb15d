// SPDX-License-Identifier: Apache-2.0
// lstm, gru, rnn with every option: matmuls by oneDNN, gates by SIMD loops (runtime/cpu/simd/gates.h).
//
// oneDNN's primitives of whole layers are not used: they are slower but for lstm of few sequences and up to 128 units,
// where they save 5 to 25 %; and their scratch memory holds the gates and states of the whole sequence: 35 and 45 MB
// for gru and lstm of 256 units, 100 steps, batch 50, where all values of the model are 10. In pieces of one step it
// would be 2.5 and 2.2 MB; ours takes 1.1.
//
// Int8: x, both weight matrices and the state that the recurrent matmul reads are int8; sums and gates are f32. What
// zero points add to the sums is a constant of each column, and becomes a part of the bias.
#include "ir/recurrent.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "base/status.h"
#include "base/strings.h"
#include "runtime/cpu/onednn/int8_problem.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/prepacked_matmul.h"
#include "runtime/cpu/onednn/quantized.h"
#include "runtime/cpu/onednn/recurrent_step.h"
#include "runtime/cpu/onednn/support.h"

namespace halftone::onednn {
namespace {

constexpr int64_t kPieceBytes = 1 << 20;  // of results of the matmul with x that are made at once
constexpr int64_t kPieceRows = 192;       // enough for a matmul to be fast

// What the products read of the constants.
struct RecurrentWeights {
  Tensor w, r;  // of floats, or both of s8
  // Of s8: what the sums of products with each row are multiplied by, of all directions, and zero points of the bytes
  // they are multiplied with.
  std::vector<float> w_factors, r_factors;
  int32_t x_zero_point = 0, h_zero_point = 0;

  bool quantized() const { return !w_factors.empty(); }
};

std::vector<float> Rows(const std::vector<float>& of_all, int64_t first, int64_t count) {
  if (of_all.empty()) return {};
  return {of_all.begin() + first, of_all.begin() + first + count};
}

// Fills in what the node's attributes and shapes say; its types are there.
absl::Status Describe(const NodeContext& context, RecurrentProblem& problem) {
  const Node& node = context.node();
  problem.op = node.op;
  HALFTONE_ASSIGN_OR_RETURN(problem.options, ResolveRecurrent(node.op, node.attributes));
  std::vector<Shape> shapes;
  for (int i = 0; i < context.num_inputs(); ++i) {
    shapes.push_back(context.HasInput(i) ? Shape::Of(context.InputDims(i)) : Shape());
  }
  HALFTONE_ASSIGN_OR_RETURN(const RecurrentSizes sizes, SizesOfRecurrent(problem.options, node.attributes, shapes));
  problem.steps = sizes.steps.value;
  problem.batch = sizes.batch.value;
  problem.input = sizes.input.value;
  problem.hidden = sizes.hidden.value;
  problem.gates = problem.options.gates;
  if (problem.steps == 0 || problem.batch == 0 || problem.input == 0) {
    return absl::UnimplementedError("nothing to compute");
  }
  const int64_t step_bytes = problem.batch * problem.gates * problem.hidden * static_cast<int64_t>(sizeof(float));
  const int64_t by_cache = std::max<int64_t>(1, kPieceBytes / step_bytes);
  const int64_t by_rows = (kPieceRows + problem.batch - 1) / problem.batch;
  problem.piece = std::min(problem.steps, std::max(by_cache, by_rows));
  return absl::OkStatus();
}

class DirectionMaker {
 public:
  DirectionMaker(const NodeContext& context, const RecurrentProblem& problem, const RecurrentWeights& weights,
                 int64_t direction)
      : context_(context), p_(problem), weights_(weights), d_(direction), columns_(problem.gates * problem.hidden) {}

  absl::StatusOr<RecurrentDirection> Make() {
    ReadBiases();
    AddZeroPoints();
    const Tensor bias_x = Tensor::Of<float>({columns_}, of_x_), bias_h = Tensor::Of<float>({columns_}, of_h_);
    const Tensor &w = weights_.w, &r = weights_.r;
    const int64_t first = d_ * columns_;

    RecurrentDirection direction;
    PrepackedMatMul::Form form{p_.piece * p_.batch,
                               p_.input,
                               columns_,
                               columns_,
                               p_.x_type,
                               /*add=*/false,
                               Rows(weights_.w_factors, first, columns_)};
    HALFTONE_ASSIGN_OR_RETURN(direction.from_x, PrepackedMatMul::Make(form, w, first, &bias_x));
    if (const int64_t rest = p_.steps % p_.piece; rest != 0) {
      form.m = rest * p_.batch;
      HALFTONE_ASSIGN_OR_RETURN(direction.from_x_rest,
                                PrepackedMatMul::Make(form, w, first, &bias_x, &direction.from_x));
    }
    const int64_t together = p_.plain_gru() ? 2 * p_.hidden : columns_;  // gates that are made from h itself
    form = {p_.batch,
            p_.hidden,
            together,
            columns_,
            p_.h_type,
            /*add=*/!p_.linear_gru(),
            Rows(weights_.r_factors, first, together)};
    HALFTONE_ASSIGN_OR_RETURN(direction.from_h,
                              PrepackedMatMul::Make(form, r, first, p_.linear_gru() ? &bias_h : nullptr));
    if (p_.plain_gru()) {
      form.n = p_.hidden;
      form.scales = Rows(weights_.r_factors, first + together, p_.hidden);
      HALFTONE_ASSIGN_OR_RETURN(direction.from_reset, PrepackedMatMul::Make(form, r, first + together, nullptr));
    }
    if (context_.HasInput(kRecurrentPeepholes)) {
      const std::vector<float> all = context_.Constant(kRecurrentPeepholes)->ToFloats();
      direction.peepholes.assign(all.begin() + d_ * 3 * p_.hidden, all.begin() + (d_ + 1) * 3 * p_.hidden);
    }
    return direction;
  }

 private:
  // Sums of the biases of x and of h but where they do not meet: the third gate of a linear gru keeps its own.
  void ReadBiases() {
    const int64_t n = columns_;
    of_x_.assign(n, 0.0f);
    of_h_.assign(n, 0.0f);
    const Tensor* bias = context_.HasInput(kRecurrentB) ? context_.Constant(kRecurrentB) : nullptr;
    if (bias == nullptr) return;
    const std::vector<float> all = bias->ToFloats();
    for (int64_t i = 0; i < n; ++i) {
      const float x = all[d_ * 2 * n + i], h = all[d_ * 2 * n + n + i];
      const bool apart = p_.linear_gru() && i >= 2 * p_.hidden;
      of_x_[i] = apart ? x : x + h;
      of_h_[i] = apart ? h : 0.0f;
    }
  }

  // sum (q - zero point) w = sum q w - zero point * sum w
  void AddZeroPoints() {
    if (!weights_.quantized()) return;
    std::vector<float>& beside_h = p_.linear_gru() ? of_h_ : of_x_;
    for (int64_t i = 0; i < columns_; ++i) {
      const int64_t row = d_ * columns_ + i;
      of_x_[i] -=
          weights_.w_factors[row] * static_cast<float>(weights_.x_zero_point * SumOf(weights_.w, row, p_.input));
      beside_h[i] -=
          weights_.r_factors[row] * static_cast<float>(weights_.h_zero_point * SumOf(weights_.r, row, p_.hidden));
    }
  }
  static int64_t SumOf(const Tensor& matrix, int64_t row, int64_t width) {
    const std::span<const int8_t> elements = matrix.data<int8_t>().subspan(row * width, width);
    return std::accumulate(elements.begin(), elements.end(), int64_t{0});
  }

  const NodeContext& context_;
  const RecurrentProblem& p_;
  const RecurrentWeights& weights_;
  const int64_t d_, columns_;
  std::vector<float> of_x_, of_h_;
};

absl::StatusOr<Prepared> Build(const NodeContext& context, RecurrentProblem problem, const RecurrentWeights& weights) {
  for (const int i : {kRecurrentB, kRecurrentPeepholes}) {
    if (context.HasInput(i) && context.Constant(i) == nullptr) {
      return absl::UnimplementedError("weights that are computed");
    }
  }
  if (context.HasInput(kRecurrentLengths) && context.InputType(kRecurrentLengths) != DataType::kInt32) {
    return absl::UnimplementedError("sequence lengths that are not s32");
  }
  std::vector<RecurrentDirection> directions;
  for (int64_t d = 0; d < problem.options.directions(); ++d) {
    HALFTONE_ASSIGN_OR_RETURN(directions.emplace_back(), DirectionMaker(context, problem, weights, d).Make());
  }
  Prepared prepared;
  const auto need = [&](int index, DataType wanted) {
    if (!context.HasInput(index)) return -1;
    prepared.inputs.push_back(InputNeed{index, Placement{wanted}});
    return static_cast<int>(prepared.inputs.size()) - 1;
  };
  RecurrentNeeds needs;
  needs.x = need(kRecurrentX, problem.x_type);
  needs.lengths = need(kRecurrentLengths, DataType::kInt32);
  needs.h = need(kRecurrentH, problem.state_type);
  if (problem.op == OpKind::kGru) {
    needs.attention = need(kGruAttention, DataType::kFloat32);
  } else {
    needs.c = need(kRecurrentC, problem.state_type);
  }
  prepared.outputs.assign(context.node().outputs.size(), Placement{problem.state_type});
  prepared.outputs[0] = Placement{problem.y_type};
  prepared.kernel = directions[0].from_h.implementation();
  if (!prepared.kernel.slow) prepared.kernel.name = Concat("steps+", prepared.kernel.name);
  if (weights.quantized()) prepared.weights_type = DataType::kInt8;
  SetRecurrentStep(std::move(problem), std::move(directions), needs, prepared);
  return prepared;
}

class RecurrentKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType type = context.InputType(kRecurrentX);
    for (const int i : {kRecurrentW, kRecurrentR}) {
      if (context.Constant(i) == nullptr) return absl::UnimplementedError("weights that are computed");
    }
    if (type == DataType::kBFloat16) {
      absl::StatusOr<Prepared> prepared = InType(context, type);
      if (prepared.ok() && !prepared->kernel.slow) return prepared;
    }
    return InType(context, DataType::kFloat32);
  }

 private:
  static absl::StatusOr<Prepared> InType(const NodeContext& context, DataType type) {
    RecurrentProblem problem{.x_type = type, .h_type = type, .state_type = type, .y_type = type};
    HALFTONE_RETURN_IF_ERROR(Describe(context, problem));
    if (problem.options.state.has_value()) return absl::UnimplementedError("a state that is rounded to int8");
    return Build(context, std::move(problem), {*context.Constant(kRecurrentW), *context.Constant(kRecurrentR)});
  }
};

class Int8RecurrentKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    HALFTONE_ASSIGN_OR_RETURN(const Element x, InputElement(context, kRecurrentX));
    RecurrentProblem problem{.x_type = x.type, .h_type = DataType::kUInt8};
    HALFTONE_RETURN_IF_ERROR(Describe(context, problem));
    if (!problem.options.state.has_value()) return absl::UnimplementedError("the state has no scale");
    const StateRounding state = *problem.options.state;
    const Element h{DataType::kUInt8, /*quantized=*/true, state.scale, state.zero_point};
    problem.h_quantization = FinishOf(h, Epilogue());
    if (context.graph().output(context.id()).valid()) {
      HALFTONE_ASSIGN_OR_RETURN(const Element y, OutputElement(context));
      problem.y_type = y.type == DataType::kFloat16 ? DataType::kFloat32 : y.type;
      if (y.quantized) problem.y_quantization = FinishOf(y, Epilogue());
    }
    RecurrentWeights weights{.x_zero_point = x.zero_point, .h_zero_point = h.zero_point};
    HALFTONE_RETURN_IF_ERROR(ReadWeights(context, kRecurrentW, x, weights.w, weights.w_factors));
    HALFTONE_RETURN_IF_ERROR(ReadWeights(context, kRecurrentR, h, weights.r, weights.r_factors));
    absl::StatusOr<Prepared> prepared = Build(context, std::move(problem), weights);
    if (prepared.ok() && prepared->kernel.slow)
      return absl::UnimplementedError("oneDNN has no fast int8 matmul of these shapes");
    return prepared;
  }

  // The matrix and a factor for each of its rows in all directions; `data` is what it is multiplied with.
  static absl::Status ReadWeights(const NodeContext& context, int i, const Element& data, Tensor& matrix,
                                  std::vector<float>& factors) {
    HALFTONE_ASSIGN_OR_RETURN(Int8Weights weights, WeightsOf(context, i));
    HALFTONE_RETURN_IF_ERROR(CannotSaturate(data, context.node(), weights.tensor));
    const std::vector<int64_t>& dims = weights.tensor.dims();
    const size_t scales = weights.scales.size();
    if (scales > 1 && weights.axis != 1) return absl::UnimplementedError("scales along another axis than the rows");
    for (int64_t row = 0; row < dims[0] * dims[1]; ++row)
      factors.push_back(data.scale * weights.scales[scales == 1 ? 0 : row % dims[1]]);
    matrix = std::move(weights.tensor);
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeRecurrentKernel() { return std::make_unique<RecurrentKernel>(); }

std::unique_ptr<Kernel> MakeInt8RecurrentKernel() { return std::make_unique<Int8RecurrentKernel>(); }

}  // namespace halftone::onednn

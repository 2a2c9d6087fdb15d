// lstm, gru, rnn with every option: matrix products by oneDNN, the rest by loops of ours (runtime/host/gates.h).
//
// oneDNN's own primitives of whole layers are not used: raced, they are slower but for lstm of few sequences and up to 128
// units, where they save 5 to 25 %; and their scratch memory holds the gates and states of the whole sequence: 35 and 45
// MB for gru and lstm of 256 units, 100 steps, batch 50, where all values of the model are 10. In pieces of one step it
// would be 2.5 and 2.2 MB; ours takes 1.1.
#include "ir/recurrent.h"

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "runtime/onednn/fixed_product.h"
#include "runtime/onednn/kernels.h"
#include "runtime/onednn/recurrent_step.h"
#include "runtime/onednn/support.h"

namespace halftone::onednn {
namespace {

constexpr int64_t kPieceBytes = 1 << 20;  // of products with x that are made at once
constexpr int64_t kPieceRows = 192;       // enough for a matrix product to be fast

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
  static absl::StatusOr<RecurrentProblem> Describe(const NodeContext& context, DataType type) {
    const Node& node = context.node();
    RecurrentProblem problem{.op = node.op, .type = type};
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
    return problem;
  }

  // Sums of the biases of x and of h but where they do not meet: the third gate of a linear gru keeps its own.
  static void ReadBiases(const NodeContext& context, const RecurrentProblem& p, int64_t d, std::vector<float>& of_x,
                         std::vector<float>& of_h) {
    const int64_t n = p.gates * p.hidden;
    of_x.assign(n, 0.0f);
    of_h.assign(n, 0.0f);
    const Tensor* bias = context.HasInput(kRecurrentB) ? context.Constant(kRecurrentB) : nullptr;
    if (bias == nullptr) return;
    const std::vector<float> all = bias->ToFloats();
    for (int64_t i = 0; i < n; ++i) {
      const float x = all[d * 2 * n + i], h = all[d * 2 * n + n + i];
      const bool apart = p.linear_gru() && i >= 2 * p.hidden;
      of_x[i] = apart ? x : x + h;
      of_h[i] = apart ? h : 0.0f;
    }
  }

  static absl::StatusOr<RecurrentDirection> MakeDirection(const NodeContext& context, const RecurrentProblem& p,
                                                          int64_t d) {
    const int64_t columns = p.gates * p.hidden;
    const Tensor &w = *context.Constant(kRecurrentW), &r = *context.Constant(kRecurrentR);
    std::vector<float> of_x, of_h;
    ReadBiases(context, p, d, of_x, of_h);
    const Tensor bias_x = Tensor::Of<float>({columns}, of_x), bias_h = Tensor::Of<float>({columns}, of_h);

    RecurrentDirection direction;
    FixedProduct::Form form{p.piece * p.batch, p.input, columns, columns, p.type, /*add=*/false};
    HALFTONE_ASSIGN_OR_RETURN(direction.from_x, FixedProduct::Make(form, w, d * columns, &bias_x));
    if (const int64_t rest = p.steps % p.piece; rest != 0) {
      HALFTONE_ASSIGN_OR_RETURN(direction.from_x_rest, FixedProduct::MakeLike(direction.from_x, rest * p.batch));
    }
    const int64_t together = p.plain_gru() ? 2 * p.hidden : columns;  // gates that are made from h itself
    form = {p.batch, p.hidden, together, columns, p.type, /*add=*/!p.linear_gru()};
    HALFTONE_ASSIGN_OR_RETURN(direction.from_h,
                              FixedProduct::Make(form, r, d * columns, p.linear_gru() ? &bias_h : nullptr));
    if (p.plain_gru()) {
      form.n = p.hidden;
      HALFTONE_ASSIGN_OR_RETURN(direction.from_reset, FixedProduct::Make(form, r, d * columns + together, nullptr));
    }
    if (context.HasInput(kRecurrentPeepholes)) {
      const std::vector<float> all = context.Constant(kRecurrentPeepholes)->ToFloats();
      direction.peepholes.assign(all.begin() + d * 3 * p.hidden, all.begin() + (d + 1) * 3 * p.hidden);
    }
    return direction;
  }

  static absl::StatusOr<Prepared> Build(const NodeContext& context, DataType type) {
    for (const int i : {kRecurrentW, kRecurrentR, kRecurrentB, kRecurrentPeepholes}) {
      if (context.HasInput(i) && context.Constant(i) == nullptr) {
        return absl::UnimplementedError("weights that are computed");
      }
    }
    if (context.HasInput(kRecurrentLengths) && context.InputType(kRecurrentLengths) != DataType::kInt32) {
      return absl::UnimplementedError("sequence lengths that are not s32");
    }
    HALFTONE_ASSIGN_OR_RETURN(RecurrentProblem problem, Describe(context, type));
    std::vector<RecurrentDirection> directions;
    for (int64_t d = 0; d < problem.options.directions(); ++d) {
      HALFTONE_ASSIGN_OR_RETURN(directions.emplace_back(), MakeDirection(context, problem, d));
    }
    Prepared prepared;
    const auto need = [&](int index, DataType wanted) {
      if (!context.HasInput(index)) return -1;
      prepared.inputs.push_back(InputNeed{index, Placement{wanted}});
      return static_cast<int>(prepared.inputs.size()) - 1;
    };
    RecurrentNeeds needs;
    needs.x = need(kRecurrentX, type);
    needs.lengths = need(kRecurrentLengths, DataType::kInt32);
    needs.h = need(kRecurrentH, type);
    if (problem.op == OpKind::kGru) {
      needs.attention = need(kGruAttention, DataType::kFloat32);
    } else {
      needs.c = need(kRecurrentC, type);
    }
    prepared.outputs.assign(context.node().outputs.size(), Placement{type});
    const std::string& product = directions[0].from_h.name();
    prepared.kernel = IsSlow(product) ? product : Concat("steps+", product);
    SetRecurrentStep(std::move(problem), std::move(directions), needs, prepared);
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeRecurrentKernel() { return std::make_unique<RecurrentKernel>(); }

}  // namespace halftone::onednn

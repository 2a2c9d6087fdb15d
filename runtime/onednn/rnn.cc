// lstm, gru, rnn by oneDNN's rnn primitives, one a direction: where activations are the usual ones and nothing is
// clipped, coupled, peeped at or cut short. recurrent.cc does the rest.
#include <algorithm>
#include <utility>

#include "base/status.h"
#include "ir/recurrent.h"
#include "runtime/onednn/kernels.h"
#include "runtime/onednn/support.h"

namespace halftone::onednn {
namespace {

using Tag = dnnl::memory::format_tag;
using Kind = GateActivation::Kind;

struct Problem {
  OpKind op = OpKind::kRnn;
  RecurrentOptions options;
  int64_t steps = 0, batch = 0, input = 0, hidden = 0, gates = 1;
  DataType type = DataType::kFloat32;

  bool linear_gru() const { return op == OpKind::kGru && options.linear_before_reset; }
};

// What one primitive reads and writes; empty descriptors where something is absent.
struct Descs {
  Desc x, y, h, c, w, r, bias;
};

// Any of the four kinds.
struct Made {
  dnnl::primitive primitive;
  Desc w, r, scratchpad;
  std::string name;
};

template <typename Primitive, typename... Arguments>
absl::StatusOr<Made> Make(const Arguments&... arguments) {
  const typename Primitive::primitive_desc desc(CpuEngine(), dnnl::prop_kind::forward_inference, arguments...,
                                                UserScratch(), /*allow_empty=*/true);
  if (!desc) return absl::UnimplementedError("oneDNN has no such recurrent layer");
  Made made{.w = desc.weights_layer_desc(), .r = desc.weights_iter_desc(), .scratchpad = desc.scratchpad_desc()};
  made.name = ImplementationName(desc);
  if (IsSlow(made.name)) return absl::UnimplementedError("oneDNN only has reference loops for this layer");
  HALFTONE_RETURN_IF_ERROR(Guard([&] { made.primitive = Primitive(desc); }));
  return made;
}

absl::StatusOr<Made> MakeLayer(const Problem& p, int direction, const Descs& d) {
  const auto way = p.options.reverse[direction] ? dnnl::rnn_direction::unidirectional_right2left
                                                : dnnl::rnn_direction::unidirectional_left2right;
  const GateActivation& activation = p.options.activations[direction][0];
  // States of the end are wanted always: oneDNN refuses half of them.
  if (p.op == OpKind::kLstm) {
    const Desc c = PlainDesc(Dims{1, 1, p.batch, p.hidden}, DataType::kFloat32);
    const Desc h = PlainDesc(Dims{1, 1, p.batch, p.hidden}, p.type);
    return Make<dnnl::lstm_forward>(way, d.x, d.h, d.c, d.w, d.r, d.bias, d.y, h, c);
  }
  const Desc h = PlainDesc(Dims{1, 1, p.batch, p.hidden}, p.type);
  if (p.linear_gru()) return Make<dnnl::lbr_gru_forward>(way, d.x, d.h, d.w, d.r, d.bias, d.y, h);
  if (p.op == OpKind::kGru) return Make<dnnl::gru_forward>(way, d.x, d.h, d.w, d.r, d.bias, d.y, h);
  const auto algorithm = activation.kind == Kind::kTanh   ? dnnl::algorithm::eltwise_tanh
                         : activation.kind == Kind::kRelu ? dnnl::algorithm::eltwise_relu
                                                          : dnnl::algorithm::eltwise_logistic;
  return Make<dnnl::vanilla_rnn_forward>(algorithm, way, d.x, d.h, d.w, d.r, d.bias, d.y, h);
}

// oneDNN's order of the gates in ours.
std::vector<int64_t> GateOrder(OpKind op) {
  if (op == OpKind::kLstm) return {0, 2, 3, 1};  // i, f, c, o of i, o, f, c
  return op == OpKind::kGru ? std::vector<int64_t>{0, 1, 2} : std::vector<int64_t>{0};
}

// Matrix `direction` of w or r, gates in oneDNN's order, as [1, 1, columns, gates, hidden] in the order of ldgoi.
absl::StatusOr<FixedMemory> PackWeights(const Problem& p, const Tensor& tensor, int64_t direction, const Desc& to) {
  const int64_t columns = tensor.dims()[2], block = p.hidden * columns;
  HALFTONE_ASSIGN_OR_RETURN(const Tensor numbers, tensor.ConvertTo(DataType::kFloat32));
  const float* all = numbers.data<float>().data() + direction * p.gates * block;
  std::vector<float> ordered;
  for (const int64_t gate : GateOrder(p.op))
    ordered.insert(ordered.end(), all + gate * block, all + (gate + 1) * block);
  HALFTONE_ASSIGN_OR_RETURN(const Tensor packed,
                            Tensor::Of<float>({p.gates * p.hidden, columns}, ordered).ConvertTo(p.type));
  const Desc from(Dims{1, 1, columns, p.gates, p.hidden}, *DnnlType(p.type), Tag::ldgoi, /*allow_empty=*/true);
  return Pack(packed, from, to);
}

// Biases of x and h are added, but for the third gate of a linear gru, which has the latter as a fourth.
absl::StatusOr<FixedMemory> PackBias(const Problem& p, const Tensor* tensor, int64_t direction, const Desc& to) {
  const int64_t rows = p.gates * p.hidden;
  std::vector<float> bias(rows + (p.linear_gru() ? p.hidden : 0), 0.0f);
  if (tensor != nullptr) {
    const std::vector<float> all = tensor->ToFloats();
    const float *x = all.data() + direction * 2 * rows, *h = x + rows;
    const std::vector<int64_t> order = GateOrder(p.op);
    for (size_t g = 0; g < order.size(); ++g) {
      const bool apart = p.linear_gru() && g == 2;
      for (int64_t u = 0; u < p.hidden; ++u) {
        const int64_t from = order[g] * p.hidden + u, at = static_cast<int64_t>(g) * p.hidden + u;
        bias[at] = apart ? x[from] : x[from] + h[from];
        if (apart) bias[at + p.hidden] = h[from];
      }
    }
  }
  const Tensor numbers = Tensor::Of<float>({static_cast<int64_t>(bias.size())}, bias);
  return Pack(numbers, to, to);
}

bool AreUsual(const Problem& p) {
  for (const std::vector<GateActivation>& a : p.options.activations) {
    if (p.op == OpKind::kRnn) {
      if (a[0].kind != Kind::kTanh && a[0].kind != Kind::kRelu && a[0].kind != Kind::kSigmoid) return false;
    } else if (a[0].kind != Kind::kSigmoid || a[1].kind != Kind::kTanh ||
               (p.op == OpKind::kLstm && a[2].kind != Kind::kTanh)) {
      return false;
    }
  }
  return true;
}

class RnnKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType type = context.InputType(kRecurrentX);
    if (!IsFloatingPoint(type)) return absl::UnimplementedError("for floats only");
    if (type == DataType::kBFloat16) {
      absl::StatusOr<Prepared> prepared = Build(context, type);
      if (prepared.ok()) return prepared;
    }
    return Build(context, DataType::kFloat32);
  }

 private:
  static absl::StatusOr<Problem> Describe(const NodeContext& context, DataType type) {
    const Node& node = context.node();
    Problem p{.op = node.op, .type = type};
    HALFTONE_ASSIGN_OR_RETURN(p.options, ResolveRecurrent(node.op, node.attributes));
    std::vector<Shape> shapes;
    for (int i = 0; i < context.num_inputs(); ++i) {
      shapes.push_back(context.HasInput(i) ? Shape::Of(context.InputDims(i)) : Shape());
    }
    HALFTONE_ASSIGN_OR_RETURN(const RecurrentSizes sizes, SizesOfRecurrent(p.options, node.attributes, shapes));
    p.steps = sizes.steps.value;
    p.batch = sizes.batch.value;
    p.input = sizes.input.value;
    p.hidden = sizes.hidden.value;
    p.gates = p.options.gates;
    if (p.steps == 0 || p.batch == 0 || p.input == 0) return absl::UnimplementedError("nothing to compute");
    if (!AreUsual(p) || p.options.clip != 0 || p.options.input_forget) {
      return absl::UnimplementedError("other activations, a clip or coupled gates");
    }
    if (context.HasInput(kRecurrentLengths) || context.HasInput(kRecurrentPeepholes)) {
      return absl::UnimplementedError("lengths or peepholes");
    }
    if (node.op == OpKind::kGru && context.HasInput(kGruAttention)) return absl::UnimplementedError("attention");
    if (p.options.batch_first && p.options.directions() > 1) {
      return absl::UnimplementedError("two directions with the batch first");
    }
    for (const int i : {kRecurrentW, kRecurrentR, kRecurrentB}) {
      if (context.HasInput(i) && context.Constant(i) == nullptr) {
        return absl::UnimplementedError("weights that are computed");
      }
    }
    return p;
  }

  static absl::StatusOr<Prepared> Build(const NodeContext& context, DataType type) {
    HALFTONE_ASSIGN_OR_RETURN(const Problem p, Describe(context, type));
    const int directions = p.options.directions();
    Prepared prepared;
    const auto need = [&](int index, DataType wanted) {
      if (!context.HasInput(index)) return -1;
      prepared.inputs.push_back({index, Placement{wanted}});
      return static_cast<int>(prepared.inputs.size()) - 1;
    };
    const int x = need(kRecurrentX, type), h = need(kRecurrentH, type), c = need(kRecurrentC, DataType::kFloat32);
    const bool lstm = p.op == OpKind::kLstm;
    const bool has_states = h >= 0 || c >= 0;
    size_t scratch = 0;
    const auto reserve = [&scratch](size_t bytes) {
      const size_t begin = scratch;
      scratch += (bytes + 63) / 64 * 64;
      return begin;
    };

    const Tag layers = p.options.batch_first ? Tag::ntc : Tag::tnc;
    const auto dnnl_type = *DnnlType(type);
    Descs d{.x = Desc(Dims{p.steps, p.batch, p.input}, dnnl_type, layers, /*allow_empty=*/true),
            .y = Desc(Dims{p.steps, p.batch, p.hidden}, dnnl_type, layers, /*allow_empty=*/true)};
    const Desc state_h = PlainDesc(Dims{1, 1, p.batch, p.hidden}, type);
    const Desc state_c = PlainDesc(Dims{1, 1, p.batch, p.hidden}, DataType::kFloat32);
    if (has_states) {
      d.h = state_h;
      d.c = state_c;
    }
    d.w = AnyDesc(Dims{1, 1, p.input, p.gates, p.hidden}, type);
    d.r = AnyDesc(Dims{1, 1, p.hidden, p.gates, p.hidden}, type);
    d.bias = PlainDesc(Dims{1, 1, p.gates + (p.linear_gru() ? 1 : 0), p.hidden}, DataType::kFloat32);

    const bool wants_y = context.OutputUsed(0);
    auto step = std::make_unique<PrimitiveStep>();
    for (int i = 0; i < directions; ++i) {
      HALFTONE_ASSIGN_OR_RETURN(const Made made, MakeLayer(p, i, d));
      prepared.kernel = made.name;
      step->AddCall(made.primitive);
      step->AddInput(DNNL_ARG_SRC_LAYER, d.x, x);
      const auto state = [&](int argument, const Desc& desc, int needed) -> absl::Status {
        if (!has_states) return absl::OkStatus();
        if (needed >= 0) {
          step->AddInput(argument, desc, needed, static_cast<size_t>(i) * desc.get_size());
          return absl::OkStatus();
        }
        const Tensor zeros(argument == DNNL_ARG_SRC_ITER ? type : DataType::kFloat32, {p.batch, p.hidden});
        HALFTONE_ASSIGN_OR_RETURN(FixedMemory fixed, Pack(zeros, desc, desc));
        step->AddFixed(argument, std::move(fixed));
        return absl::OkStatus();
      };
      HALFTONE_RETURN_IF_ERROR(state(DNNL_ARG_SRC_ITER, state_h, h));
      if (lstm) HALFTONE_RETURN_IF_ERROR(state(DNNL_ARG_SRC_ITER_C, state_c, c));
      HALFTONE_ASSIGN_OR_RETURN(FixedMemory w, PackWeights(p, *context.Constant(kRecurrentW), i, made.w));
      step->AddFixed(DNNL_ARG_WEIGHTS_LAYER, std::move(w));
      HALFTONE_ASSIGN_OR_RETURN(FixedMemory r, PackWeights(p, *context.Constant(kRecurrentR), i, made.r));
      step->AddFixed(DNNL_ARG_WEIGHTS_ITER, std::move(r));
      HALFTONE_ASSIGN_OR_RETURN(
          FixedMemory bias,
          PackBias(p, context.HasInput(kRecurrentB) ? context.Constant(kRecurrentB) : nullptr, i, d.bias));
      step->AddFixed(DNNL_ARG_BIAS, std::move(bias));
      step->AddScratch(DNNL_ARG_SCRATCHPAD, made.scratchpad, reserve(made.scratchpad.get_size()));
      const auto last_state = [&](int argument, const Desc& desc, int output) {
        if (context.OutputUsed(output)) {
          step->AddOutput(argument, desc, output, static_cast<size_t>(i) * desc.get_size());
        } else {
          step->AddScratch(argument, desc, reserve(desc.get_size()));
        }
      };
      last_state(DNNL_ARG_DST_ITER, state_h, 1);
      if (lstm) last_state(DNNL_ARG_DST_ITER_C, state_c, 2);
      if (wants_y && directions == 1) {
        step->AddOutput(DNNL_ARG_DST_LAYER, d.y);
        continue;
      }
      const size_t y = reserve(d.y.get_size());
      step->AddScratch(DNNL_ARG_DST_LAYER, d.y, y);
      if (!wants_y) continue;
      const Desc slice(Dims{p.steps, p.batch, p.hidden}, dnnl_type, Dims{directions * p.batch * p.hidden, p.hidden, 1},
                       /*allow_empty=*/true);
      HALFTONE_RETURN_IF_ERROR(Guard(
          [&] { step->AddCall(dnnl::reorder(dnnl::reorder::primitive_desc(CpuEngine(), d.y, CpuEngine(), slice))); }));
      step->AddScratch(DNNL_ARG_FROM, d.y, y);
      step->AddOutput(DNNL_ARG_TO, slice, 0, static_cast<size_t>(i * p.batch * p.hidden) * ElementSize(type));
    }
    prepared.scratch_bytes = scratch;
    for (size_t i = 0; i < context.node().outputs.size(); ++i) {
      prepared.outputs.push_back(Placement{i == 2 ? DataType::kFloat32 : type});
    }
    prepared.step = std::move(step);
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeRnnKernel() { return std::make_unique<RnnKernel>(); }

}  // namespace halftone::onednn

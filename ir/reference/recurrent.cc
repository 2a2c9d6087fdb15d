// SPDX-License-Identifier: Apache-2.0
// lstm, gru, rnn: step by step, in f64.

#include "ir/recurrent.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"

namespace halftone::reference {
namespace {

// All inputs as numbers; absent ones get their default values.
struct Inputs {
  std::vector<double> x, w, r, b, h, c, peepholes, attention;
  std::vector<int64_t> lengths;
};

struct Sizes {
  int64_t steps = 0, batch = 0, input = 0, hidden = 0, gates = 0, directions = 0;
};

// The parts of the weights of one direction.
struct Direction {
  const RecurrentOptions& options;
  const Sizes& size;
  const Inputs& in;
  int64_t index;

  const double* w() const { return in.w.data() + index * size.gates * size.hidden * size.input; }
  const double* r() const { return in.r.data() + index * size.gates * size.hidden * size.hidden; }
  const double* wb() const { return in.b.data() + index * 2 * size.gates * size.hidden; }
  const double* rb() const { return wb() + size.gates * size.hidden; }
  const double* peepholes() const { return in.peepholes.data() + index * 3 * size.hidden; }
  const GateActivation& activation(int i) const { return options.activations[index][i]; }

  // Row `unit` of gate `gate` of w or r times a vector.
  static double Dot(const double* matrix, int64_t row, int64_t columns, const double* vector) {
    double sum = 0;
    for (int64_t k = 0; k < columns; ++k) sum += matrix[row * columns + k] * vector[k];
    return sum;
  }
  double FromInput(int gate, int64_t unit, const double* x) const {
    const int64_t row = gate * size.hidden + unit;
    return Dot(w(), row, size.input, x) + wb()[row];
  }
  double FromState(int gate, int64_t unit, const double* h) const {
    const int64_t row = gate * size.hidden + unit;
    return Dot(r(), row, size.hidden, h) + rb()[row];
  }
  // A state as the matmuls with r read it.
  std::vector<double> Rounded(std::vector<double> state) const {
    if (!options.state.has_value()) return state;
    const double scale = options.state->scale, zero = options.state->zero_point;
    for (double& v : state) v = (std::clamp(std::nearbyint(v / scale) + zero, 0.0, 255.0) - zero) * scale;
    return state;
  }
  double Clip(double v) const { return options.clip > 0 ? std::min(options.clip, std::max(-options.clip, v)) : v; }
};

// One step of one sequence: from x, h and c to new h and c.
void LstmStep(const Direction& d, const double* x, std::vector<double>& h, std::vector<double>& c) {
  constexpr int kI = 0, kO = 1, kF = 2, kC = 3;
  const int64_t hidden = d.size.hidden;
  const std::vector<double> old = d.Rounded(h);
  const double* p = d.peepholes();  // of i, o, f
  for (int64_t u = 0; u < hidden; ++u) {
    const auto gate = [&](int g) { return d.FromInput(g, u, x) + d.FromState(g, u, old.data()); };
    const double i = d.activation(0)(d.Clip(gate(kI) + p[u] * c[u]));
    const double f = d.options.input_forget ? 1 - i : d.activation(0)(d.Clip(gate(kF) + p[2 * hidden + u] * c[u]));
    c[u] = f * c[u] + i * d.activation(1)(d.Clip(gate(kC)));
    const double o = d.activation(0)(d.Clip(gate(kO) + p[hidden + u] * c[u]));
    h[u] = o * d.activation(2)(c[u]);
  }
}

// attention: the part of the update gate that is suppressed.
void GruStep(const Direction& d, const double* x, double attention, std::vector<double>& h) {
  constexpr int kZ = 0, kR = 1, kH = 2;
  const int64_t hidden = d.size.hidden;
  const std::vector<double> before = h, old = d.Rounded(h);
  std::vector<double> reset(hidden), reset_h(hidden);
  for (int64_t u = 0; u < hidden; ++u) {
    reset[u] = d.activation(0)(d.Clip(d.FromInput(kR, u, x) + d.FromState(kR, u, old.data())));
    reset_h[u] = reset[u] * before[u];
  }
  if (!d.options.linear_before_reset) reset_h = d.Rounded(std::move(reset_h));
  for (int64_t u = 0; u < hidden; ++u) {
    const double gate = d.activation(0)(d.Clip(d.FromInput(kZ, u, x) + d.FromState(kZ, u, old.data())));
    const double z = (1 - attention) * gate;
    const double recurrent =
        d.options.linear_before_reset ? reset[u] * d.FromState(kH, u, old.data()) : d.FromState(kH, u, reset_h.data());
    const double candidate = d.activation(1)(d.Clip(d.FromInput(kH, u, x) + recurrent));
    h[u] = (1 - z) * candidate + z * before[u];
  }
}

void RnnStep(const Direction& d, const double* x, std::vector<double>& h) {
  const std::vector<double> old = d.Rounded(h);
  for (int64_t u = 0; u < d.size.hidden; ++u) {
    h[u] = d.activation(0)(d.Clip(d.FromInput(0, u, x) + d.FromState(0, u, old.data())));
  }
}

absl::StatusOr<Inputs> ReadInputs(const Call& call, const Sizes& size) {
  Inputs in;
  const auto numbers = [&](size_t i, int64_t count) {
    return call.has(i) ? call.in(i).ToDoubles() : std::vector<double>(count, 0.0);
  };
  in.x = numbers(kRecurrentX, 0);
  in.w = numbers(kRecurrentW, 0);
  in.r = numbers(kRecurrentR, 0);
  in.b = numbers(kRecurrentB, size.directions * 2 * size.gates * size.hidden);
  in.h = numbers(kRecurrentH, size.directions * size.batch * size.hidden);
  if (call.node.op == OpKind::kGru) {
    in.attention = numbers(kGruAttention, size.steps * size.batch);
  } else {
    in.c = numbers(kRecurrentC, size.directions * size.batch * size.hidden);
  }
  in.peepholes = numbers(kRecurrentPeepholes, size.directions * 3 * size.hidden);
  in.lengths =
      call.has(kRecurrentLengths) ? call.in(kRecurrentLengths).ToInts() : std::vector<int64_t>(size.batch, size.steps);
  for (const int64_t length : in.lengths) {
    if (length < 0 || length > size.steps) {
      return Error("sequence_lengths has ", length, ", need 0 to ", size.steps);
    }
  }
  return in;
}

}  // namespace

Outputs Recurrent(const Call& call) {
  const OpKind op = call.node.op;
  HALFTONE_ASSIGN_OR_RETURN(const RecurrentOptions options, ResolveRecurrent(op, call.attributes()));
  std::vector<Shape> shapes;
  for (size_t i = 0; i < call.inputs.size(); ++i) shapes.push_back(call.has(i) ? call.in(i).shape() : Shape());
  HALFTONE_ASSIGN_OR_RETURN(const RecurrentSizes sizes, SizesOfRecurrent(options, call.attributes(), shapes));
  const Sizes size{sizes.steps.value,  sizes.batch.value, sizes.input.value,
                   sizes.hidden.value, options.gates,     options.directions()};
  HALFTONE_ASSIGN_OR_RETURN(const Inputs in, ReadInputs(call, size));
  const bool batch_first = options.batch_first;
  const Dims y_dims = batch_first ? Dims{size.batch, size.steps, size.directions, size.hidden}
                                  : Dims{size.steps, size.directions, size.batch, size.hidden};
  const Dims state_dims =
      batch_first ? Dims{size.batch, size.directions, size.hidden} : Dims{size.directions, size.batch, size.hidden};
  HALFTONE_RETURN_IF_ERROR(CheckDims(y_dims));
  HALFTONE_RETURN_IF_ERROR(CheckDims(state_dims));
  std::vector<double> y(Count(y_dims), 0.0), y_h(Count(state_dims)), y_c(Count(state_dims));
  for (int64_t index = 0; index < size.directions; ++index) {
    const Direction d{options, size, in, index};
    for (int64_t b = 0; b < size.batch; ++b) {
      const int64_t state = (batch_first ? b * size.directions + index : index * size.batch + b) * size.hidden;
      std::vector<double> h(in.h.begin() + state, in.h.begin() + state + size.hidden);
      std::vector<double> c;
      if (op == OpKind::kLstm) c.assign(in.c.begin() + state, in.c.begin() + state + size.hidden);
      const int64_t length = in.lengths[b];
      for (int64_t s = 0; s < length; ++s) {
        const int64_t t = options.reverse[index] ? length - 1 - s : s;
        const int64_t here = batch_first ? b * size.steps + t : t * size.batch + b;
        const double* x = in.x.data() + here * size.input;
        if (op == OpKind::kLstm) {
          LstmStep(d, x, h, c);
        } else if (op == OpKind::kGru) {
          GruStep(d, x, in.attention[here], h);
        } else {
          RnnStep(d, x, h);
        }
        const int64_t row = batch_first ? (b * size.steps + t) * size.directions + index
                                        : (t * size.directions + index) * size.batch + b;
        std::copy(h.begin(), h.end(), y.begin() + row * size.hidden);
      }
      std::copy(h.begin(), h.end(), y_h.begin() + state);
      std::copy(c.begin(), c.end(), y_c.begin() + state);
    }
  }
  std::vector<Tensor> outputs(3);
  if (call.wants(0)) outputs[0] = FromDoubles(call.types[0], y_dims, y);
  if (call.wants(1)) outputs[1] = FromDoubles(call.types[1], state_dims, y_h);
  if (call.wants(2)) outputs[2] = FromDoubles(call.types[2], state_dims, y_c);
  return outputs;
}

}  // namespace halftone::reference

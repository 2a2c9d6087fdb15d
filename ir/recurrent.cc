// SPDX-License-Identifier: Apache-2.0
#include "ir/recurrent.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>
#include <utility>

#include "base/status.h"
#include "base/strings.h"

namespace halftone {
namespace {

using Kind = GateActivation::Kind;

struct ActivationRow {
  std::string_view name;  // lower case
  Kind kind;
  bool has_alpha = false;
  bool has_beta = false;
  double alpha = 0;
  double beta = 0;
};

constexpr ActivationRow kActivations[] = {
    {"sigmoid", Kind::kSigmoid},
    {"tanh", Kind::kTanh},
    {"relu", Kind::kRelu},
    {"affine", Kind::kAffine, true, true, 1, 0},
    {"leakyrelu", Kind::kLeakyRelu, true, false, 0.01},
    {"thresholdedrelu", Kind::kThresholdedRelu, true, false, 1},
    {"scaledtanh", Kind::kScaledTanh, true, true, 1, 1},
    {"hardsigmoid", Kind::kHardSigmoid, true, true, 0.2, 0.5},
    {"elu", Kind::kElu, true, false, 1},
    {"softsign", Kind::kSoftsign},
    {"softplus", Kind::kSoftplus},
};

template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(Concat(parts...));
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

template <typename T>
std::vector<T> List(const Attributes& attributes, std::string_view name) {
  const AttributeValue* value = attributes.find(name);
  const auto* list = value == nullptr ? nullptr : std::get_if<std::vector<T>>(value);
  return list == nullptr ? std::vector<T>() : *list;
}

// alphas and betas are consumed in order, each by the next activation that has one.
absl::StatusOr<std::vector<GateActivation>> ReadActivations(const std::vector<std::string>& names,
                                                            const Attributes& attributes) {
  const std::vector<float> alphas = List<float>(attributes, "activation_alphas");
  const std::vector<float> betas = List<float>(attributes, "activation_betas");
  size_t next_alpha = 0, next_beta = 0;
  std::vector<GateActivation> result;
  for (const std::string& name : names) {
    const std::string lower = Lower(name);
    const auto* row = std::find_if(std::begin(kActivations), std::end(kActivations),
                                   [&](const ActivationRow& r) { return r.name == lower; });
    if (row == std::end(kActivations)) return Error("activation '", name, "' is unknown");
    GateActivation activation{row->kind, row->alpha, row->beta};
    if (row->has_alpha && next_alpha < alphas.size()) activation.alpha = alphas[next_alpha++];
    if (row->has_beta && next_beta < betas.size()) activation.beta = betas[next_beta++];
    result.push_back(activation);
  }
  return result;
}

// Makes both dimensions one; false if they contradict each other.
bool Unify(Dim& known, const Dim& other) {
  if (known.known() && other.known()) return known.value == other.value;
  if (other.known() || (!known.known() && known.symbol.empty())) known = other;
  return true;
}

}  // namespace

double GateActivation::operator()(double x) const {
  switch (kind) {
    case Kind::kSigmoid:
      return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
    case Kind::kTanh:
      return std::tanh(x);
    case Kind::kRelu:
      return x < 0 ? 0 : x;
    case Kind::kAffine:
      return alpha * x + beta;
    case Kind::kLeakyRelu:
      return x < 0 ? alpha * x : x;
    case Kind::kThresholdedRelu:
      return x > alpha ? x : 0;
    case Kind::kScaledTanh:
      return alpha * std::tanh(beta * x);
    case Kind::kHardSigmoid:
      return std::min(1.0, std::max(0.0, alpha * x + beta));
    case Kind::kElu:
      return x < 0 ? alpha * std::expm1(x) : x;
    case Kind::kSoftsign:
      return x / (1 + std::abs(x));
    case Kind::kSoftplus:
      return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
  }
  return x;
}

absl::StatusOr<RecurrentOptions> ResolveRecurrent(OpKind op, const Attributes& attributes) {
  RecurrentOptions options;
  options.op = op;
  std::vector<std::string> one_direction = {"Tanh"};
  if (op == OpKind::kLstm) {
    options.gates = 4;
    one_direction = {"Sigmoid", "Tanh", "Tanh"};
  } else if (op == OpKind::kGru) {
    options.gates = 3;
    one_direction = {"Sigmoid", "Tanh"};
  }
  const std::string direction = attributes.String("direction", "forward");
  if (direction == "forward") {
    options.reverse = {false};
  } else if (direction == "reverse") {
    options.reverse = {true};
  } else if (direction == "bidirectional") {
    options.reverse = {false, true};
  } else {
    return Error("direction is '", direction, "', need forward, reverse or bidirectional");
  }
  const size_t functions = one_direction.size();
  std::vector<std::string> names = List<std::string>(attributes, "activations");
  if (names.empty()) {
    for (int i = 0; i < options.directions(); ++i) {
      names.insert(names.end(), one_direction.begin(), one_direction.end());
    }
  }
  if (names.size() != functions * options.reverse.size()) {
    return Error(names.size(), " activations, need ", functions * options.reverse.size());
  }
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<GateActivation> all, ReadActivations(names, attributes));
  for (int i = 0; i < options.directions(); ++i) {
    options.activations.emplace_back(all.begin() + i * functions, all.begin() + (i + 1) * functions);
  }
  options.clip = attributes.Float("clip", 0);
  if (!(options.clip >= 0)) return Error("clip is ", options.clip, ", need a number that is not negative");
  options.input_forget = attributes.Bool("input_forget", false);
  options.linear_before_reset = attributes.Bool("linear_before_reset", false);
  options.batch_first = attributes.Bool("batch_first", false);
  if (attributes.has("state_scale")) {
    const StateRounding state{static_cast<float>(attributes.Float("state_scale", 1)),
                              static_cast<int32_t>(attributes.Int("state_zero_point", 0))};
    if (!std::isnormal(state.scale) || state.scale < 0)
      return Error("state_scale is ", state.scale, ", need a number above 0");
    if (state.zero_point < 0 || state.zero_point > 255)
      return Error("state_zero_point is ", state.zero_point, ", need 0 to 255");
    options.state = state;
  }
  return options;
}

bool StateIsBounded(const RecurrentOptions& options) {
  const auto bounded = [](const GateActivation& activation) {
    return activation.kind == Kind::kSigmoid || activation.kind == Kind::kTanh ||
           activation.kind == Kind::kHardSigmoid || activation.kind == Kind::kSoftsign;
  };
  const auto gate = [](const GateActivation& activation) {  // from 0 to 1
    return activation.kind == Kind::kSigmoid || activation.kind == Kind::kHardSigmoid;
  };
  return std::ranges::all_of(options.activations, [&](const std::vector<GateActivation>& of_direction) {
    const bool gated = options.op == OpKind::kRnn || gate(of_direction.front());
    return gated && bounded(of_direction.back());
  });
}

absl::StatusOr<RecurrentSizes> SizesOfRecurrent(const RecurrentOptions& options, const Attributes& attributes,
                                                std::span<const Shape> inputs) {
  RecurrentSizes sizes;
  if (attributes.has("hidden_size")) {
    const int64_t hidden = attributes.Int("hidden_size", 0);
    if (hidden < 1) return Error("hidden_size is ", hidden, ", need at least 1");
    sizes.hidden = Dim::Of(hidden);
  }
  Dim directions = Dim::Of(options.directions());
  // A multiple of the hidden size: of rows in w, r, b and peepholes.
  const auto check_multiple = [&](const Dim& dim, int64_t factor) {
    if (!dim.known()) return true;
    return dim.value % factor == 0 && Unify(sizes.hidden, Dim::Of(dim.value / factor));
  };
  struct Expected {
    RecurrentInput input;
    std::string_view name;
    std::string_view form;
    int rank;
  };
  const std::string_view x_form = options.batch_first ? "[batch, steps, input]" : "[steps, batch, input]";
  const std::string_view state_form =
      options.batch_first ? "[batch, directions, hidden]" : "[directions, batch, hidden]";
  const std::string_view attention_form = options.batch_first ? "[batch, steps, 1]" : "[steps, batch, 1]";
  const bool is_gru = options.op == OpKind::kGru;
  const Expected expected[] = {
      {kRecurrentX, "x", x_form, 3},
      {kRecurrentW, "w", "[directions, gates * hidden, input]", 3},
      {kRecurrentR, "r", "[directions, gates * hidden, hidden]", 3},
      {kRecurrentB, "b", "[directions, 2 * gates * hidden]", 2},
      {kRecurrentLengths, "sequence_lengths", "[batch]", 1},
      {kRecurrentH, "initial_h", state_form, 3},
      {kRecurrentC, is_gru ? "attention" : "initial_c", is_gru ? attention_form : state_form, 3},
      {kRecurrentPeepholes, "peepholes", "[directions, 3 * hidden]", 2},
  };
  for (const Expected& e : expected) {
    if (static_cast<size_t>(e.input) >= inputs.size() || !inputs[e.input].has_rank()) continue;
    const Shape& shape = inputs[e.input];
    bool fits = shape.rank() == e.rank;
    if (fits) {
      const int batch_axis = options.batch_first ? 0 : 1;
      switch (e.input) {
        case kRecurrentX:
          fits = Unify(sizes.batch, shape.dim(batch_axis)) && Unify(sizes.steps, shape.dim(1 - batch_axis)) &&
                 Unify(sizes.input, shape.dim(2));
          break;
        case kRecurrentW:
          fits = Unify(directions, shape.dim(0)) && check_multiple(shape.dim(1), options.gates) &&
                 Unify(sizes.input, shape.dim(2));
          break;
        case kRecurrentR:
          fits = Unify(directions, shape.dim(0)) && check_multiple(shape.dim(1), options.gates) &&
                 Unify(sizes.hidden, shape.dim(2));
          break;
        case kRecurrentB:
          fits = Unify(directions, shape.dim(0)) && check_multiple(shape.dim(1), 2 * options.gates);
          break;
        case kRecurrentLengths:
          fits = Unify(sizes.batch, shape.dim(0));
          break;
        case kRecurrentC:
          if (is_gru) {
            fits = Unify(sizes.batch, shape.dim(batch_axis)) && Unify(sizes.steps, shape.dim(1 - batch_axis)) &&
                   (!shape.dim(2).known() || shape.dim(2).value == 1);
            break;
          }
          [[fallthrough]];
        case kRecurrentH:
          fits = Unify(sizes.batch, shape.dim(batch_axis)) && Unify(directions, shape.dim(1 - batch_axis)) &&
                 Unify(sizes.hidden, shape.dim(2));
          break;
        case kRecurrentPeepholes:
          fits = Unify(directions, shape.dim(0)) && check_multiple(shape.dim(1), 3);
          break;
      }
    }
    if (!fits) {
      const auto text = [](const Dim& dim) { return dim.known() ? Concat(dim.value) : std::string("unknown"); };
      return Error(e.name, " is ", shape.ToString(), ", need ", e.form, " with ", options.directions(), " directions, ",
                   options.gates, " gates, steps ", text(sizes.steps), ", batch ", text(sizes.batch), ", input ",
                   text(sizes.input), ", hidden ", text(sizes.hidden));
    }
  }
  if (sizes.hidden.known() && sizes.hidden.value < 1) return Error("the hidden size is 0");
  return sizes;
}

}  // namespace halftone

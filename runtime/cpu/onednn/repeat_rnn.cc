// SPDX-License-Identifier: Apache-2.0
// Recurrent layers from lines: "l1t100mb50sic256slc128dhc256dic256", one layer or more, one direction or two.
#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "runtime/cpu/onednn/repeat_internal.h"

namespace halftone::onednn {
namespace {

constexpr auto kForward = dnnl::prop_kind::forward_inference;

// What each of the four kinds reads and writes. oneDNN's line does not print the states of cells, which are f32 as
// ours.
struct Layer {
  Desc x, h, c, weights, recurrent, bias, y, y_h, y_c;
  Arguments arguments;
};

absl::StatusOr<Layer> LayerOf(const PrimitiveLine& line, int64_t directions, int64_t gates, int64_t bias_gates) {
  HALFTONE_ASSIGN_OR_RETURN(auto letters, ParseProblemLetters(line.problem));
  const int64_t layers = letters["l"], steps = letters["t"], batch = letters["mb"];
  const int64_t hidden = letters["dhc"], out = letters["dic"];
  const int64_t joined = line.setting("direction") == "bidirectional_concat" ? 2 * out : out;
  Layer layer;
  const auto add = [&](std::string_view role, const Dims& dims, int argument, Desc& desc) -> absl::Status {
    if (!line.tensor(role).present()) return absl::OkStatus();
    HALFTONE_ASSIGN_OR_RETURN(desc, DescOf(line.tensor(role), dims));
    layer.arguments.emplace_back(argument, desc);
    return absl::OkStatus();
  };
  const Dims state{layers, directions, batch, letters["sic"]}, cell{layers, directions, batch, hidden};
  HALFTONE_RETURN_IF_ERROR(add("src_layer", {steps, batch, letters["slc"]}, DNNL_ARG_SRC_LAYER, layer.x));
  HALFTONE_RETURN_IF_ERROR(add("src_iter", state, DNNL_ARG_SRC_ITER, layer.h));
  HALFTONE_RETURN_IF_ERROR(
      add("wei_layer", {layers, directions, letters["slc"], gates, hidden}, DNNL_ARG_WEIGHTS_LAYER, layer.weights));
  HALFTONE_RETURN_IF_ERROR(
      add("wei_iter", {layers, directions, letters["sic"], gates, hidden}, DNNL_ARG_WEIGHTS_ITER, layer.recurrent));
  HALFTONE_RETURN_IF_ERROR(add("bias", {layers, directions, bias_gates, hidden}, DNNL_ARG_BIAS, layer.bias));
  HALFTONE_RETURN_IF_ERROR(add("dst_layer", {steps, batch, joined}, DNNL_ARG_DST_LAYER, layer.y));
  HALFTONE_RETURN_IF_ERROR(add("dst_iter", {layers, directions, batch, out}, DNNL_ARG_DST_ITER, layer.y_h));
  if (!layer.h.is_zero()) layer.c = PlainDesc(cell, DataType::kFloat32);
  if (!layer.y_h.is_zero()) layer.y_c = PlainDesc(cell, DataType::kFloat32);
  return layer;
}

bool HasPackedWeights(const PrimitiveLine& line) {
  for (const std::string_view role : {"wei_layer", "wei_iter"}) {
    const std::string& tag = line.tensor(role).tag;
    if (std::any_of(tag.begin(), tag.end(), [](char c) { return c >= 'A' && c <= 'Z'; })) return true;
  }
  return false;
}

template <typename Primitive, typename... Rest>
absl::StatusOr<MadePrimitive> Make(const PrimitiveLine& line, Layer layer, const dnnl::primitive_attr& attributes,
                                   const Rest&... rest) {
  const typename Primitive::primitive_desc desc(CpuEngine(), kForward, rest..., attributes, /*allow_empty=*/true);
  if (!desc) return absl::UnimplementedError("oneDNN has no such primitive");
  for (auto& [argument, known] : layer.arguments) {  // layouts that were left to the implementation
    if (argument == DNNL_ARG_WEIGHTS_LAYER) known = desc.weights_layer_desc();
    if (argument == DNNL_ARG_WEIGHTS_ITER) known = desc.weights_iter_desc();
  }
  HALFTONE_ASSIGN_OR_RETURN(MadePrimitive made, Finish<Primitive>(desc, line, std::move(layer.arguments)));
  if (made.kernel != line.kernel && HasPackedWeights(line)) {  // oneDNN takes them, and fails when it is executed
    return absl::UnimplementedError(Concat("the weights of this rnn lie as ", line.kernel, " has them; this CPU has ",
                                           made.kernel, ", which cannot read them"));
  }
  return made;
}

}  // namespace

absl::StatusOr<MadePrimitive> MakeRecurrent(const PrimitiveLine& line) {
  constexpr std::pair<std::string_view, dnnl::rnn_direction> kDirections[] = {
      {"unidirectional_left2right", dnnl::rnn_direction::unidirectional_left2right},
      {"unidirectional_right2left", dnnl::rnn_direction::unidirectional_right2left},
      {"bidirectional_concat", dnnl::rnn_direction::bidirectional_concat},
      {"bidirectional_sum", dnnl::rnn_direction::bidirectional_sum},
  };
  const std::string algorithm = line.setting("alg"), wanted = line.setting("direction");
  auto direction = dnnl::rnn_direction::undef;
  for (const auto& [name, value] : kDirections) direction = name == wanted ? value : direction;
  if (direction == dnnl::rnn_direction::undef || !line.setting("flags").empty()) {
    return absl::UnimplementedError(
        Concat("rnn with direction '", wanted, "' and flags '", line.setting("flags"), "' is not covered"));
  }
  const int64_t directions = wanted.starts_with("bi") ? 2 : 1;
  const int64_t gates = algorithm == "vanilla_lstm" ? 4 : algorithm == "vanilla_rnn" ? 1 : 3;
  HALFTONE_ASSIGN_OR_RETURN(Layer layer, LayerOf(line, directions, gates, algorithm == "lbr_gru" ? 4 : gates));
  HALFTONE_ASSIGN_OR_RETURN(const LineAttributes with, AttributesOf(line, {}));
  const Layer l = layer;
  if (algorithm == "vanilla_lstm") {
    if (!l.c.is_zero()) layer.arguments.emplace_back(DNNL_ARG_SRC_ITER_C, l.c);
    if (!l.y_c.is_zero()) layer.arguments.emplace_back(DNNL_ARG_DST_ITER_C, l.y_c);
    return Make<dnnl::lstm_forward>(line, std::move(layer), with.attributes, direction, l.x, l.h, l.c, l.weights,
                                    l.recurrent, l.bias, l.y, l.y_h, l.y_c);
  }
  if (algorithm == "vanilla_gru") {
    return Make<dnnl::gru_forward>(line, std::move(layer), with.attributes, direction, l.x, l.h, l.weights, l.recurrent,
                                   l.bias, l.y, l.y_h);
  }
  if (algorithm == "lbr_gru") {
    return Make<dnnl::lbr_gru_forward>(line, std::move(layer), with.attributes, direction, l.x, l.h, l.weights,
                                       l.recurrent, l.bias, l.y, l.y_h);
  }
  const dnnl::algorithm activation = AlgorithmOf(line.setting("activation"));
  if (algorithm != "vanilla_rnn" || activation == dnnl::algorithm::undef) {
    return absl::UnimplementedError(
        Concat("rnn of '", algorithm, "' with '", line.setting("activation"), "' is not covered"));
  }
  return Make<dnnl::vanilla_rnn_forward>(line, std::move(layer), with.attributes, activation, direction, l.x, l.h,
                                         l.weights, l.recurrent, l.bias, l.y, l.y_h);
}

}  // namespace halftone::onednn

// SPDX-License-Identifier: Apache-2.0
// Rules of fused contractions: what the entries of fused_ops do with the inputs after the operands.

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/extra.h"
#include "formats/tensorflow/fused_words.h"
#include "formats/tensorflow/node_import.h"
#include "formats/tensorflow/row_parts.h"

namespace halftone::graphdef {
namespace {

using Kind = FusedStep::Kind;

// nullopt: an entry without a canonical step.
absl::StatusOr<std::optional<std::vector<FusedStep>>> ReadSteps(const RuleInput& input) {
  std::vector<FusedStep> steps;
  const tf::AttrValue* words = input.Find("fused_ops");
  if (words == nullptr) return steps;
  if (!words->has_list()) return absl::InvalidArgumentError("attribute 'fused_ops' must be of type list(string)");
  for (const std::string& word : words->list().s()) {
    const std::optional<FusedStep> step = StepOf(word);
    if (!step.has_value()) return std::nullopt;
    steps.push_back(*step);
  }
  return steps;
}

// (begin, end) a dimension as begins, then ends of the spatial ones; nullopt where batch or channel are padded.
std::optional<std::vector<int64_t>> SpatialPads(const std::vector<int64_t>& list, bool last, int spatial) {
  const int rank = spatial + 2;
  if (static_cast<int>(list.size()) != 2 * rank) return std::nullopt;
  std::vector<int64_t> begins, ends;
  for (int i = 0; i < rank; ++i) {
    const int64_t begin = list[2 * i], end = list[2 * i + 1];
    if (begin < 0 || end < 0 || begin > INT32_MAX || end > INT32_MAX) return std::nullopt;
    const bool is_spatial = i != 0 && i != (last ? rank - 1 : 1);
    if (!is_spatial && (begin != 0 || end != 0)) return std::nullopt;
    if (is_spatial) begins.push_back(begin);
    if (is_spatial) ends.push_back(end);
  }
  begins.insert(begins.end(), ends.begin(), ends.end());
  return begins;
}

void SetPads(std::vector<int64_t> pads, Attributes& attributes) {
  attributes.Erase("auto_pad");
  attributes.Set("pads", std::move(pads));
}

// A pad that the op does first: an attribute, or the last input.
bool ReadPads(const RuleInput& input, bool padded, ConvertedNode& result) {
  Attributes& attributes = result.node.attributes;
  const bool last = attributes.String("layout", "NHWC") == "NHWC";
  const bool valid = attributes.String("auto_pad", "") == "VALID";
  if (padded) {
    const int paddings = static_cast<int>(result.input_types.size()) - 1;
    const auto list = input.context.constant_ints(paddings);
    const auto pads = list.has_value() ? SpatialPads(*list, last, input.row.spatial) : std::nullopt;
    if (pads.has_value() && valid) {
      SetPads(*pads, attributes);
    } else {
      result.inputs[0] = result.AddHelper(OpKind::kPad, {0, paddings}, result.outputs[0].type);
    }
    return true;
  }
  const tf::AttrValue* list = input.Find("padding_list");
  if (list == nullptr || list->list().i().empty()) return true;
  const auto pads = SpatialPads({list->list().i().begin(), list->list().i().end()}, last, input.row.spatial);
  if (!pads.has_value() || !valid) return false;
  SetPads(*pads, attributes);
  return true;
}

bool MayBeVector(const Shape& shape) { return !shape.has_rank() || shape.rank() == 1; }

absl::Status SetActivation(const RuleInput& input, Activation activation, Attributes& attributes) {
  attributes.Set("activation", std::string(ActivationName(activation)));
  if (activation != Activation::kLeakyRelu) return absl::OkStatus();
  HALFTONE_ASSIGN_OR_RETURN(const float alpha, input.Float("leakyrelu_alpha", 0.2f));
  attributes.Set("activation_alpha", alpha);
  return absl::OkStatus();
}

// The inputs after the operands, from input `next` on, as canonical inputs and attributes.
absl::StatusOr<bool> TakeSteps(const RuleInput& input, const std::vector<FusedStep>& steps, int end,
                               ConvertedNode& result) {
  Attributes& attributes = result.node.attributes;
  const bool matmul = input.row.kind == OpKind::kMatMul;
  int next = 2, bias = kAbsentInput, residual = kAbsentInput;
  bool activated = false;
  for (const FusedStep& step : steps) {
    const bool takes = step.kind != Kind::kActivation;
    if (takes && next >= end) return absl::InvalidArgumentError("'fused_ops' has more words than there are inputs");
    switch (step.kind) {
      case Kind::kBatchNorm:
        return false;
      case Kind::kScale: {
        const Tensor* scale = input.context.constant(next);
        if (!matmul || next != 2 || activated || scale == nullptr || scale->num_elements() != 1) return false;
        HALFTONE_ASSIGN_OR_RETURN(const Tensor number, scale->ConvertTo(DataType::kFloat32));
        attributes.Set("scale", number.data<float>()[0]);
        break;
      }
      case Kind::kBias:
        if (bias != kAbsentInput || residual != kAbsentInput || activated) return false;
        if (!MayBeVector(input.context.input_shape(next))) return false;
        bias = next;
        break;
      case Kind::kResidual:
        if (residual != kAbsentInput) return false;
        residual = next;
        if (activated) attributes.Set("activation_first", true);
        break;
      case Kind::kActivation:
        if (activated) return false;
        activated = true;
        HALFTONE_RETURN_IF_ERROR(SetActivation(input, step.activation, attributes));
        break;
    }
    if (takes) ++next;
  }
  if (next != end) return absl::InvalidArgumentError("'fused_ops' has fewer words than there are inputs");
  result.inputs.resize(2);
  if (bias != kAbsentInput || residual != kAbsentInput) result.inputs.push_back(bias);
  if (residual != kAbsentInput) result.inputs.push_back(residual);
  return true;
}

// Files from before the op had its newer form are written in the older one again.
void KeepForm(const RuleInput& input, ConvertedNode& result) {
  if (!input.row.without.empty()) result.node.extra.Set(std::string(kExtraOlderForm), true);
}

}  // namespace

absl::StatusOr<bool> ReadFused(const RuleInput& input, ConvertedNode& result) {
  HALFTONE_ASSIGN_OR_RETURN(const auto steps, ReadSteps(input));
  const bool padded = input.row.inputs.ends_with("Tpaddings");
  const int end = static_cast<int>(result.input_types.size()) - (padded ? 1 : 0);
  if (!steps.has_value()) return false;
  for (int i = 2; i < end; ++i) {
    if (result.input_types[i] != result.input_types[0] && result.outputs[0].type == result.input_types[0]) return false;
  }
  result.inputs = {0, 1};
  if (input.row.kind == OpKind::kConv) {
    HALFTONE_ASSIGN_OR_RETURN(const bool arranged, ReadConvWeights(input, result));
    const tf::AttrValue* format = input.Find("filter_format");
    if (!arranged || (format != nullptr && format->s() != "HWIO")) return false;
    if (!ReadPads(input, padded, result)) return false;
  }
  const int x = result.inputs[0];
  HALFTONE_ASSIGN_OR_RETURN(const bool taken, TakeSteps(input, *steps, end, result));
  result.inputs[0] = x;
  KeepForm(input, result);
  return taken;
}

// A bf16 matmul with an f32 result: equivalent to casts of the operands and a matmul in f32.
// Operands of f32 may be rounded to bf16 first.
absl::StatusOr<bool> ReadFusedAcc(const RuleInput& input, ConvertedNode& result) {
  HALFTONE_ASSIGN_OR_RETURN(const bool fused, ReadFused(input, result));
  if (!fused || result.outputs[0].type != DataType::kFloat32) return false;
  HALFTONE_ASSIGN_OR_RETURN(const bool rounds, input.Bool("is_bf16_math_mode", false));
  if (rounds && result.input_types[0] == DataType::kFloat32)
    result.node.attributes.Set("math_mode", std::string("bf16"));
  for (int& from : result.inputs) {
    if (from >= 0 && result.input_types[from] != DataType::kFloat32) {
      from = result.AddHelper(OpKind::kCast, {from}, DataType::kFloat32);
    }
  }
  return true;
}

// conv + FusedBatchNorm + activation: a batch norm after a convolution that has no name of its own.
absl::StatusOr<bool> ReadConvBatchNorm(const RuleInput& input, ConvertedNode& result) {
  HALFTONE_ASSIGN_OR_RETURN(const auto steps, ReadSteps(input));
  constexpr int kInputs = 6;
  if (!steps.has_value() || steps->empty() || steps->front().kind != Kind::kBatchNorm || steps->size() > 2 ||
      result.input_types.size() != kInputs || result.outputs[0].type != DataType::kFloat32) {
    return false;
  }
  if (steps->size() == 2 && (*steps)[1].kind != Kind::kActivation) return false;
  HALFTONE_ASSIGN_OR_RETURN(const bool arranged, ReadConvWeights(input, result));
  if (!arranged) return false;
  Attributes conv = std::exchange(result.node.attributes, Attributes());
  result.node.attributes.Set("layout", conv.String("layout", "NHWC"));
  HALFTONE_ASSIGN_OR_RETURN(const float epsilon, input.Float("epsilon", 1e-4f));
  result.node.attributes.Set("epsilon", epsilon);
  if (steps->size() == 2)
    HALFTONE_RETURN_IF_ERROR(SetActivation(input, (*steps)[1].activation, result.node.attributes));
  result.inputs = {result.AddHelper(OpKind::kConv, {0, 1}, result.outputs[0].type, std::move(conv)), 2, 3, 4, 5};
  KeepForm(input, result);
  return true;
}

}  // namespace halftone::graphdef
